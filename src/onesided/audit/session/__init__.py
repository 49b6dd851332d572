"""Whole releases, audited: two neighbouring tables, and everything that can be seen of them."""
