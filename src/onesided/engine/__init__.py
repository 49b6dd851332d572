"""Engines: from a table to records or counts of units, the same bytes on every one of them.

    base        what an engine can do, and what it is asked           (with columns_read, names)
    sql         the statements, for every engine that speaks SQL      (with flavour, lookups)
    registry    every engine in one line                              (with entry)
    duckdb      files and frames here                                 (a folder for each engine)
    datafusion  Parquet files and frames here
    postgres    tables in PostgreSQL
    spark       files and tables on Spark

An engine's folder holds all that is particular to it: its flavour of SQL, the writer of its
predicates, its types and its sources. Folders do not know each other.
"""
