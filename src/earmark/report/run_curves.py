"""What a training run wrote down, as curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earmark.report.training_plots import TrainingCurves
from earmark.training.log import read_log

_HELD_OUT = {"loss": "held_out_loss", "tag F1": "held_out_macro_f1"}


def run_curves(name: str, run: Path | str) -> TrainingCurves:
    """Return the curves of a run of `earmark train`, also of one that goes on or was stopped.

    Args:
        name: what the run is called in the picture, for instance the pooling function.
        run: its folder.

    Raises:
        ValueError: no step of a run is written down in `run`.

    Example:
        >>> import json, tempfile
        >>> rows = [{"kind": "step", "step": 1, "loss": 0.5},
        ...         {"kind": "epoch", "epoch": 1, "step": 1, "held_out_loss": 0.4, "held_out_macro_f1": 0.8,
        ...          "pooling": [1.1], "best_epoch": 1}]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "log.jsonl").write_text("\\n".join(map(json.dumps, rows)))
        ...     curves = run_curves("power", folder)
        >>> curves.losses, curves.held_out["tag F1"], curves.n_values, curves.kept_epoch
        (array([0.5]), array([0.8]), array([[1.1]]), 1)
    """
    rows = read_log(Path(run, "log.jsonl"))
    steps = [row for row in rows if row["kind"] == "step"]
    ended = [row for row in rows if row["kind"] == "epoch"]
    # Where clips are held out these are the epochs that were judged: all, or every few (validate_every_epochs).
    judged = [row for row in ended if "held_out_loss" in row]
    epochs = judged if judged else ended
    if not steps:
        raise ValueError(f"{Path(run).as_posix()}: no step is written down in log.jsonl - is it the folder of a run?")
    learns_n = bool(epochs) and epochs[0]["pooling"] is not None
    return TrainingCurves(
        name,
        steps=_column(steps, "step").astype(int),
        losses=_column(steps, "loss"),
        epochs=_column(epochs, "epoch").astype(int),
        held_out={title: _column(judged, key) for title, key in _HELD_OUT.items() if judged},
        n_values=np.array([row["pooling"] for row in epochs]) if learns_n else None,
        kept_epoch=int(epochs[-1]["best_epoch"]) if epochs else None,
    )


def _column(rows: Sequence[Mapping[str, Any]], key: str) -> NDArray[np.float64]:
    """One number per row; NaN where there was none, as the F1 of classes that no held-out clip has."""
    return np.array([np.nan if row[key] is None else row[key] for row in rows], dtype=float)
