"""Mechanisms: one a file, each with its proof in the Markdown page of the same stem."""
