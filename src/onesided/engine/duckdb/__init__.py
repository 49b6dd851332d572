"""The embedded engine: Parquet, CSV and frames in memory, through DuckDB."""
