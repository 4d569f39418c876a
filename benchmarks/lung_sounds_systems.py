"""The systems of the lung-sound benchmark: what each changes in the configuration they share, and what it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from earmark.config import Config
from earmark.config_file import read_config

CONFIG = Path(__file__).with_name("lung_sounds.toml")


@dataclass(frozen=True)
class System:
    """One row of the table.

    Args:
        words: what it is, for the table.
        pooling: the pooling function.
        overrides: settings that differ from the shared configuration.
        strong: strong labels besides the tags, a file in the benchmark's folder; ``{seed}`` is the run's.
        teaches: where it leaves what it finds in the training recordings, for `strong` of another system.
    """

    words: str
    pooling: str
    overrides: tuple[str, ...] = ()
    strong: str | None = None
    teaches: str | None = None


@dataclass(frozen=True)
class Job:
    """One run of one system."""

    system: str
    seed: int

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.system}-{self.seed}"


OURS = ("pooling.initial=1.5", "training.pooling_learning_rate_factor=0.05")
LONG = ("training.epochs=24",)
RECURRENT = ("model.rnn_layers=1", "model.rnn_units=64")
# In order of importance: a benchmark that is cut off has the first ones.
SYSTEMS = {
    "linear": System("tags, linear softmax", "linear", teaches="taught-by-linear-{seed}.tsv"),
    "strong": System("events of all recordings", "linear", strong="strong-100.tsv"),
    "power-paper": System("tags, power as in the paper", "power", ("pooling.penalty=1e-4",)),
    "power-ours": System("tags, power, n from 1.5 and 20 times slower", "power", OURS),
    "self-trained": System("tags, taught by linear softmax", "linear", strong="taught-by-linear-{seed}.tsv"),
    "attention": System("tags, attention", "attention"),
    "auto": System("tags, auto", "auto"),
    "max": System("tags, max", "max"),
    "average": System("tags, average", "average"),
    "tags+5%": System("tags, and events of 5 %", "linear", strong="strong-5.tsv"),
    "tags+20%": System("tags, and events of 20 %", "linear", strong="strong-20.tsv"),
    "strong-long": System("events of all recordings, three times as long", "linear", LONG, "strong-100.tsv"),
    "recurrent-linear": System("tags, linear softmax, recurrent network", "linear", RECURRENT),
    "recurrent-strong": System(
        "events of all recordings, recurrent network, three times as long", "linear", LONG + RECURRENT, "strong-100.tsv"
    ),
}
# What was tried besides, and is judged on the held-out patients alone (`lung_sounds.py held-out`).
TRIED = {
    "mixup": System("tags, linear softmax, mixup", "linear", ("augment.mixup=0.5",)),
    "masks": System("tags, linear softmax, masked bands", "linear", ("augment.n_mel_masks=2", "augment.gain_db=3.0")),
    "unbalanced": System("tags, linear softmax, every recording once an epoch", "linear", ("training.balance=none",)),
    "twice-as-long": System("tags, linear softmax, 16 epochs", "linear", ("training.epochs=16",)),
    "half-as-long": System("tags, linear softmax, 4 epochs", "linear", ("training.epochs=4",)),
    "power-free": System("tags, power, n 10 times faster", "power", ("training.pooling_learning_rate_factor=10",)),
    "exponential": System("tags, exponential softmax", "exponential"),
}


def system_of(name: str) -> System:
    """Return a system by its name."""
    every = SYSTEMS | TRIED
    if name not in every:
        raise ValueError(f"--systems must name some of {', '.join(every)}, got {name!r}")
    return every[name]


def config_of(job: Job, *, epochs: int | None = None) -> Config:
    """Return the configuration of a run; `epochs` shortens or lengthens the schedule of all."""
    system = system_of(job.system)
    overrides = [f"training.seed={job.seed}", *system.overrides]
    if epochs is not None:
        overrides.append(f"training.epochs={epochs}")
    return read_config(CONFIG, pooling=system.pooling, overrides=overrides)  # of two for one key the last counts


def jobs(names: Sequence[str], seeds: Sequence[int]) -> list[Job]:
    """Return all runs, the first seed of every system before the second of any."""
    return [Job(name, seed) for seed in seeds for name in names]


def teacher_of(job: Job) -> Job | None:
    """Return the run that must have ended before this one can begin."""
    for name, system in SYSTEMS.items():
        if system.teaches is not None and system.teaches == system_of(job.system).strong:
            return Job(name, job.seed)
    return None
