"""What the tests of `earmark evaluate` with frame scores share: a folder with systems, and names for what is in it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

HEADER = "filename\tonset\toffset\tevent_label\n"
CLASSES = ("Dog", "Air horn, truck horn")
N_CLIPS, N_FRAMES, HOP_SECONDS = 8, 20, 0.5
Rows = list[tuple[int, float, float, str]]


def make_folder(tmp_path: Path) -> Path:
    """Eight clips of 10 s; one.tsv and two.tsv, scores one and two: two runs; base.tsv and base: somebody else's."""
    rng = np.random.default_rng(5)
    events: Rows = []
    for clip in range(N_CLIPS - 1):  # nothing in the last one
        for label in CLASSES:
            if rng.random() < 0.7:
                onset = int(rng.integers(0, 14)) * HOP_SECONDS
                events.append((clip, onset, onset + 1.5, label))
    write_events(tmp_path / "reference.tsv", events)
    for name, noise in (("one", 0.45), ("two", 0.6), ("base", 0.9)):
        found = [row for row in events if rng.random() > noise / 2]
        write_events(tmp_path / f"{name}.tsv", found)
        write_scores(tmp_path / name, events, noise, rng)
    rows = [f"{clip}.wav\tPatient {clip // 2}\n" for clip in range(N_CLIPS)]
    (tmp_path / "groups.tsv").write_text("filename\tpatient\n" + "".join(rows))
    rows = [f"{clip}.wav\t12.0\n" for clip in range(N_CLIPS)]
    (tmp_path / "durations.tsv").write_text("filename\tduration\n" + "".join(rows))
    (tmp_path / "tags.tsv").write_text("filename\tlabel\n0.wav\tDog\n1.wav\tDog\n2.wav\t\n")
    return tmp_path


def write_events(path: Path, events: Rows) -> None:
    """A table that names every clip."""
    rows = [f"{clip}.wav\t{onset}\t{offset}\t{label}\n" for clip, onset, offset, label in events]
    silent = sorted(set(range(N_CLIPS)) - {clip for clip, *_ in events})
    path.write_text(HEADER + "".join(rows) + "".join(f"{clip}.wav\t\t\t\n" for clip in silent))


def write_scores(folder: Path, events: Rows, noise: float, rng: np.random.Generator) -> None:
    """A table of frames for every clip."""
    folder.mkdir()
    for clip in range(N_CLIPS):
        values = noise * rng.random((N_FRAMES, len(CLASSES)))
        for of_clip, onset, offset, label in events:
            if of_clip == clip:
                frames = slice(int(onset / HOP_SECONDS), int(offset / HOP_SECONDS))
                values[frames, CLASSES.index(label)] += 0.4
        (folder / f"{clip}.tsv").write_text(score_text(values, CLASSES))


def score_text(values: np.ndarray, classes: tuple[str, ...]) -> str:
    """As score folders have it."""
    rows = ["\t".join(["onset", "offset", *classes])]
    rows += [
        "\t".join(f"{number:.6g}" for number in (frame * HOP_SECONDS, (frame + 1) * HOP_SECONDS, *scores))
        for frame, scores in enumerate(values.tolist())
    ]
    return "\n".join(rows) + "\n"


def arguments(folder: Path, *options: str, reference: str = "reference.tsv") -> list[object]:
    """The command line; what is there in the folder, and files to write, are named with it."""
    paths = [folder / option if is_path(folder, option) else option for option in options]
    return ["evaluate", "--reference", folder / reference, *paths]


def is_path(folder: Path, option: str) -> bool:
    """Names of files and folders, and no option or number."""
    return option.endswith((".tsv", ".json")) or option in ("plots", "nowhere") or (folder / option).is_dir()


def table(output: str, title: str) -> dict[str, list[str]]:
    """The rows of the first table behind a title: name -> figures, which have three decimals or are a dash."""
    rows: dict[str, list[str]] = {}
    for line in output[output.index(title) :].splitlines():
        row = re.fullmatch(r"(\S.*?)((?: +(?:-|[<+-]?\d\.\d{3}))+)", line)
        if row is not None:
            rows[row[1]] = row[2].split()
        elif rows and not line:
            break
    return rows
