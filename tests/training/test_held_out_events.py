"""Held-out clips with strong labels: how well their events are found, and what is tuned on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from oracles.training_cases import SMALL, changed, clips_in_memory, lively_network
from run_cases import CALM, rows, run_loop, some_data

from earmark.detection.decoding import decode
from earmark.detection.settings import Decoding
from earmark.detection.tuning import Tuned
from earmark.events import Event
from earmark.metrics.event import event_counts
from earmark.timeline import Timeline
from earmark.training.clips import ClipSet
from earmark.training.drawing import TrainingData
from earmark.training.feature_store import FeatureStore
from earmark.training.held_out import choose_decoding, held_out_figures, start_decoding
from earmark.training.held_out_events import HeldOutEvents, tuned_on_events, wholly_labelled
from earmark.training.strong_labels import Complete, StrongLabels

GRID = Timeline(8000, 320)  # output frames of 40 ms
CLASSES = ("class 0", "class 1", "class 2")


def some_clips(rng: np.random.Generator) -> tuple[ClipSet, FeatureStore]:
    """Five clips; two are wholly labelled, one only for a class, one only in part, one not at all."""
    clips, store = clips_in_memory(
        [rng.normal(-7.0, 1.5, (length, 16)) for length in (60, 80, 100, 70, 90)], np.ones((5, 3))
    )
    event = Event(0.2, 0.6, "class 0")
    strong = (
        StrongLabels((event, Event(0.1, 0.1, "class 2")), (Complete(),)),
        StrongLabels((event,), (Complete(classes=frozenset({"class 0"})),)),
        StrongLabels((), (Complete(0.0, 1.0), Complete(1.0))),
        StrongLabels((event,), (Complete(0.0, 0.5),)),
        None,
    )
    return replace(clips, strong=strong), store


# --- laws ---


def test_the_event_figure_is_that_of_the_clips_wholly_labelled(rng: np.random.Generator) -> None:
    clips, store = some_clips(rng)
    assert wholly_labelled(clips, np.arange(5)) == [0, 2]
    assert wholly_labelled(clips, np.array([2, 4])) == [2]
    # Of a class that only the model has from which a run continues, no labels speak.
    assert clips.strong is not None
    said = frozenset(CLASSES[:-1])
    first, second, _, *others = clips.strong
    assert first is not None
    only = (StrongLabels(first.events, (Complete(classes=said),)), second, StrongLabels((), (Complete(classes=said),)))
    strong = (*only, *others)
    known = np.ones_like(clips.known)
    assert wholly_labelled(replace(clips, strong=strong, known=known), np.arange(5)) == []
    known[:, -1] = False
    assert wholly_labelled(replace(clips, strong=strong, known=known), np.arange(5)) == [0, 2]
    network = lively_network(classes=CLASSES)
    figures = held_out_figures(network, clips, store, np.arange(5), SMALL)
    assert figures.events is not None
    reference = {"0.wav": [Event(0.2, 0.6, "class 0")], "2.wav": []}  # what has no length is no event
    assert figures.events.reference == reference
    network.eval()
    found = {}
    for index in (0, 2):
        with torch.no_grad():
            logits = network(torch.from_numpy(store.clip(index).astype(np.float32))[None]).logits[0]
        probs = logits.sigmoid().double().numpy()
        np.testing.assert_allclose(figures.events.frame_probs[f"{index}.wav"], probs, atol=1e-5)
        found[f"{index}.wav"] = decode(probs, decoding=start_decoding(SMALL, CLASSES), timeline=GRID)
    counts = event_counts(reference, found, classes=CLASSES)
    assert figures.event_f1 == {"class 0": pytest.approx(counts.f1[0])}


def test_the_best_epoch_can_be_that_of_the_events(tmp_path: Path) -> None:
    data = some_data()
    strong = [None] * 10 + [StrongLabels((Event(0.0, 0.12, "class 0"),), (Complete(),))] * 4
    data = TrainingData(replace(data.clips, strong=tuple(strong)), data.store)
    config = changed(
        CALM, training={"select": "events", "epochs": 3}, decoding={"threshold": 0.2, "low_threshold": 0.1}
    )
    progress = run_loop(tmp_path, config, data=data)
    figures = [row["held_out_macro_event_f1"] for row in rows(tmp_path, "epoch")]
    assert progress.best_figure == max(figures)
    assert figures[progress.best_epoch - 1] == max(figures)


def test_with_enough_events_everything_is_tuned_and_tags_keep_their_threshold(rng: np.random.Generator) -> None:
    # Twelve dogs at 0.3 that a threshold of 0.5 would miss; of cats there is one event, so tags decide.
    probs = {}
    reference = {}
    for number in range(12):
        frames = np.full((50, 3), 0.05)
        frames[10:20, 1] = 0.3
        frames[30:40, 0] = 0.3
        probs[f"{number}"] = frames
        reference[f"{number}"] = [Event(0.4, 0.8, "class 1")]
    reference["0"] = [*reference["0"], Event(1.2, 1.6, "class 0")]
    start = Decoding("tuned", CLASSES, Decoding.fixed(CLASSES).settings)
    start = replace(start, settings=tuple(replace(s, clip_threshold=0.77) for s in start.settings))
    tuned = tuned_on_events(HeldOutEvents(probs, reference, GRID), Tuned(start, {}, untuned=CLASSES))
    assert tuned.decoding.of("class 1").threshold <= 0.3
    assert tuned.decoding.of("class 1").clip_threshold == 0.77
    assert tuned.decoding.of("class 0") == start.of("class 0")
    assert tuned.untuned == ("class 0", "class 2")
    clips, _ = some_clips(rng)
    events = HeldOutEvents(probs, reference, GRID)
    config = changed(decoding={"mode": "tuned"})
    found = choose_decoding(config, clips, np.arange(5), np.full((5, 3), 0.5), events)
    assert found.decoding.of("class 1").threshold <= 0.3
    assert choose_decoding(SMALL, clips, np.arange(5), np.full((5, 3), 0.5), events).decoding.mode == "fixed"
