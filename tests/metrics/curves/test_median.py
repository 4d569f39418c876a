from __future__ import annotations

import numpy as np
import pytest
from oracles.curves_cases import random_clips

from earmark.detection.decoding import median_frames
from earmark.metrics.curves import ScoreTable, median, median_filtered, score_table
from earmark.timeline import Timeline


def slowly_filtered(values: list[float], n_frames: int, beyond: str) -> list[float]:
    """The middle of every window, sorted in plain Python."""
    half, last = n_frames // 2, len(values) - 1
    filtered = []
    for frame in range(len(values)):
        places = range(frame - half, frame + half + 1)
        if beyond == "repeat":
            window = [values[min(max(place, 0), last)] for place in places]
        else:
            window = [values[place] if 0 <= place <= last else -np.inf for place in places]
        filtered.append(sorted(window)[half])
    return filtered


def even_clips(rng: np.random.Generator, hop_seconds: float) -> ScoreTable:
    """Clips of 0, 1, 2 and more frames of one length, the last of which may be cut off."""
    lengths = {"a": 0, "b": 1, "c": 2, "d": 9, "e": 25}
    edges = {name: np.arange(n + 1) * hop_seconds for name, n in lengths.items()}
    edges["d"][-1] -= 0.7 * hop_seconds
    scores = {name: rng.integers(-3, 11, (n, 2)) / 10 for name, n in lengths.items()}
    return score_table(scores, classes=["dog", "cat"], edge_seconds=edges)


# Laws


@pytest.mark.parametrize("beyond", ["repeat", "nothing"])
@pytest.mark.parametrize("n_frames", [1, 3, 5, 11, 31])
def test_the_middle_of_every_window(rng: np.random.Generator, beyond: str, n_frames: int) -> None:
    for hop_seconds in (0.1, 10 / 157, 1 / 3):
        table = even_clips(rng, hop_seconds)
        found = median_filtered(table, seconds=n_frames * hop_seconds, beyond=beyond)
        for name in table.files:
            for before, after in zip(
                table.only([name]).values.tolist(), found.only([name]).values.tolist(), strict=True
            ):
                assert after == slowly_filtered(before, n_frames, beyond)


def test_windows_are_as_long_as_in_decoding(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    timeline, windows = Timeline(sample_rate=1000, hop_samples=20), []

    def noted(scores: ScoreTable, values: np.ndarray, half_window: int, beyond: str) -> np.ndarray:
        windows.append(2 * half_window + 1)
        return values

    monkeypatch.setattr(median, "_filtered", noted)
    table = score_table({"a": np.zeros((50, 1))}, classes=["dog"], hop_seconds=0.02)
    lengths = np.arange(0, 0.4, 0.001).round(3).tolist()
    for seconds in lengths:
        median_filtered(table, seconds=seconds)
    assert windows == [median_frames(seconds, timeline=timeline) for seconds in lengths]


def test_looking_at_few_windows_at_a_time_changes_nothing(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = even_clips(rng, 0.1)
    expected = median_filtered(table, seconds=0.7).values
    for numbers in (1, 20, 100):
        monkeypatch.setattr(median, "_CHUNK_NUMBERS", numbers)
        np.testing.assert_array_equal(median_filtered(table, seconds=0.7).values, expected)


def test_every_class_has_its_own_window(rng: np.random.Generator) -> None:
    table = even_clips(rng, 0.1)
    both = median_filtered(table, seconds=[0.3, 0.9]).values
    np.testing.assert_array_equal(both[0], median_filtered(table, seconds=0.3).values[0])
    np.testing.assert_array_equal(both[1], median_filtered(table, seconds=0.9).values[1])


def test_clips_do_not_see_each_other(rng: np.random.Generator) -> None:
    table = random_clips(rng, n_clips=5, n_frames=20).scores
    together = median_filtered(table, seconds=0.5)
    for name in table.files:
        alone = median_filtered(table.only([name]), seconds=0.5)
        np.testing.assert_array_equal(alone.values, together.only([name]).values)


def test_only_values_change(rng: np.random.Generator) -> None:
    table = even_clips(rng, 0.1)
    before = table.values.copy()
    found = median_filtered(table, seconds=0.5)
    np.testing.assert_array_equal(table.values, before)
    assert (found.files, found.classes) == (table.files, table.classes)
    np.testing.assert_array_equal(found.edge_seconds, table.edge_seconds)


# Worked numbers


def test_ends_are_repeated_or_lower_than_anything() -> None:
    table = score_table({"a": [[0.9], [0.1], [0.5], [0.7]]}, classes=["dog"], hop_seconds=0.1)
    # Windows: .9 .9 .1 | .9 .1 .5 | .1 .5 .7 | .5 .7 .7
    assert median_filtered(table, seconds=0.3).values.tolist() == [[0.9, 0.5, 0.5, 0.7]]
    # Windows: - .9 .1 | ... | .5 .7 -
    assert median_filtered(table, seconds=0.3, beyond="nothing").values.tolist() == [[0.1, 0.5, 0.5, 0.5]]


def test_a_clip_shorter_than_half_a_window_is_nothing() -> None:
    table = score_table({"a": [[0.9], [0.8]]}, classes=["dog"], hop_seconds=0.1)
    # Three of five frames are beyond the clip.
    assert median_filtered(table, seconds=0.5, beyond="nothing").values.tolist() == [[-np.inf, -np.inf]]
    assert median_filtered(table, seconds=0.5).values.tolist() == [[0.9, 0.8]]


def test_floating_point_noise_takes_no_frame_away() -> None:
    # 0.6 / 0.1 is 5.999999999999999: half way between 5 and 7 frames, so 7.
    table = score_table({"a": np.arange(12.0)[:, None] % 4}, classes=["dog"], hop_seconds=0.1)
    longer, shorter = (median_filtered(table, seconds=seconds).values for seconds in (0.7, 0.5))
    assert (longer != shorter).any()
    np.testing.assert_array_equal(median_filtered(table, seconds=0.6).values, longer)


def test_nothing_to_filter() -> None:
    nothing = score_table({"a": np.zeros((0, 1)), "b": np.zeros((0, 1))}, classes=["dog"], hop_seconds=0.1)
    assert median_filtered(nothing, seconds=0.5).values.shape == (1, 0)
    single = score_table({"a": [[0.9]], "b": [[0.1]]}, classes=["dog"], hop_seconds=0.1)
    assert median_filtered(single, seconds=0.5).values.tolist() == [[0.9, 0.1]]


# Wrong input


def test_frames_of_several_lengths(rng: np.random.Generator) -> None:
    table = score_table({"a": [[0.1], [0.2], [0.3]]}, classes=["dog"], edge_seconds={"a": [0, 0.1, 0.3, 0.4]})
    with pytest.raises(ValueError, match=r"frames must be equally long for a median filter, got 0.1 to 0.2 s"):
        median_filtered(table, seconds=0.3)


def test_clips_with_frames_of_several_lengths() -> None:
    edges = {"a": [0, 0.1, 0.2, 0.3], "b": [0, 0.2, 0.4, 0.6]}
    table = score_table(dict.fromkeys(edges, np.zeros((3, 1))), classes=["dog"], edge_seconds=edges)
    with pytest.raises(
        ValueError, match=r"equally long for a median filter, got 0.1 to 0.2 s - filter the scores before"
    ):
        median_filtered(table, seconds=0.3)


def test_a_last_frame_that_is_longer() -> None:
    table = score_table({"a": [[0.1], [0.2], [0.3]]}, classes=["dog"], edge_seconds={"a": [0, 0.1, 0.2, 0.9]})
    with pytest.raises(ValueError, match=r"equally long for a median filter, got 0.1 to 0.7 s"):
        median_filtered(table, seconds=0.3)


@pytest.mark.parametrize("seconds", [-0.1, np.nan, np.inf])
def test_a_window_that_cannot_be(rng: np.random.Generator, seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds must be"):
        median_filtered(even_clips(rng, 0.1), seconds=seconds)


def test_as_many_windows_as_classes(rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match=r"one for each of 2 classes, got \[0.1, 0.2, 0.3\]"):
        median_filtered(even_clips(rng, 0.1), seconds=[0.1, 0.2, 0.3])


def test_an_unknown_end(rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match="beyond must be one of repeat, nothing, got 'zero'"):
        median_filtered(even_clips(rng, 0.1), seconds=0.3, beyond="zero")
