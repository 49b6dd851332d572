"""`python -m onesided`."""

from __future__ import annotations

from onesided.cli import main

main()
