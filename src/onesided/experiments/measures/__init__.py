"""What a trial does: a file per kind of measurement."""
