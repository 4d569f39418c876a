"""Makes every frozen figure again, by the established tools alone. No test runs this.

From the folder `tests`, with the interpreter of an environment that holds tools/requirements.txt:

    python -m oracles.tools.make --official ../../shared/data            # write tests/data/oracles anew
    python -m oracles.tools.make --official ../../shared/data --check    # make it elsewhere and compare
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from pathlib import Path

from oracles.tools.make_lists import make_lists
from oracles.tools.make_scores import make_scores
from oracles.tools.writing import differing, write_sums

FROZEN = Path(__file__).parents[2] / "data" / "oracles"


def main() -> None:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description="Make the established tools' figures again.")
    parser.add_argument("--official", type=Path, required=True, help="folder with dcase2017 and dcase2019")
    parser.add_argument("--check", action="store_true", help="write nothing here, say what would differ")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # the tools take means of nothing and call what pandas no longer likes
    with tempfile.TemporaryDirectory() as elsewhere:
        folder = Path(elsewhere) if arguments.check else FROZEN
        folder.mkdir(exist_ok=True)
        make_lists(folder, arguments.official)
        make_scores(folder)
        if not arguments.check:
            write_sums(folder)
        elif names := differing(FROZEN, folder):
            sys.exit(f"not as frozen: {', '.join(names)}")
        else:
            print("every figure is as frozen")


if __name__ == "__main__":
    main()
