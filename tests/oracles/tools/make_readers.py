"""Makes the frozen answers of the formats' own readers to tests/data/labels again. No test runs this.

From the folder `tests`, with the interpreter of an environment that holds tools/requirements_readers.txt:

    python -m oracles.tools.make_readers            # write tests/data/labels/readers.json anew
    python -m oracles.tools.make_readers --check    # compare with it
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import crowsetta  # type: ignore[import-not-found]
import jams  # type: ignore[import-not-found]
from label_studio_sdk.converter.converter import Converter  # type: ignore[import-not-found]
from pyannote.database.util import load_rttm  # type: ignore[import-not-found]

EXAMPLES = Path(__file__).parents[2] / "data" / "labels"
FROZEN = EXAMPLES / "readers.json"
# Onset, offset, label.
Marks = list[list[Any]]

_LABEL_STUDIO_CONFIG = (
    '<View><Labels name="label" toName="audio"><Label value="dog"/><Label value="cat"/><Label value="Käfer"/></Labels>'
    '<AudioPlus name="audio" value="$audio"/></View>'
)


def audacity(path: Path) -> dict[str, Marks]:
    """Crowsetta's reader of plain label tracks."""
    track = crowsetta.formats.seq.AudSeq.from_file(path)
    rows = zip(track.start_times, track.end_times, track.labels, strict=True)
    return {"": [[float(begin), float(end), str(label)] for begin, end, label in rows]}


def audacity_frequencies(path: Path) -> dict[str, Marks]:
    """Crowsetta's reader of label tracks with frequencies."""
    return {"": _boxes(crowsetta.formats.bbox.AudBBox.from_file(path))}


def raven(path: Path) -> dict[str, Marks]:
    """Crowsetta's reader of selection tables; it takes every view for an event."""
    columns = path.read_text(encoding="utf-8").split("\n", 1)[0].split("\t")
    column = "Species" if "Species" in columns else "Annotation"
    return {"": _boxes(crowsetta.formats.bbox.Raven.from_file(path, annot_col=column))}


def rttm(path: Path) -> dict[str, Marks]:
    """The reader of pyannote.database."""
    return {
        str(recording): [
            [segment.start, segment.end, label] for segment, _, label in turns.itertracks(yield_label=True)
        ]
        for recording, turns in load_rttm(path).items()
    }


def jams_annotations(path: Path) -> dict[str, Marks]:
    """The reader of JAMS: all annotations by namespace, with whatever value they have."""
    return {
        annotation.namespace: [
            [float(row.time), float(row.time) + float(row.duration), row.value] for row in annotation.data
        ]
        for annotation in jams.load(str(path), validate=True).annotations
    }


def label_studio(path: Path) -> list[dict[str, Any]]:
    """Label Studio's own converter: the export as JSON-MIN."""
    with tempfile.TemporaryDirectory() as folder:
        converter = Converter(_LABEL_STUDIO_CONFIG, folder, download_resources=False)
        converter.convert(str(path), folder, "JSON_MIN", is_dir=False)
        result, *_ = Path(folder).glob("*.json")
        rows: list[dict[str, Any]] = json.loads(result.read_text(encoding="utf-8"))
    return [{key: row[key] for key in ("audio", "id", "label")} for row in rows]


READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "audacity.wav.txt": ("crowsetta", audacity),
    "audacity_frequencies.txt": ("crowsetta", audacity_frequencies),
    "raven.Table.1.selections.txt": ("crowsetta", raven),
    "raven_two_views.txt": ("crowsetta", raven),
    "speakers.rttm": ("pyannote.database", rttm),
    "soundscape.jams": ("jams", jams_annotations),
    "segments.jams": ("jams", jams_annotations),
    # What earmark itself writes.
    "written/a.wav.rttm": ("pyannote.database", rttm),
    "written/a.wav.jams": ("jams", jams_annotations),
    "written/a.wav.selections.txt": ("crowsetta", raven),
    "label_studio.json": ("label-studio-sdk", label_studio),
}


def _boxes(annotation: Any) -> Marks:
    """Times and labels of boxes."""
    return [[float(box.onset), float(box.offset), str(box.label)] for box in annotation.to_bbox()]


def answers() -> str:
    """What every tool says of its files, one file per line."""
    lines = []
    for name, (tool, read) in READERS.items():
        path = EXAMPLES / name
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        answer = {"tool": f"{tool} {importlib.metadata.version(tool)}", "sha256": digest, "read": read(path)}
        lines.append(f"{json.dumps(name)}: {json.dumps(answer, ensure_ascii=False, allow_nan=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> None:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description="Make the answers of the formats' own readers again.")
    parser.add_argument("--check", action="store_true", help="write nothing, say whether they are as frozen")
    text = answers()
    if not parser.parse_args().check:
        FROZEN.write_text(text, encoding="utf-8")
    elif FROZEN.read_text(encoding="utf-8") != text:
        sys.exit("the readers' answers are not as frozen")
    else:
        print("every answer of the formats' own readers is as frozen")


if __name__ == "__main__":
    main()
