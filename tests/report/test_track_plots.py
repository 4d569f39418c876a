"""What the pictures of label tracks and of runs contain."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from clip_cases import FEATURE_GRID, marked
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.transforms import Bbox

from earmark.events import Event
from earmark.report.run_curves import run_curves
from earmark.report.track_plots import tracks_figure

SOUND = np.arange(800.0).reshape(100, 8)  # 2 s
BY_HAND = [Event(0.4, 0.9, "knock"), Event(1.2, 1.5, "knock"), Event(0.1, 1.8, "hum")]


def bars(axes: Axes, label: str) -> list[Bbox]:
    """Where the bars of a class are, in seconds and lanes."""
    (collection,) = marked(axes, f"lane {label}")
    assert isinstance(collection, PolyCollection)
    return [path.get_extents() for path in collection.get_paths()]


# laws


def test_every_event_is_a_bar_in_the_lane_of_its_class() -> None:
    figure = tracks_figure(log_mel=SOUND, timeline=FEATURE_GRID, tracks={"found": BY_HAND[:1], "by hand": BY_HAND})
    _, found, by_hand = figure.axes
    assert [text.get_text() for text in by_hand.get_yticklabels()] == ["hum", "knock"]
    spans = {label: bars(by_hand, label) for label in ("hum", "knock")}
    assert [(box.x0, box.x1) for box in spans["knock"]] == [pytest.approx((0.4, 0.9)), pytest.approx((1.2, 1.5))]
    assert [(box.x0, box.x1) for box in spans["hum"]] == [pytest.approx((0.1, 1.8))]
    assert by_hand.yaxis_inverted()  # so that the first lane is the highest
    assert spans["hum"][0].y1 < spans["knock"][0].y0
    # A class has its lane in a track that lacks it too, so that tracks can be compared.
    assert [text.get_text() for text in found.get_yticklabels()] == ["hum", "knock"]
    assert bars(found, "hum") == []
    assert found.get_xlim() == by_hand.get_xlim() == (0.0, 2.0)


def test_recordings_without_events_and_without_tracks() -> None:
    figure = tracks_figure(log_mel=SOUND, timeline=FEATURE_GRID, tracks={"found": []}, title="a.wav")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["a.wav", "found"]
    with pytest.raises(ValueError, match="tracks must have at least one entry, got none"):
        tracks_figure(log_mel=SOUND, timeline=FEATURE_GRID, tracks={})


# worked numbers


def write_log(folder: Path, epochs: list[dict[str, object]]) -> Path:
    """A run of two steps per epoch."""
    rows: list[dict[str, object]] = []
    for number, epoch in enumerate(epochs, start=1):
        rows += [{"kind": "step", "step": 2 * number - 1 + k, "epoch": number, "loss": 1 / number} for k in (0, 1)]
        rows.append({"kind": "epoch", "step": 2 * number, "epoch": number, "pooling": None, "best_epoch": 1, **epoch})
    (folder / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return folder


def test_epochs_that_were_not_judged_are_left_out(tmp_path: Path) -> None:
    judged: dict[str, object] = {"held_out_loss": 0.3, "held_out_macro_f1": None}
    curves = run_curves("linear", write_log(tmp_path, [judged, {}, judged]))
    assert curves.steps.tolist() == [1, 2, 3, 4, 5, 6]
    assert curves.epochs.tolist() == [1, 3]
    assert curves.held_out["loss"].tolist() == [0.3, 0.3]
    assert np.isnan(curves.held_out["tag F1"]).all()  # no held-out clip has any of the classes
    assert (curves.n_values, curves.kept_epoch) == (None, 1)


def test_runs_without_held_out_clips_have_no_held_out_curves(tmp_path: Path) -> None:
    curves = run_curves("power", write_log(tmp_path, [{"pooling": [1.0, 1.5]}, {"pooling": [1.1, 1.6]}]))
    assert curves.epochs.tolist() == [1, 2]
    assert curves.held_out == {}
    assert curves.n_values is not None
    assert curves.n_values.tolist() == [[1.0, 1.5], [1.1, 1.6]]


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no step is written down in log.jsonl - is it the folder of a run\?"):
        run_curves("power", tmp_path)
