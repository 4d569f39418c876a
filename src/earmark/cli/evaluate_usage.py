"""Which options of `earmark evaluate` go together: said before any file is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path


def check_systems(
    predicted: Sequence[Path],
    scores: Sequence[Path],
    baseline: Sequence[Path],
    baseline_scores: Sequence[Path],
    predicted_tags: Path | None,
) -> None:
    """Raise ValueError for systems that cannot be compared with each other, or a run that is given twice."""
    if not predicted and not scores:
        raise ValueError("one of --predicted (events) and --scores (frame scores) must be given - what was found?")
    if baseline and not predicted:
        raise ValueError("--baseline needs --predicted: events are compared with events")
    if baseline_scores and not scores:
        raise ValueError("--baseline-scores needs --scores: frame scores are compared with frame scores")
    if predicted_tags is not None and len(predicted) != 1:
        raise ValueError(f"--predicted-tags goes with one --predicted, got {len(predicted)} - tags of which run?")
    if predicted_tags is not None and baseline:
        raise ValueError("--predicted-tags cannot be compared with --baseline, which has none - leave one of them out")
    given = {
        "--predicted": predicted,
        "--scores": scores,
        "--baseline": baseline,
        "--baseline-scores": baseline_scores,
    }
    for option, paths in given.items():
        twice = [path for place, path in enumerate(paths) if path in paths[:place]]
        if twice:
            raise ValueError(f"{option} must name every run once, got {twice[0]} twice - which other one is meant?")


def check_settings(
    *, has_lists: bool, has_scores: bool, median_seconds: float | None, zero_length: str | None, compatible: str | None
) -> None:
    """Raise ValueError for settings of what is not there: they would change nothing, and nobody would notice."""
    if median_seconds is not None and not has_scores:
        raise ValueError("--median needs --scores: frame scores are filtered, events are not")
    if median_seconds is not None and not (math.isfinite(median_seconds) and median_seconds >= 0):
        raise ValueError(f"--median must be at least 0, in seconds, for instance 0.5, got {median_seconds}")
    if compatible is not None and not has_lists:
        raise ValueError("--compatible needs --predicted: that tool has figures of lists, and no curves")
    if zero_length is not None and not has_lists:
        raise ValueError("--zero-length needs --predicted: curves and PSDS always leave such events out")


def check_outputs(json_path: str | None, plot: Path | None, inputs: Sequence[Path | None]) -> None:
    """Raise ValueError, or ModuleNotFoundError, for what could not be written in the end, or would replace an input."""
    if json_path is not None and Path(json_path).is_dir():
        raise ValueError(f"--json must be a file to write, got the folder {json_path}")
    for path in inputs:
        if json_path is not None and path is not None and Path(json_path).resolve() == path.resolve():
            raise ValueError(f"--json would replace {path}, which is to be read - name another file")
    if plot is not None:
        if plot.exists() and not plot.is_dir():
            raise ValueError(f"--plot must be a folder, got the file {plot}")
        import matplotlib  # noqa: F401 - if it is missing, that is said before the work, not after it
