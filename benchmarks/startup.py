"""How long the command line takes before it does anything: new processes, one after the other.

    python benchmarks/startup.py            # fastest and median of ten runs each, beside the budget

A process that was never started before also waits for the disk; nothing of that is measured here.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

# What a process may take at most, in milliseconds, the start of Python included.
BUDGETS = {"python -c pass": None, "import earmark": 80.0, "earmark --help": 80.0, "earmark detect --help": None}

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import earmark": [sys.executable, "-c", "import earmark"],
    "earmark --help": [str(Path(sys.executable).with_name("earmark")), "--help"],
    "earmark detect --help": [str(Path(sys.executable).with_name("earmark")), "detect", "--help"],
}


def main() -> None:
    """Run every command several times and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=10)
    repeats = parser.parse_args().repeats
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print(f"{'':<24}{'fastest':>10}{'median':>10}{'budget':>10}   ms")
    for name, command in COMMANDS.items():
        times = sorted(milliseconds(command) for _ in range(repeats))
        budget = BUDGETS[name]
        verdict = "" if budget is None else f"{budget:>10.0f}   {'ok' if times[0] <= budget else 'OVER BUDGET'}"
        print(f"{name:<24}{times[0]:>10.1f}{statistics.median(times):>10.1f}{verdict}")


def milliseconds(command: list[str]) -> float:
    """The time one new process takes."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return 1000 * (time.perf_counter() - begin)


if __name__ == "__main__":
    main()
