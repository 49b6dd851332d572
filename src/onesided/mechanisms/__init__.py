"""Mechanisms. A module that defines some has their proof beside it, in the page of its name."""
