"""How fast `earmark doctor` examines a data set: recordings per second, and memory.

    python benchmarks/doctor.py                   # 10,000 recordings of 10 s, as 16 kHz wav: 3.2 GB while it runs
    python benchmarks/doctor.py --files 1000      # a tenth of it
    python benchmarks/doctor.py --format flac

The recordings are coloured noise with bursts in it, every one different. The command runs in a process of its own, so
the time is that from Enter to the page.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile

from earmark.soundscapes.waves import power_law_noise

FILES_PER_MINUTE_BUDGET = 10_000
SECONDS, SAMPLE_RATE = 10.0, 16000
CLASSES = ("bark", "chirp", "knock", "")


def main() -> None:
    """Make recordings in a temporary folder, examine them, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--format", default="wav", choices=("wav", "flac", "ogg", "mp3"))
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        labels = make(folder, options.files, options.format)
        command = [sys.executable, "-m", "earmark.cli.main", "doctor", str(labels), "--audio", str(folder / "audio")]
        began = time.perf_counter()
        result = subprocess.run(
            [*command, "--workers", str(options.workers)], capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - began
        if result.returncode != 0:
            raise SystemExit(result.stdout + result.stderr)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    megabytes, computing = used.ru_maxrss / 1024, used.ru_utime + used.ru_stime
    per_minute = 60 * options.files / seconds
    is_met = "met" if per_minute >= FILES_PER_MINUTE_BUDGET else "MISSED"
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {options.workers} workers"
    )
    print(
        f"{options.files:,} {options.format} of {SECONDS:g} s: {seconds:.1f} s, {options.files / seconds:.0f} a second,"
        f" {computing:.1f} s of computing, {megabytes:.0f} MB; {is_met}, budget {FILES_PER_MINUTE_BUDGET:,} in 60 s"
    )


def make(folder: Path, n_files: int, ending: str) -> Path:
    """Recordings that all differ, and the table of their tags; the sound of a few, shifted and scaled."""
    rng = np.random.default_rng(7)
    n_samples = round(SECONDS * SAMPLE_RATE)
    sounds = [0.05 * power_law_noise(rng, n_samples, SAMPLE_RATE, slope=slope) for slope in (-1.0, -0.5, 0.0)]
    (folder / "audio").mkdir()
    rows = ["filename\tevent_labels"]
    for number in range(n_files):
        samples = np.roll(sounds[number % len(sounds)], int(rng.integers(n_samples))) * rng.uniform(0.3, 1.0)
        soundfile.write(folder / "audio" / f"{number}.{ending}", samples.astype(np.float32), SAMPLE_RATE)
        rows.append(f"{number}.{ending}\t{CLASSES[number % len(CLASSES)]}")
    labels = folder / "weak.tsv"
    labels.write_text("\n".join(rows) + "\n")
    return labels


if __name__ == "__main__":
    main()
