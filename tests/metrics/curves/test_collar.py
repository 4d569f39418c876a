from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracles.curves_cases import clips_of, random_clips, reference_of, scores_of, small_case
from oracles.curves_checks import (
    WITH_AND_WITHOUT_NUMBA,
    assert_same_curves,
    counts_at,
    needs_numba,
    points,
    raised,
)
from oracles.curves_slow import collar_counts, thresholds

from earmark.detection.decoding import decode
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.events import Event
from earmark.metrics.curves import ScoreTable, collar_curves, median_filtered, score_table, scored_clips
from earmark.metrics.curves import collar as collar_module
from earmark.metrics.curves import runs as runs_module
from earmark.metrics.curves.runs import Runs
from earmark.metrics.event import Collars, event_counts
from earmark.timeline import Timeline

COLLARS = (("0.2", "0.2", "0.2"), ("0", "0", "0"), ("0.05", "0.1", "0.5"), ("1", "0.5", "0"), ("0.5", "0.5", "3"))


def crowded_scores(rng: np.random.Generator) -> tuple[ScoreTable, dict[str, list[Event]]]:
    """Many short events so close to each other that several are within the collars of one detection."""
    scores = {"a.wav": rng.integers(0, 11, (30, 1)) / 10, "b.wav": rng.integers(0, 11, (12, 1)) / 10}
    reference = {}
    for name, values in scores.items():
        bounds = np.flatnonzero(np.diff(rng.random(len(values)) < 0.5, prepend=False, append=False)).reshape(-1, 2)
        reference[name] = [Event(first * 0.1, end * 0.1, "dog") for first, end in bounds.tolist()]
    return score_table(scores, classes=["dog"], hop_seconds=0.1), reference


# Laws


@pytest.mark.parametrize("use_numba", WITH_AND_WITHOUT_NUMBA)
def test_as_counted_one_threshold_after_the_other(rng: np.random.Generator, use_numba: bool) -> None:
    for _ in range(120):
        case, (onset, offset, fraction) = small_case(rng), COLLARS[rng.integers(len(COLLARS))]
        collars = Collars(float(onset), float(offset), float(fraction))
        curves = collar_curves(clips_of(case), collars=collars, use_numba=use_numba)
        for label, curve in zip(case.classes, curves.of_class, strict=True):
            at = counts_at(curve)
            assert np.isfinite(curve.score[1:]).all()  # what is never swallowed never ends
            for threshold in thresholds(case, label):
                expected = collar_counts(case, label, threshold, onset=onset, offset=offset, fraction=fraction)
                assert at(threshold) == expected


@pytest.mark.parametrize("median_seconds", [0.0, 0.2, 0.33])
@pytest.mark.parametrize("tolerance_seconds", [1e-6, 0.0])
def test_at_a_threshold_as_many_as_among_decoded_events(
    rng: np.random.Generator, median_seconds: float, tolerance_seconds: float
) -> None:
    clips = random_clips(rng, n_clips=10, n_frames=60)
    table, reference = clips.scores, reference_of(clips)
    smooth = replace(clips, scores=median_filtered(table, seconds=median_seconds))
    curves = collar_curves(smooth, collars=Collars(tolerance_seconds=tolerance_seconds), use_numba=False)
    for threshold in (0.15, 0.5, 0.7, float(table.values[0, 3])):
        settings = ClassDecoding(threshold=threshold, median_seconds=median_seconds)
        decoding = Decoding("fixed", table.classes, (settings,) * 3)
        found = {
            name: decode(table.only([name]).values.T, decoding=decoding, timeline=Timeline(16, 1))
            for name in table.files
        }
        counts = event_counts(reference, found, classes=table.classes, tolerance_seconds=tolerance_seconds)
        for index, curve in enumerate(curves.of_class):
            expected = counts.true_positives[index], counts.false_positives[index]
            assert counts_at(curve)(threshold) == expected
            assert curve.n_reference == counts.n_reference[index]
    assert sum(curve.true_positives.max() for curve in curves.of_class) > 10


def test_crowded_clips_are_matched_as_well_as_they_can_be(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    matched, original = [], collar_module._matched

    def counted(cell: int, rows: np.ndarray, runs: Runs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        matched.append(cell)
        return original(cell, rows, runs)

    monkeypatch.setattr(collar_module, "_matched", counted)
    for _ in range(60):
        table, reference = crowded_scores(rng)
        curve = collar_curves(scored_clips(table, reference), use_numba=False).of_class[0]
        for threshold in np.arange(0.0, 1.1, 0.1).round(1).tolist():
            decoding = Decoding.fixed(["dog"], threshold=threshold)
            found = {
                name: decode(table.only([name]).values.T, decoding=decoding, timeline=Timeline(10, 1))
                for name in table.files
            }
            counts = event_counts(reference, found, classes=["dog"])
            assert counts_at(curve)(threshold) == (counts.true_positives[0], counts.false_positives[0])
    assert len(matched) > 60


@needs_numba
def test_with_and_without_numba_bit_for_bit(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=20, n_frames=100)
    assert_same_curves(collar_curves(clips, use_numba=True), collar_curves(clips, use_numba=False))


def test_looking_at_few_frames_at_a_time_changes_nothing(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    clips = random_clips(rng, n_clips=8, n_frames=50)
    expected = collar_curves(clips, use_numba=False)
    monkeypatch.setattr(runs_module, "_CHUNK_FRAMES", 70)
    assert_same_curves(collar_curves(clips, use_numba=False), expected)


def test_perfect_frames_are_perfect(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=10, n_frames=60)
    times = (np.arange(60) + 0.5) / 16
    perfect = {
        name: np.array(
            [
                [any(e.onset < t < e.offset for e in events if e.label == label) for label in clips.scores.classes]
                for t in times
            ]
        )
        for name, events in reference_of(clips).items()
    }
    table = score_table(perfect, classes=clips.scores.classes, hop_seconds=1 / 16)
    curves = collar_curves(scored_clips(table, reference_of(clips)), collars=Collars(0, 0, 0))
    assert curves.macro_best.f1 == curves.micro_best.f1 == 1.0
    assert [curve.best.threshold for curve in curves.of_class] == [0.5, 0.5, 0.5]


def test_other_scores_in_the_same_order_change_thresholds_only(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=8, n_frames=50)
    other = replace(clips, scores=replace(clips.scores, values=raised(clips.scores.values)))
    for one, two in zip(collar_curves(clips).of_class, collar_curves(other).of_class, strict=True):
        assert [counts for _, counts in points(one)] == [counts for _, counts in points(two)]
        np.testing.assert_allclose(raised(one.score[1:]), two.score[1:])


def test_the_counts_of_two_sets_of_clips_add_up(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=9, n_frames=50)
    reference = reference_of(clips)
    parts = [
        collar_curves(scored_clips(clips.scores, {name: reference[name] for name in names}))
        for names in (clips.scores.files[:4], clips.scores.files[4:])
    ]
    for index, curve in enumerate(collar_curves(clips).of_class):
        for threshold in np.arange(0.0, 1.0, 0.03):
            counts = [counts_at(part.of_class[index])(threshold) for part in parts]
            assert counts_at(curve)(threshold) == tuple(np.sum(counts, axis=0))


def test_the_order_of_clips_and_classes_does_not_matter(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=9, n_frames=50)
    reference = reference_of(clips)
    turned = {name: clips.scores.only([name]).values[::-1].T for name in reversed(clips.scores.files)}
    table = score_table(turned, classes=clips.scores.classes[::-1], hop_seconds=1 / 16)
    other = collar_curves(scored_clips(table, dict(reversed(list(reference.items())))))
    for one, two in zip(collar_curves(clips).of_class, reversed(other.of_class), strict=True):
        assert (one.label, points(one)) == (two.label, points(two))


def test_shifting_all_times_changes_nothing(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=9, n_frames=50)
    later = {
        name: [Event(event.onset + 7.3, event.offset + 7.3, event.label) for event in events]
        for name, events in reference_of(clips).items()
    }
    shifted = replace(clips.scores, edge_seconds=clips.scores.edge_seconds + 7.3)
    assert_same_curves(collar_curves(clips), collar_curves(scored_clips(shifted, later)))


def test_a_long_recording_takes_as_long_as_many_short_ones(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matching looks at events that share a run, not at everything else in the recording."""
    sizes: list[int] = []
    matching = collar_module.maximum_matching

    def measured(neighbours: dict[int, list[int]]) -> dict[int, int]:
        sizes.append(len(neighbours))
        return matching(neighbours)

    monkeypatch.setattr(collar_module, "maximum_matching", measured)
    for n_events in (50, 400):
        onsets = np.cumsum(np.where(rng.random(n_events) < 0.3, 0.2, 3.0)).round(2)
        truth = [(float(onset), float(onset) + 0.15, "dog") for onset in onsets]
        scores = score_table({"a": rng.random((int(onsets[-1] / 0.05) + 20, 1))}, classes=["dog"], hop_seconds=0.05)
        sizes.clear()
        collar_curves(scored_clips(scores, {"a": truth}))
        assert sizes
        assert max(sizes) <= 8


# Worked numbers


def test_a_detection_grows_and_shrinks_past_an_event() -> None:
    # The event is 1 to 3 s. At 0.9 frame 1 is found: ends 1 s early, collar max(0.2, 0.2 * 2) = 0.4: wrong.
    # At 0.8 frames 1 and 2: a hit. At 0.5 frame 4 is found as well. At 0.3 all are one from 0 s: wrong.
    scores = score_table({"a": [[0.1], [0.9], [0.8], [0.3], [0.5]]}, classes=["dog"], hop_seconds=1.0)
    curve = collar_curves(scored_clips(scores, {"a": [Event(1.0, 3.0, "dog")]})).of_class[0]
    assert points(curve) == [(np.inf, (0, 0)), (0.9, (0, 1)), (0.8, (1, 0)), (0.5, (1, 1)), (0.3, (0, 1))]
    assert curve.best.threshold == (0.8 + 0.5) / 2


@pytest.mark.parametrize(("off_by", "hits"), [(0.2, 1), (0.2000004, 1), (0.2000006, 0)])
def test_exactly_one_collar_is_within_it(off_by: float, hits: int) -> None:
    edges = {"a": [0.0, 1.0 + off_by, 5.0]}
    scores = score_table({"a": [[0.1], [0.9]]}, classes=["dog"], edge_seconds=edges)
    clips = scored_clips(scores, {"a": [Event(1.0, 5.0, "dog")]})
    assert counts_at(collar_curves(clips).of_class[0])(0.9) == (hits, 1 - hits)


def test_the_larger_of_two_offset_collars_counts() -> None:
    # The event of 4 s may end 0.8 s away: 5.7 s is 0.7 s late.
    scores = score_table({"a": [[0.9]]}, classes=["dog"], edge_seconds={"a": [1.0, 5.7]})
    clips = scored_clips(scores, {"a": [Event(1.0, 5.0, "dog")]})
    assert counts_at(collar_curves(clips).of_class[0])(0.9) == (1, 0)
    assert counts_at(collar_curves(clips, collars=Collars(offset_fraction=0.1)).of_class[0])(0.9) == (0, 1)


def test_two_events_and_one_detection_in_both_collars_are_one_hit() -> None:
    scores = score_table({"a": [[0.1], [0.9], [0.1]]}, classes=["dog"], edge_seconds={"a": [0, 1.0, 1.1, 3]})
    clips = scored_clips(scores, {"a": [Event(0.9, 1.02, "dog"), Event(1.04, 1.2, "dog")]})
    assert points(collar_curves(clips).of_class[0])[:2] == [(np.inf, (0, 0)), (0.9, (1, 0))]


def test_clips_without_events_or_frames() -> None:
    scores = {"a": np.zeros((0, 1)), "b": np.array([[0.3], [0.1], [0.4]]), "c": np.array([[0.6]])}
    table = score_table(scores, classes=["dog"], hop_seconds=1.0)
    curve = collar_curves(scored_clips(table, {"a": [Event(0.0, 1.0, "dog")], "b": [], "c": []})).of_class[0]
    # 0.6 in c, 0.4 and 0.3 in b; at 0.1 the two of b are one.
    assert points(curve) == [(np.inf, (0, 0)), (0.6, (0, 1)), (0.4, (0, 2)), (0.3, (0, 3)), (0.1, (0, 2))]
    assert (curve.n_reference, curve.best.threshold) == (1, np.inf)


def test_no_events_and_no_frames_at_all(rng: np.random.Generator) -> None:
    table = scores_of(small_case(rng, n_classes=2))
    assert collar_curves(scored_clips(table, {name: [] for name in table.files})).absent == table.classes
    empty = score_table({"a": np.zeros((0, 1))}, classes=["dog"], hop_seconds=1.0)
    curve = collar_curves(scored_clips(empty, {"a": [Event(0.0, 1.0, "dog")]})).of_class[0]
    assert (points(curve), curve.best.threshold) == ([(np.inf, (0, 0))], np.inf)


# Wrong input


def test_a_collar_below_zero() -> None:
    with pytest.raises(ValueError, match="onset_seconds must be at least 0"):
        Collars(onset_seconds=-0.2)


def test_numba_where_there_is_none(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=1, n_frames=5)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="use_numba=True needs numba"):
        collar_curves(clips, use_numba=True)
