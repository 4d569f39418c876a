"""Decoding: probabilities to events."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from decoding_cases import GRID, column, one_class, random_probs, random_settings, spans
from oracles.decoding_frame_by_frame import decode_slowly, median_filtered

from earmark.detection.decoding import (
    checked_probs,
    decode,
    event_frames,
    majority,
    median_frames,
    n_frames_within,
)
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.events import Event
from earmark.timeline import Timeline

# --- laws ---


def test_agrees_with_the_frame_by_frame_machine(rng: np.random.Generator) -> None:
    for _ in range(3000):
        hop_samples = int(rng.integers(1, 250))
        grid = Timeline(sample_rate=1000, hop_samples=hop_samples)
        settings = [random_settings(rng), random_settings(rng)]
        probs = random_probs(rng, int(rng.integers(0, 40)), 2)
        milliseconds = None if rng.random() < 0.5 else int(rng.integers(0, 45 * hop_samples))
        expected = []
        for index, setting in enumerate(settings):
            exact = {
                name: Fraction(round(1000 * getattr(setting, f"{name}_seconds")), 1000)
                for name in ("median", "max_gap", "min_event")
            }
            expected += [
                (onset, offset, "ab"[index], score)
                for onset, offset, score in decode_slowly(
                    probs[:, index].tolist(),
                    threshold=setting.threshold,
                    low=setting.lower,
                    **exact,
                    hop=Fraction(hop_samples, 1000),
                    duration=None if milliseconds is None else Fraction(milliseconds, 1000),
                )
            ]
        found = decode(
            probs,
            decoding=Decoding("tuned", ("a", "b"), tuple(settings)),
            timeline=grid,
            duration_seconds=None if milliseconds is None else milliseconds / 1000,
        )
        assert found == [
            Event(float(onset), float(offset), label, score) for onset, offset, label, score in sorted(expected)
        ]


@pytest.mark.parametrize("window", [1, 3, 5, 9, 21])
def test_majority_is_the_median_compared_with_the_threshold(rng: np.random.Generator, window: int) -> None:
    for _ in range(100):
        probs = random_probs(rng, int(rng.integers(1, 40)))
        for threshold in (0.0, 0.3, 0.5, 1.0):
            padded = np.pad(probs, window // 2, mode="edge")
            filtered = np.array(median_filtered(probs.tolist(), window))
            np.testing.assert_array_equal(
                majority(padded >= threshold, window=window), filtered.astype(probs.dtype) >= threshold
            )


def test_a_window_holds_more_frames_than_two_bytes_can_count() -> None:
    # An hour and more at 20 frames a second; in 16 bits 70,001 active frames would be 4,465.
    assert majority(np.ones(150_000, dtype=bool), window=70_001).tolist() == [True] * 80_000
    every_other = np.arange(150_000) % 2 == 1  # 35,001 of the 70,001 where a window begins with one, otherwise 35,000
    np.testing.assert_array_equal(majority(every_other, window=70_001), every_other[:80_000])


def test_every_event_is_long_enough_apart_and_reaches_the_threshold(rng: np.random.Generator) -> None:
    for _ in range(300):
        setting = random_settings(rng)
        probs = random_probs(rng, 40, 1)
        events = decode(probs, decoding=Decoding("tuned", ("dog",), (setting,)), timeline=GRID)
        for event in events:
            assert round(event.duration, 9) >= setting.min_event_seconds
            assert event.score is not None
            assert 0 <= event.score <= 1
        for before, after in itertools.pairwise(events):
            assert round(after.onset - before.offset, 9) > setting.max_gap_seconds


def test_classes_do_not_depend_on_each_other(rng: np.random.Generator) -> None:
    settings = tuple(random_settings(rng) for _ in range(4))
    probs = random_probs(rng, 200, 4)
    together = decode(probs, decoding=Decoding("tuned", tuple("abcd"), settings), timeline=GRID)
    alone = [
        event
        for index, label in enumerate("abcd")
        for event in decode(probs[:, [index]], decoding=Decoding("tuned", (label,), (settings[index],)), timeline=GRID)
    ]
    assert together == sorted(alone, key=lambda event: (event.onset, event.offset, event.label))


def test_recordings_laid_end_to_end_do_not_touch(rng: np.random.Generator) -> None:
    setting = ClassDecoding(median_seconds=0.3)
    one, two = random_probs(rng, 20), random_probs(rng, 30)
    both = np.concatenate([np.pad(one, 1, mode="edge"), np.pad(two, 1, mode="edge")]).astype(np.float64)
    is_between = np.zeros(52, dtype=bool)
    is_between[20:22] = True
    firsts, ends = event_frames(both, settings=setting, timeline=GRID, is_between=is_between)
    apart = [
        event_frames(np.pad(part, 1, mode="edge").astype(np.float64), settings=setting, timeline=GRID)
        for part in (one, two)
    ]
    np.testing.assert_array_equal(firsts, np.concatenate([apart[0][0], apart[1][0] + 22]))
    np.testing.assert_array_equal(ends, np.concatenate([apart[0][1], apart[1][1] + 22]))


# --- worked numbers ---


@pytest.mark.parametrize(
    ("mean_seconds", "frames"),
    [
        # Mean durations of the 2019 synthetic set; a third of them at 22050 / (4 * 365) = 15.10 frames per second.
        (1.07, 5),
        (2.58, 13),
        (0.58, 3),
        (0.98, 5),
        (4.52, 23),
        (5.17, 27),
        (3.91, 19),
        (1.16, 5),
        (5.29, 27),
    ],
)
def test_windows_of_the_2019_recipe(mean_seconds: float, frames: int) -> None:
    assert median_frames(mean_seconds / 3, timeline=Timeline(sample_rate=22050, hop_samples=1460)) == frames


@pytest.mark.parametrize(
    ("seconds", "frames"), [(0.0, 1), (0.1, 1), (0.19, 1), (0.2, 3), (0.3, 3), (0.39, 3), (0.4, 5), (0.6, 7)]
)
def test_window_is_the_nearest_odd_number_and_the_longer_of_two(seconds: float, frames: int) -> None:
    # 0.2 s are 2 frames: as near to 1 as to 3. 0.6 / 0.1 is 5.999999999999999 in floating point, and is 6 here.
    assert median_frames(seconds, timeline=GRID) == frames


def test_steps_happen_in_the_order_of_the_design() -> None:
    #               0    1    2    3    4    5    6    7    8    9
    probs = column(0.9, 0.1, 0.9, 0.9, 0.1, 0.3, 0.3, 0.3, 0.1, 0.1)
    # Median of 3: 0.9 0.9 0.9 0.9 0.3 0.3 0.3 0.3 0.1 0.1, so frames 0-3 pass 0.5 and frames 0-7 pass 0.3.
    assert spans(probs, one_class(median_seconds=0.3)) == [(0.0, 0.4)]
    assert spans(probs, one_class(median_seconds=0.3, low_threshold=0.3)) == [(0.0, 0.8)]
    # Without the filter: frames 0 and 2-3; the pause of one frame is closed before the lengths are looked at.
    assert spans(probs, one_class()) == [(0.0, 0.1), (0.2, 0.4)]
    assert spans(probs, one_class(max_gap_seconds=0.1, min_event_seconds=0.3)) == [(0.0, 0.4)]
    assert spans(probs, one_class(min_event_seconds=0.3)) == []
    # Frames 5-7 pass the low threshold but hold none of the high one: they neither count nor bridge a pause.
    assert spans(probs, one_class(low_threshold=0.3, max_gap_seconds=0.1)) == [(0.0, 0.4)]


def test_score_is_the_mean_of_the_unfiltered_frames_with_closed_pauses() -> None:
    events = decode(column(0, 0.5, 0.25, 0.75, 0), decoding=one_class(max_gap_seconds=0.1), timeline=GRID)
    assert events == [Event(0.1, 0.4, "dog", (0.5 + 0.25 + 0.75) / 3)]  # 0.5
    filtered = decode(column(0, 0.75, 0.5, 0.75, 0), decoding=one_class(median_seconds=0.3), timeline=GRID)
    assert filtered == [Event(0.1, 0.4, "dog", (0.75 + 0.5 + 0.75) / 3)]  # filtered: 0.5 0.75 0.5


def test_a_probability_at_the_threshold_passes() -> None:
    assert spans(column(0.5, 0.49), one_class(threshold=0.5)) == [(0.0, 0.1)]
    assert spans(column(1.0, 0.99), one_class(threshold=1.0)) == [(0.0, 0.1)]
    assert spans(column(0.0, 0.0), one_class(threshold=0.0)) == [(0.0, 0.2)]


def test_a_threshold_between_neighbouring_float32_values_separates_them() -> None:
    lower = np.float32(0.7)
    upper = np.nextafter(lower, np.float32(1))
    between = (float(lower) + float(upper)) / 2
    assert spans(np.array([[lower], [upper]]), one_class(threshold=between)) == [(0.1, 0.2)]


def test_the_first_and_last_frame_are_repeated_at_the_edges() -> None:
    # Window 5 around frame 0: 0.9 0.9 [0.9] 0 0 -> 0.9. Around frame 1: 0.9 0.9 [0] 0 0 -> 0.
    assert spans(column(0.9, 0, 0, 0, 0.9), one_class(median_seconds=0.5)) == [(0.0, 0.1), (0.4, 0.5)]


def test_duration_cuts_the_last_frame_and_leaves_out_the_padding() -> None:
    probs = column(0.9, 0.9, 0.9, 0.9)
    assert spans(probs, one_class(), duration_seconds=0.25) == [(0.0, 0.25)]
    assert spans(probs, one_class(), duration_seconds=0.4) == [(0.0, 0.4)]
    assert spans(probs, one_class(), duration_seconds=7.0) == [(0.0, 0.4)]
    assert spans(probs, one_class(), duration_seconds=0) == []
    assert n_frames_within(0.201, 4, timeline=GRID) == 3
    # Frames 2 and 3 lie behind 0.2 s: they would let the filter of 3 frames keep frame 1.
    padded = column(0, 0.9, 0.9, 0.9)
    assert spans(padded, one_class(median_seconds=0.5), duration_seconds=0.2) == [(0.1, 0.2)]


def test_no_frames_no_events() -> None:
    assert decode(np.empty((0, 2)), decoding=Decoding.fixed(["a", "b"]), timeline=GRID) == []


def test_minimum_length_counts_whole_frames() -> None:
    probs = column(0, 0.9, 0.9, 0)  # 0.2 s
    assert spans(probs, one_class(min_event_seconds=0.2)) == [(0.1, 0.3)]
    assert spans(probs, one_class(min_event_seconds=0.201)) == []


def test_events_of_all_classes_come_in_the_order_of_time() -> None:
    probs = np.array([[0.1, 0.9, 0.9], [0.9, 0.1, 0.9]])
    events = decode(probs, decoding=Decoding.fixed(["a", "c", "b"]), timeline=GRID)
    assert [(event.onset, event.label) for event in events] == [(0.0, "c"), (0.0, "b"), (0.1, "a")]


# --- wrong input ---


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "got nan in frame 7, class 'b' - did the training"),
        (np.inf, "got inf in frame 7, class 'b' - did the"),
        (1.5, "got 1.5 in frame 7, class 'b' - are these logits"),
        (-0.1, "got -0.1 in frame 7, class 'b' - are these"),
    ],
)
def test_what_is_no_probability_is_named_with_frame_and_class(value: float, message: str) -> None:
    probs = np.full((9, 2), 0.5)
    probs[7, 1] = value
    with pytest.raises(ValueError, match=message):
        decode(probs, decoding=Decoding.fixed(["a", "b"]), timeline=GRID)


def test_what_is_no_probability_behind_the_end_is_named_too() -> None:
    with pytest.raises(ValueError, match="got nan in frame 1, class 'dog'"):
        decode(column(0.5, np.nan), decoding=one_class(), timeline=GRID, duration_seconds=0.1)


@pytest.mark.parametrize("probs", [[["0.5"]], [[None]], [[0.5 + 0.5j]]])
def test_what_is_no_number_is_told(probs: list[list[object]]) -> None:
    with pytest.raises(ValueError, match=r"^frame_probs must hold numbers from 0 to 1, got type .+ - is it text, or"):
        decode(probs, decoding=one_class(), timeline=GRID)  # type: ignore[arg-type]


def test_wrong_window() -> None:
    for seconds in (-0.3, np.nan):
        with pytest.raises(ValueError, match=r"median_seconds must be at least 0, got .+ - is it in seconds\?"):
            median_frames(seconds, timeline=GRID)


def test_wrong_shapes() -> None:
    with pytest.raises(ValueError, match=r"must have shape \(frames, classes\), got \(1, 4, 2\) - one recording"):
        decode(np.zeros((1, 4, 2)), decoding=Decoding.fixed(["a", "b"]), timeline=GRID)
    with pytest.raises(ValueError, match=r"of the 2 classes \(a, b\), got shape \(2, 4\) - are the axes swapped"):
        decode(np.zeros((2, 4)), decoding=Decoding.fixed(["a", "b"]), timeline=GRID)
    with pytest.raises(ValueError, match="in clip 0, class number 1"):
        checked_probs("clip_probs", [[0.5, 2.0]], row="clip")


def test_wrong_duration() -> None:
    with pytest.raises(ValueError, match=r"duration_seconds must be at least 0, got -1 - is it in seconds"):
        decode(column(0.5), decoding=one_class(), timeline=GRID, duration_seconds=-1)
