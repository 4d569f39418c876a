from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from earmark.timeline import Timeline

# The default, that of the 2019 recipe, and one whose frames are no whole number of milliseconds.
GRIDS = [
    *(Timeline(16000, 640), Timeline(22050, 4 * 365), Timeline(44100, 441 * 3), Timeline(10, 1)),
    *(Timeline.of_frame_rate(rate) for rate in (2.0, 1 / 0.96, 22050 / 512, 0.1)),
]


@pytest.mark.parametrize("grid", GRIDS)
def test_every_frame_begins_in_itself(grid: Timeline) -> None:
    frames = range(20_000)
    assert [grid.frame(grid.seconds(frame)) for frame in frames] == list(frames)


@pytest.mark.parametrize("grid", GRIDS)
def test_a_moment_lies_in_the_frame_that_covers_its_sample(grid: Timeline, rng: np.random.Generator) -> None:
    for sample in rng.integers(0, 10**7, 2000).tolist():
        frame = int(Fraction(sample, grid.hop_samples))  # rounds down, exactly
        assert grid.frame(sample / grid.sample_rate) == frame
        # So many samples need so many frames, and the last of them is in the last frame.
        assert grid.n_frames(sample + 1) == frame + 1


@pytest.mark.parametrize("grid", GRIDS)
def test_a_coarser_grid_has_every_nth_border(grid: Timeline) -> None:
    for factor in (1, 2, 7):
        assert [grid.coarser(factor).seconds(i) for i in range(50)] == [grid.seconds(factor * i) for i in range(50)]


@pytest.mark.parametrize("rate", [2.0, 1 / 0.96, 22050 / 512, 1 / 3, 0.1, 62.5, 1000.0])
def test_a_grid_of_a_frame_rate_does_not_drift(rate: float) -> None:
    grid = Timeline.of_frame_rate(rate)
    assert grid.frames_per_second == pytest.approx(rate, rel=1e-12)
    assert grid.sample_rate >= 16000  # any moment lies in its frame, to 1 / 16 ms
    assert grid.seconds(10**7) == pytest.approx(10**7 / rate, rel=1e-12)


def test_no_samples_are_no_frames() -> None:
    assert Timeline(16000, 640).n_frames(0) == 0


@pytest.mark.parametrize(
    ("sample_rate", "hop_samples", "message"),
    [
        (0, 640, "sample_rate must be at least 1, got 0"),
        (16000, 0, "hop_samples must be at least 1, got 0"),
        (16000, 0.02, "hop_samples must be at least 1, got 0.02 - in samples, for instance 320"),
        (16000.5, 640, "sample_rate must be a whole number, got 16000.5"),
    ],
)
def test_grids_that_cannot_be(sample_rate: int, hop_samples: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Timeline(sample_rate, hop_samples)


def test_half_covered_frames_are_those_with_half_of_their_samples_inside(rng: np.random.Generator) -> None:
    for hop in (7, 8, 20):
        grid = Timeline(sample_rate=100, hop_samples=hop)
        for _ in range(200):
            first, end = sorted(rng.integers(0, 10 * hop, 2).tolist())
            inside = np.zeros((11, hop), dtype=bool)
            inside.reshape(-1)[first:end] = True
            # Exactly at half the rule says yes; a stretch inside one frame is found by its middle if at all.
            frames = np.flatnonzero(2 * inside.sum(axis=1) >= hop)
            found = list(range(*grid.half_covered(first / 100, end / 100)))
            if end - first >= hop or len(frames) > 0:
                assert found == frames.tolist(), (hop, first, end)


def test_frame_rates_that_cannot_be() -> None:
    with pytest.raises(
        ValueError, match=r"frames_per_second must be above .*, got 0 - frames of 0.5 s are 2 per second"
    ):
        Timeline.of_frame_rate(0)
