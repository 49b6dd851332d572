"""Estimating counts from released numbers: pure functions, free post-processing (denoising.md)."""
