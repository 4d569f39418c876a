"""What is compared: which pooling functions with which options, and with which seeds."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from earmark import checks, pooling
from earmark.config import Config, PoolingConfig
from earmark.config_file import read_config

BASELINE = "linear"
RAP_PENALTIES = ("1e-2", "1e-3", "1e-4")  # without one of them, rap is nothing but auto
# The rows of the paper's tables.
ALL = ("max", "average", "exponential", "attention", "auto", "cap", "rap", "linear", "power")


@dataclass(frozen=True)
class Row:
    """One pooling function with its options: a row of the table.

    Args:
        name: as tables and pictures show it.
        pooling: what its runs are trained with.

    Example:
        >>> Row("rap 1e-3", PoolingConfig("rap", penalty=1e-3)).folder(seed=2)
        'rap-1e-3-seed-2'
    """

    name: str
    pooling: PoolingConfig

    def folder(self, *, seed: int) -> str:
        """The name of the folder of one of its runs."""
        return f"{re.sub('[^A-Za-z0-9.+-]+', '-', self.name)}-seed-{seed}"

    def config(self, config: Config, *, seed: int) -> Config:
        """The settings of one of its runs: all but the function and the seed are those of every other run.

        Example:
            >>> Row("max", PoolingConfig("max")).config(Config(), seed=2).training.seed
            2
        """
        return replace(config, pooling=self.pooling, training=replace(config.training, seed=seed))


def rows_of(text: str, config: Config) -> tuple[Row, ...]:
    """Return the rows that ``--pooling`` names; linear softmax, which all are compared with, is added if it is missing.

    Args:
        text: ``"all"``, or functions separated by commas; behind a name may stand its options, each after a colon. A
            function that `config` names has the options it has there.
        config: of the run.

    Raises:
        ValueError: an unknown function or option, one twice, or nothing to compare.

    Example:
        >>> [row.name for row in rows_of("power,power:penalty=1e-4", Config())]
        ['power', 'power penalty=1e-4', 'linear']
        >>> rows_of("power,liner", Config())
        Traceback (most recent call last):
        ...
        ValueError: --pooling must be one of ..., got 'liner' - did you mean 'linear'?
    """
    entries = ALL if text.strip() == "all" else _entries(text)
    rows: list[Row] = []
    for entry in entries:
        rows += _rows_of_entry(entry, config)
    if BASELINE not in [row.name for row in rows]:
        rows.append(Row(BASELINE, PoolingConfig(BASELINE)))
    names = [row.name for row in rows]
    folders = [row.folder(seed=0).casefold() for row in rows]
    twice = sorted({name for name, folder in zip(names, folders, strict=True) if folders.count(folder) > 1})
    if twice:
        raise ValueError(f"--pooling must name different functions, got {twice[0]!r} twice")
    if len(rows) < 2:
        raise ValueError(
            f"--pooling must name at least two functions, got only {names[0]} - nothing could be compared; try"
            " --pooling linear,power"
        )
    return tuple(rows)


def with_clip_frames(rows: Sequence[Row], n_frames: int) -> tuple[Row, ...]:
    """Return the rows with `n_frames`, the frames of a typical clip, where a function needs to know and nobody said.

    Example:
        >>> with_clip_frames([Row("cap", PoolingConfig("cap"))], 250)[0].pooling.n_frames
        250
    """
    return tuple(
        replace(row, pooling=replace(row.pooling, n_frames=max(3, n_frames))) if _lacks_frames(row.pooling) else row
        for row in rows
    )


def seeds_of(n_seeds: int, config: Config) -> tuple[int, ...]:
    """Return the seeds: as many as asked for, from that of the settings on.

    Example:
        >>> seeds_of(3, Config())
        (0, 1, 2)
    """
    checks.number("--seeds", n_seeds, at_least=1, whole=True, hint="3 is usual, 5 say more")
    return tuple(range(config.training.seed, config.training.seed + n_seeds))


def _entries(text: str) -> list[str]:
    """The names between commas, but for commas inside brackets: ``hierarchical:inner=power:groups=[5, 5, 4]``."""
    entries = [entry.strip() for entry in re.split(r",(?![^\[]*\])", text)]
    if "" in entries:
        raise ValueError(
            f"--pooling must be names separated by commas, or all, got {text!r} - is there a comma too many?"
        )
    return entries


def _rows_of_entry(entry: str, config: Config) -> list[Row]:
    """The rows of one entry: one, but for rap, which has three penalties to choose from."""
    name, *options = (part.strip() for part in entry.split(":"))
    checks.choice("--pooling", name, [*pooling.names(), "all"])
    if name == "all":
        raise ValueError(f"--pooling is all, or names, got both in {entry!r} - leave the others out")
    if name == "rap" and not options and config.pooling.name != "rap":
        return [_row("rap", [f"penalty={penalty}"], f"rap {penalty}", config) for penalty in RAP_PENALTIES]
    label = " ".join([name, *(option.removeprefix("penalty=") if name == "rap" else option for option in options)])
    return [_row(name, options, label, config)]


def _row(name: str, options: Sequence[str], label: str, config: Config) -> Row:
    """One row, with options that are known to fit."""
    start = config.pooling if config.pooling.name == name else PoolingConfig(name)
    given = read_config(None, pooling=name, overrides=[f"pooling.{option}" for option in options]).pooling
    default = PoolingConfig(name)
    changed = {key: value for key, value in vars(given).items() if value != vars(default)[key]}
    chosen = replace(start, **changed)
    try:
        pooling.create(
            **(vars(chosen) | ({"n_frames": 3} if _lacks_frames(chosen) else {})),
            n_classes=1,
            n_features=1 if "n_features" in _takes(chosen) else None,
        )
    except ValueError as error:
        raise ValueError(f"--pooling {':'.join([name, *options])}: {error} - write {name}:option=value") from error
    return Row(label, chosen)


def _takes(chosen: PoolingConfig) -> tuple[str, ...]:
    """The options of the function that does the work."""
    name = chosen.inner if chosen.inner is not None else chosen.name
    return pooling.takes(name) if name in pooling.names() and name != "hierarchical" else ()


def _lacks_frames(chosen: PoolingConfig) -> bool:
    """Whether the function needs the frames of a clip, and has not been told."""
    return chosen.n_frames is None and "n_frames" in _takes(chosen)


def n_rounds(n_runs: int, n_jobs: int) -> int:
    """Return how many runs follow each other for `n_runs` of which `n_jobs` go on side by side.

    Example:
        >>> n_rounds(33, 6)
        6
    """
    return math.ceil(n_runs / max(1, n_jobs))
