"""Two hundred kills at random moments of a small training run, and whether anything is lost.

    python benchmarks/kill.py [--kills 200] [--seed 0]

A training run is killed with SIGKILL after a random time, resumed, killed again, until it happens to finish; then its
folder must equal that of a run nobody disturbed, byte for byte: weights, teacher, optimiser, log, pooling.tsv, metrics.
Then the next run begins. Whenever a run is killed, the checkpoint that stands must be a whole one. Torch is imported
once and every life is a fork, so a kill costs milliseconds. Needs a system that can fork.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch._dynamo  # gradient checkpointing imports it on first use, which would cost every life a second

from earmark.config import AugmentConfig, Config, FeatureConfig, ModelConfig, TrainingConfig
from earmark.soundscapes.synthetic import SoundscapeSettings, write_soundscapes
from earmark.training.checkpoint import load_checkpoint
from earmark.training.run import train

# Everything that draws random numbers is on, some clips are long enough to pass in pieces, and every step is saved.
CONFIG = Config(
    features=FeatureConfig(n_mels=16, window_samples=512, hop_samples=400),
    model=ModelConfig(channels=(4, 8), pool_time=(2, 1), pool_mel=(4, 2), rnn_units=8, conv_dropout=0.2),
    training=TrainingConfig(
        epochs=3,
        batch_seconds=6.0,
        piece_seconds=1.5,
        context_seconds=0.3,
        holdout_fraction=0.25,
        checkpoint_seconds=0.0,
        snapshot_epochs=(2,),
        pooling_learning_rate_factor=5.0,
    ),
    augment=AugmentConfig(time_shift_seconds=0.1, mixup=0.3, n_mel_masks=1, n_time_masks=1),
)


@dataclass
class Tally:
    """What happened so far."""

    kills: int = 0
    completed_runs: int = 0
    different_runs: int = 0
    most_leftovers: int = 0  # files of interrupted writes that lay about at once


def main() -> int:
    """Print what happened; 0 when nothing was lost."""
    parser = argparse.ArgumentParser(description="Kill a training run again and again.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_data(folder / "data")
        seconds = _undisturbed_seconds(folder)
        reference = _files(folder / "undisturbed")
        began = time.perf_counter()
        tally = Tally()
        while tally.kills < arguments.kills:
            _live(folder, reference, tally, kill_after=float(rng.uniform(0.0, 0.5 * seconds)))
        while tally.completed_runs == 0 or (folder / "killed").exists():
            _live(folder, reference, tally, kill_after=None)
    is_identical = tally.different_runs == 0
    print(f"undisturbed run   {seconds:.2f} s, {len(reference)} files")
    print(f"kills             {tally.kills} in {time.perf_counter() - began:.0f} s")
    print(f"completed runs    {tally.completed_runs}")
    print(f"leftover files    {tally.most_leftovers} at most between two lives, none at the end")
    print(f"identical         {'yes' if is_identical else f'no, {tally.different_runs} runs differ'}")
    return 0 if is_identical else 1


def _write_data(folder: Path) -> None:
    """Clips of 2 s, longer than a piece, and of 1 s, with three classes; some with strong labels, some without any."""
    classes = ("knock", "hiss", "hum")
    for n_clips, clip_seconds, seed in ((7, 2.0, 1), (9, 1.0, 2), (4, 1.0, 3)):
        settings = SoundscapeSettings(clip_seconds=clip_seconds, classes=classes, classes_per_clip=(1, 2))
        write_soundscapes(folder / str(seed), n_clips=n_clips, seed=seed, settings=settings)
    rows = ["filename\tevent_labels"]
    for name in ("1", "2"):
        table = (folder / name / "weak.tsv").read_text(encoding="utf-8").splitlines()[1:]
        rows += [f"{name}/audio/{row}" for row in table]
    (folder / "weak.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    strong = (folder / "2" / "strong.tsv").read_text(encoding="utf-8").splitlines()
    strong = [strong[0], *(f"2/audio/{row}" for row in strong[1:8])]
    (folder / "strong.tsv").write_text("\n".join(strong) + "\n", encoding="utf-8")
    reviewed = sorted({row.split("\t")[0] for row in strong[1:-1]})
    (folder / "reviewed.tsv").write_text("\n".join(["filename", *reviewed]) + "\n", encoding="utf-8")


def _train(folder: Path, out: Path) -> None:
    """The run, from wherever it stands."""
    data = folder / "data"
    train(
        data / "weak.tsv",
        audio=data,
        out=out,
        config=CONFIG,
        strong=data / "strong.tsv",
        reviewed=data / "reviewed.tsv",
        unlabelled=data / "3",
        device="cpu",
        resume=True,
    )


def _undisturbed_seconds(folder: Path) -> float:
    """Train without a kill, for comparison, and return how long it took."""
    began = time.perf_counter()
    status = _fork(lambda: _train(folder, folder / "undisturbed"), kill_after=None)
    if status != 0:
        sys.exit("the undisturbed run failed")
    return time.perf_counter() - began


def _live(folder: Path, reference: dict[str, bytes], tally: Tally, *, kill_after: float | None) -> None:
    """Resume the run, kill it after some seconds, and look at what is left."""
    out = folder / "killed"
    status = _fork(lambda: _train(folder, out), kill_after=kill_after)
    if os.WIFSIGNALED(status):
        tally.kills += 1
        tally.most_leftovers = max(tally.most_leftovers, len(list(out.rglob(".*.tmp"))))
        for checkpoint in out.rglob("*.safetensors"):
            load_checkpoint(checkpoint)
    elif status != 0:
        sys.exit(f"the run could not be resumed after {tally.kills} kills")
    else:
        tally.completed_runs += 1
        found = _files(out)
        if found != reference:
            tally.different_runs += 1
            different = [name for name in sorted({*found, *reference}) if found.get(name) != reference.get(name)]
            print(f"completed run {tally.completed_runs}: not as undisturbed: {', '.join(different)}")
        shutil.rmtree(out)


def _fork(work: Callable[[], None], *, kill_after: float | None) -> int:
    """Do `work` in a fork of this process, kill it after some seconds unless it is done, and return its status."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)  # a child that is done waits for us and takes no harm
    return os.waitpid(child, 0)[1]


def _files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


if __name__ == "__main__":
    sys.exit(main())
