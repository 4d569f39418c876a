"""`python -m earmark`: the command line where `earmark` itself is not on the path."""

from __future__ import annotations

from earmark.cli.main import main

if __name__ == "__main__":
    main(prog_name="earmark")
