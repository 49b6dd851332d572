"""Spark, for data that one machine is too small for."""
