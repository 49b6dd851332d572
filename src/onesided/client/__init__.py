"""Asking a data set that is somebody else's, and tools that speak SQL.

dialect.py   SQLAlchemy: `onesided+https://…`, and `onesided://` for a data set in the process
"""
