"""Mechanisms: one in each file, with its proof in the Markdown page of the same stem."""
