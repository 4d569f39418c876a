"""How fast recordings are detected, with the default network: end to end, by the command, and the network alone.

    python benchmarks/detect.py                 # a clip of 10 s, and recordings of one hour
    python benchmarks/detect.py --hours 24      # what a day needs in time and memory

The network is untrained, which changes no time, and listens for ten classes. The recordings are made up: a minute of
coloured noise, again and again, as 16 kHz wav and as 44.1 kHz flac. Speeds are hours of sound per hour of computing.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime
import soundfile

from earmark.detection.model_file import open_model
from earmark.soundscapes.waves import power_law_noise

COLD_SECONDS_BUDGET, SPEED_BUDGET, DAY_MEGABYTES_BUDGET = 0.6, 300.0, 300.0

# In a process of its own: it needs torch, and the memory of this one should not be that of torch.
EXPORT = """
import sys
from pathlib import Path
import torch
from earmark.config import Config
from earmark.detection.settings import Decoding
from earmark.models.crnn import Network
from earmark.models.export import export_onnx
torch.manual_seed(0)
classes = [f"class {number}" for number in range(10)]
network = Network(Config(), classes)
export_onnx(Path(sys.argv[1]), network, decoding=Decoding.fixed(classes), clip_seconds=10.0, card={})
print(sum(parameter.numel() for parameter in network.parameters()))
"""


def main() -> None:
    """Make a model and recordings in a temporary folder, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1.0, help="length of the long recordings")
    parser.add_argument("--repeats", type=int, default=10, help="runs of the clip")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "model.onnx"
        exported = subprocess.run(
            [sys.executable, "-c", EXPORT, str(model)], check=True, capture_output=True, text=True, env=one_thread()
        )
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, ", end="")
        print(f"onnxruntime {onnxruntime.__version__}; network of {int(exported.stdout):,} weights\n")
        report_clip(folder, model, options.repeats)
        report_network(model)
        report_long(folder, model, options.hours)


def report_clip(folder: Path, model: Path, repeats: int) -> None:
    """A clip in a process that has just begun."""
    clip = made_up(folder / "clip.wav", seconds=10.0, sample_rate=16000)
    runs = [detected([clip], model, threads=1) for _ in range(repeats)]
    seconds = [run[0] for run in runs]
    print(
        f"a clip of 10 s, new process   fastest {min(seconds):.2f} s   median {statistics.median(seconds):.2f} s",
        end="",
    )
    print(f"   {runs[0][1]:.0f} MB   {verdict(min(seconds) <= COLD_SECONDS_BUDGET)}, budget {COLD_SECONDS_BUDGET} s\n")


def report_network(model: Path) -> None:
    """onnxruntime alone, on a piece as detection cuts it."""
    for threads in (1, 2):
        session, info = open_model(model, n_threads=threads)
        seconds = info.piece_seconds + 2 * info.context_seconds
        rng = np.random.default_rng(0)
        samples = 0.1 * rng.standard_normal((1, round(seconds * info.timeline.sample_rate)))
        piece = {"audio": samples.astype(np.float32)}
        session.run(None, piece)
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            session.run(None, piece)
            times.append(time.perf_counter() - begin)
        print(f"the network alone, {seconds:.0f} s at once, {threads} thread{'s'[: threads - 1]}", end="")
        print(f"   {seconds / min(times):4.0f}x   ({info.piece_seconds / min(times):.0f}x without the context)")
    print()


def report_long(folder: Path, model: Path, hours: float) -> None:
    """Long recordings, with one thread, with two, and two of them in two processes."""
    wav = made_up(folder / "long.wav", seconds=3600 * hours, sample_rate=16000)
    flac = made_up(folder / "long.flac", seconds=3600 * hours, sample_rate=44100)
    print(f"{f'recordings of {hours:g} h, the command':<44}{'seconds':>9}{'speed':>8}{'memory':>10}")
    for name, path in (("wav, 16 kHz", wav), ("flac, 44.1 kHz", flac)):
        for threads in (1, 2):
            seconds, megabytes = detected([path], model, threads=threads)
            speed = 3600 * hours / seconds
            good = speed >= SPEED_BUDGET and (hours < 24 or megabytes <= DAY_MEGABYTES_BUDGET)
            label = f"{name}, {threads} thread{'s'[: threads - 1]}"
            print(f"{label:<44}{seconds:>9.1f}{speed:>7.0f}x{megabytes:>7.0f} MB   {verdict(good)}")
    seconds, megabytes = detected([wav, wav], model, threads=1)
    label = "wav, 16 kHz, two processes of one thread"
    print(f"{label:<44}{seconds:>9.1f}{2 * 3600 * hours / seconds:>7.0f}x{megabytes:>7.0f} MB each")
    print(f"\nbudgets: {SPEED_BUDGET:.0f}x, and {DAY_MEGABYTES_BUDGET:.0f} MB for 24 h")


def detected(recordings: list[Path], model: Path, *, threads: int) -> tuple[float, float]:
    """Run `earmark detect`, one process per recording at the same time; seconds, and megabytes of the largest."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "earmark.cli.main", "detect", "--model", str(model), "--threads", str(threads)]
    processes = [
        subprocess.Popen([*command, str(recording)], stdout=subprocess.DEVNULL, env=one_thread())
        for recording in recordings
    ]
    peaks = []
    for process in processes:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"earmark detect failed with exit code {process.returncode}")
        peaks.append(usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3))
    return time.perf_counter() - begin, max(peaks)


def made_up(path: Path, *, seconds: float, sample_rate: int) -> Path:
    """A recording of pink noise: one minute, or what is asked for, again and again."""
    rng = np.random.default_rng(0)
    block = 0.05 * power_law_noise(rng, round(min(60.0, seconds) * sample_rate), sample_rate, slope=1.0)
    with soundfile.SoundFile(path, "w", sample_rate, 1, subtype="PCM_16") as file:
        for _ in range(round(seconds * sample_rate / len(block))):
            file.write(block)
    return path


def one_thread() -> dict[str, str]:
    """An environment in which the numeric libraries use one thread unless told otherwise."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def verdict(good: bool) -> str:
    """In words."""
    return "ok" if good else "OVER BUDGET"


if __name__ == "__main__":
    main()
