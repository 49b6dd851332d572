"""What a trial does: one file a kind of measurement."""
