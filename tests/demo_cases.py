"""The real demo with few clips, short ones, and a small network: half a minute of one processor becomes ten seconds."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from earmark.demo.page import write_report
from earmark.demo.steps import DemoPlan, DemoResult, run_demo
from earmark.soundscapes.synthetic import SoundscapeSettings

CLASSES = ("chirp", "engine", "glass")

# Three easy classes, loud, once per clip.
EASY = SoundscapeSettings(
    clip_seconds=3.0,
    classes=CLASSES,
    classes_per_clip=(1, 2),
    events_per_class=(1, 1),
    empty_share=0.1,
    snr_db=(25.0, 35.0),
)

# Learns these classes in about three seconds.
SMALL_CONFIG = """
[features]
n_mels = 24
hop_samples = 400
[model]
channels = [8, 16]
pool_time = [2, 1]
pool_mel = [4, 6]
rnn_units = 16
[training]
epochs = 20
batch_seconds = 24.0
learning_rate = 1e-2
pooling_learning_rate_factor = 3.0
[decoding]
low_threshold = 0.1
"""


def small_plan(folder: Path, *, required_f1: float) -> DemoPlan:
    """A plan for the demo whose configuration is written into `folder`."""
    config = folder / "small.toml"
    config.write_text(SMALL_CONFIG, encoding="utf-8")
    return DemoPlan(n_training_clips=64, n_test_clips=16, soundscapes=EASY, config=config, required_f1=required_f1)


@functools.cache
def small_demo() -> tuple[Path, DemoResult, list[str]]:
    """Run the demo once for all tests: its folder with the report, what it came to, and what it said."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    said: list[str] = []
    result = run_demo(
        folder / "demo", plan=small_plan(folder, required_f1=0.3), say=said.append, on_progress=lambda shares: None
    )
    write_report(folder / "demo", result)
    return folder / "demo", result, said
