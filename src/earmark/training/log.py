"""A run's diary: one JSON object per line, appended as training goes, and the tables that are made from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from earmark.files import naming, write_atomic


class RunLog:
    """Appends rows to ``log.jsonl``; a resumed run first drops what its checkpoint does not know.

    Every row has a ``step``. Rows of kind ``step`` carry the loss and its terms, rows of kind ``epoch`` the held-out
    figures and the pooling parameter of every class.

    Args:
        path: the file.
        resume_step: rows after this step are dropped; 0 begins anew.
        resume_epoch: rows about later epochs as a whole are dropped too.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "log.jsonl")
        ...     log = RunLog(file, resume_step=0, resume_epoch=0)
        ...     for step in (1, 2, 3):
        ...         log.append({"kind": "step", "step": step, "epoch": 1})
        ...     resumed = RunLog(file, resume_step=2, resume_epoch=0)     # the checkpoint is of step 2
        >>> [row["step"] for row in resumed.rows]
        [1, 2]
    """

    def __init__(self, path: Path, *, resume_step: int, resume_epoch: int) -> None:
        self.path = path
        known = read_log(path) if resume_step > 0 else []
        self.rows = [
            row
            for row in known
            if row["step"] <= resume_step and (row["kind"] == "step" or row["epoch"] <= resume_epoch)
        ]
        write_atomic(path, "".join(json.dumps(row) + "\n" for row in self.rows))

    def append(self, row: dict[str, Any]) -> None:
        """Write one row; it is on its way to disk when this returns.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     log = RunLog(Path(folder, "log.jsonl"), resume_step=0, resume_epoch=0)
            ...     log.append({"kind": "step", "step": 1, "epoch": 1, "loss": 0.5})
            ...     log.path.read_text()
            '{"kind": "step", "step": 1, "epoch": 1, "loss": 0.5}\\n'
        """
        self.rows.append(row)
        with naming(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a log; a last line cut short by a kill is left out.

    Example:
        >>> read_log(Path("there-is-none.jsonl"))
        []
    """
    if not path.exists():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return rows


def pooling_table(rows: Sequence[dict[str, Any]], classes: Sequence[str], parameter_name: str) -> str:
    """Return the pooling parameter of every class over time as TSV: one row per epoch and class.

    Example:
        >>> rows = [{"kind": "epoch", "epoch": 1, "step": 10, "pooling": [0.9]}]
        >>> print(pooling_table(rows, ["dog"], "n"), end="")
        epoch	step	class	n
        1	10	dog	0.9
    """
    lines = [f"epoch\tstep\tclass\t{parameter_name}"]
    for row in rows:
        if row["kind"] == "epoch" and row["pooling"] is not None:
            lines += [
                f"{row['epoch']}\t{row['step']}\t{c}\t{v:.6g}" for c, v in zip(classes, row["pooling"], strict=True)
            ]
    return "\n".join(lines) + "\n"
