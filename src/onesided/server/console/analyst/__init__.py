"""What everybody sees who may ask."""
