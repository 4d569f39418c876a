from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from earmark.comparing.measuring import (
    Truth,
    chosen_decoding,
    events_of_clips,
    measure,
    output_timeline,
    read_measured,
    write_measured,
)
from earmark.comparing.scoring import ClipScores, read_scores, write_scores
from earmark.config import Config, DecodingConfig, FeatureConfig
from earmark.detection.decoding import decode
from earmark.detection.settings import Decoding
from earmark.detection.tags import has_tag
from earmark.events import Event
from earmark.labels.weak import WeakClip
from earmark.metrics.bootstrap import resampled_weights
from earmark.metrics.curves.evaluation import evaluate_scores
from earmark.metrics.curves.items import clip_curves
from earmark.metrics.curves.scores import score_table
from earmark.metrics.evaluation import evaluate
from earmark.training.clips import clip_set

CLASSES = ("cat", "dog")
CONFIG = Config(features=FeatureConfig(sample_rate=1000, hop_samples=50, window_samples=64))  # output frames of 0.1 s
FRAMES = 40


def some_part(
    rng: np.random.Generator, prefix: str, *, n_clips: int, marked: float = 1.0, noise: float = 0.3
) -> tuple[Truth, ClipScores]:
    """Clips of 4 s in groups of about three, and what a network might say about them."""
    rows, events, frames = [], [], []
    for index in range(n_clips):
        of_clip = tuple(
            Event(begin, begin + 1.0, label)
            for label in CLASSES
            for begin in rng.choice([0.0, 1.5, 3.0], int(rng.integers(0, 3)), replace=False).tolist()
        )
        name = f"{prefix}{n_clips - index:02d}.wav"  # not in the order of the alphabet
        tags = frozenset(event.label for event in of_clip)
        group = {"patient": f"P{rng.integers(n_clips // 3)}"}
        rows.append(WeakClip(name, tags, None, None, None, group, "weak.tsv:2"))
        events.append(of_clip if rng.random() < marked else None)
        probs = rng.uniform(0, 0.5, (FRAMES, 2))
        for event in of_clip:
            begin, end = round(10 * event.onset), round(10 * event.offset)
            probs[begin:end, CLASSES.index(event.label)] += 0.5 - noise * rng.random()
        frames.append(probs.astype(np.float32))
    clip_probs = np.clip(np.array([f.max(axis=0) for f in frames], np.float64), 0.01, 0.99)
    clips = clip_set(rows, CLASSES, holdout_fraction=0, group_column="patient")
    return Truth(clips, tuple(events)), ClipScores(np.log(clip_probs), np.log1p(-clip_probs), frames)


def repeated(truth: Truth, scores: ClipScores, times: np.ndarray) -> tuple[Truth, ClipScores]:
    """The same, with every clip as often as `times` says, under another name each time: a resample written out."""
    chosen = np.repeat(np.arange(len(times)), times)
    rows = [replace(truth.clips.clips[i], filename=f"{n:03d}.wav") for n, i in enumerate(chosen)]
    clips = replace(truth.clips.only(chosen), clips=tuple(rows), groups=tuple(str(n) for n in range(len(chosen))))
    assert scores.frames is not None
    of_chosen = ClipScores(scores.log_y[chosen], scores.log_not_y[chosen], [scores.frames[i] for i in chosen])
    return Truth(clips, tuple(truth.events[i] for i in chosen)), of_chosen


def by_the_metrics(decoding: Decoding, test: Truth, scores: ClipScores) -> dict[str, float]:
    """The same figures from event lists and tags, as anybody would evaluate them."""
    names = test.names()
    assert scores.frames is not None
    marked = [i for i, events in enumerate(test.events) if events is not None]
    reference = {names[i]: list(test.events[i] or ()) for i in marked}
    grid = output_timeline(CONFIG)
    predicted = {names[i]: decode(scores.frames[i], decoding=decoding, timeline=grid) for i in marked}
    found = evaluate(reference, predicted, classes=CLASSES)
    is_found = has_tag(scores.clip_probs, decoding=decoding)
    tags = [{CLASSES[c] for c in np.flatnonzero(row)} for row in is_found]
    true_tags = [{CLASSES[c] for c in np.flatnonzero(row)} for row in test.clips.tags]
    nothing: dict[str, list[Event]] = {name: [] for name in names}
    of_tags = evaluate(
        nothing, nothing, reference_tags=dict(zip(names, true_tags, strict=True)),
        predicted_tags=dict(zip(names, tags, strict=True)), classes=CLASSES,
    )  # fmt: skip
    curves = clip_curves(
        dict(zip(names, scores.clip_probs, strict=True)), dict(zip(names, true_tags, strict=True)), classes=CLASSES
    )
    table = score_table({names[i]: scores.frames[i] for i in marked}, classes=CLASSES, hop_seconds=0.1)
    psds = evaluate_scores(table, reference).psds
    truth = test.clips.tags
    return {
        "event_f1": found.event.macro.f1,
        "segment_f1": found.segment.macro.f1,
        "psds_1": psds[0].value,
        "psds_2": psds[1].value,
        "clip_f1": of_tags.clip.macro.f1,
        "average_precision": curves.mean_average_precision,
        "auroc": curves.mean_auroc,
        "loss": float(-np.where(truth, scores.log_y, scores.log_not_y).mean()),
    }


# Laws


def test_figures_and_resamples_are_what_the_metrics_say(rng: np.random.Generator) -> None:
    held_out, test = some_part(rng, "h", n_clips=12, marked=0.0), some_part(rng, "t", n_clips=15, marked=0.7)
    measured = measure(*held_out, *test, CONFIG, n_resamples=2, n_resamples_psds=1)
    decoding = chosen_decoding(*held_out, CONFIG)
    expected = by_the_metrics(decoding, *test)
    assert measured.values.keys() == expected.keys()
    for name, value in expected.items():
        assert measured.values[name][0] == pytest.approx(value, abs=1e-9), name
    groups = np.unique(test[0].clips.groups, return_inverse=True)[1]
    weights = resampled_weights(int(groups.max()) + 1, 2)
    for row in range(2):
        of_resample = by_the_metrics(decoding, *repeated(*test, weights[row, groups]))
        for name, value in of_resample.items():
            if row < len(measured.resampled[name]):
                assert measured.resampled[name][row, 0] == pytest.approx(value, abs=1e-9), (name, row)


def test_tags_alone_give_figures_of_tags_alone(rng: np.random.Generator) -> None:
    held_out, test = some_part(rng, "h", n_clips=12, marked=0.0), some_part(rng, "t", n_clips=12, marked=0.0)
    measured = measure(*held_out, *test, CONFIG, n_resamples=3)
    assert list(measured.values) == ["clip_f1", "average_precision", "auroc", "loss"]


def test_nothing_is_chosen_by_the_test_clips(rng: np.random.Generator) -> None:
    held_out, test = (some_part(rng, prefix, n_clips=12, marked=0.0) for prefix in "ht")
    worse = replace(test[1], log_y=test[1].log_y - 3.0)  # all below every threshold: a threshold of theirs would follow
    measured = [measure(*held_out, test[0], scores, CONFIG, n_resamples=2) for scores in (test[1], worse)]
    assert measured[0].values["clip_f1"][0] > 0.5
    assert measured[1].values["clip_f1"][0] == 0.0
    assert measured[0].values["auroc"][0] == measured[1].values["auroc"][0]


def test_what_nobody_listened_for_counts_neither_way(rng: np.random.Generator) -> None:
    held_out, (truth, scores) = (some_part(rng, prefix, n_clips=12, marked=0.0) for prefix in "ht")
    known = truth.clips.known.copy()
    known[:, 0] = False
    found = measure(*held_out, replace(truth, clips=replace(truth.clips, known=known)), scores, CONFIG, n_resamples=2)
    assert np.isnan(found.values["clip_f1"][1])
    assert np.isnan(found.values["loss"][1])
    assert found.values["clip_f1"][0] == found.values["clip_f1"][2]


def test_what_is_written_is_read(rng: np.random.Generator, tmp_path: Path) -> None:
    held_out, test = (some_part(rng, prefix, n_clips=8, marked=0.0) for prefix in "ht")
    measured = measure(*held_out, *test, CONFIG, n_resamples=3)
    write_measured(tmp_path / "figures.npz", measured)
    back = read_measured(tmp_path / "figures.npz")
    for name, values in measured.values.items():
        np.testing.assert_array_equal(back.values[name], values)
        np.testing.assert_array_equal(back.resampled[name], measured.resampled[name])
    write_scores(tmp_path / "scores.npz", {"held-out": held_out[1], "test": test[1]})
    scores = read_scores(tmp_path / "scores.npz")["test"]
    assert scores.frames is not None
    assert test[1].frames is not None
    for one, other in zip(scores.frames, test[1].frames, strict=True):
        np.testing.assert_array_equal(one, other)


# Worked numbers


def test_decoding_is_tuned_on_the_held_out_events_but_windows_from_durations_stay(rng: np.random.Generator) -> None:
    held_out = some_part(rng, "h", n_clips=4)
    from_tags = chosen_decoding(replace(held_out[0], events=(None,) * 4), held_out[1], CONFIG)
    assert {setting.median_seconds for setting in from_tags.settings} == {CONFIG.decoding.median_seconds}
    assert chosen_decoding(*held_out, CONFIG).settings != from_tags.settings
    fixed = replace(CONFIG, decoding=DecodingConfig(mode="duration", mean_seconds=(0.9, 0.9)))
    assert {setting.median_seconds for setting in chosen_decoding(*held_out, fixed).settings} == {0.3}


def test_events_of_a_span_are_cut_and_begin_with_it() -> None:
    span = WeakClip("day.wav", frozenset({"dog"}), None, 10.0, 20.0, {}, "weak.tsv:2")
    whole, other = replace(span, onset=None, offset=None), replace(span, filename="night.wav")
    strong = {"day.wav": [Event(8.0, 12.0, "dog"), Event(15.0, 25.0, "cat"), Event(20.0, 21.0, "dog")]}
    assert events_of_clips([span, whole, other], strong) == (
        (Event(0.0, 2.0, "dog"), Event(5.0, 10.0, "cat")), tuple(strong["day.wav"]), None,
    )  # fmt: skip
