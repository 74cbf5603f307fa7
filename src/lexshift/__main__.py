"""Run the command line as ``python -m lexshift``."""

from __future__ import annotations

from lexshift.cli import main

if __name__ == "__main__":
    main()
