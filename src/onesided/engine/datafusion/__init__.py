"""The second embedded engine: Parquet files and frames, through DataFusion."""
