"""Tables in PostgreSQL, read where they lie."""
