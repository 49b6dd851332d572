"""Data to work on: a simulated building, Wi-Fi traces, benchmark histograms, opt-in policies.

Published data are found through the environment variable ONESIDED_DATA and never shipped.
"""
