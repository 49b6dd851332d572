"""Weights of a sample, from what was released of all units: post-processing, which is free.

counted     a released count as a margin: its groups, figures and noise
placing     in which groups of a margin each unit of the sample is
cutting     which groups count for a unit where there is a bound on them
covered     whom the sample can stand for, proven from the policy's text where possible
weighing    the weights, and what is said of them
weighted    a sample with its weights, as a release
"""
