"""From events in seconds to labels of frames: against an oracle that counts samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from earmark.events import Event
from earmark.timeline import Timeline
from earmark.training.strong_labels import Complete, StrongLabels, frame_labels, output_labels

GRID = Timeline(sample_rate=1000, hop_samples=20)  # feature frames of 20 ms
REDUCTION = 2  # output frames of 40 ms
CLASSES = ("cat", "dog")


def labelled(strong: StrongLabels, *, n_output: int, shift: int = 0) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Labels of output frames of a clip that was rolled by some feature frames, each (output frames, classes)."""
    shares, known = frame_labels(
        strong, CLASSES, n_frames=n_output * REDUCTION, timeline=GRID, time_reduction=REDUCTION
    )
    rolled = (torch.from_numpy(np.roll(array, shift, axis=0))[None] for array in (shares, known))
    tags, is_known = output_labels(*rolled, time_reduction=REDUCTION)
    return tags[0].numpy(), is_known[0].numpy()


def covered_samples(events: list[tuple[int, int]], *, n_output: int, shift: int) -> NDArray[np.intp]:
    """The oracle: samples of every output frame that lie in an event, of a clip rolled by some feature frames."""
    samples = np.zeros(n_output * 40, dtype=bool)
    for first, end in events:
        samples[first:end] = True
    return np.roll(samples, shift * 20).reshape(n_output, 40).sum(axis=1)


def random_events(rng: np.random.Generator, n_samples: int) -> list[tuple[int, int]]:
    """Events of all lengths, some overlapping, in samples."""
    firsts = rng.integers(0, n_samples - 2, rng.integers(1, 5))
    return [(int(first), int(min(n_samples, first + rng.integers(1, 130)))) for first in firsts]


# --- laws ---


def test_a_frame_is_positive_when_events_cover_half_of_it_and_every_event_gets_one(rng: np.random.Generator) -> None:
    for _ in range(200):
        n_output, shift = int(rng.integers(3, 12)), int(rng.integers(-9, 10))
        events = random_events(rng, n_output * 40)
        strong = StrongLabels(tuple(Event(a / 1000, b / 1000, "dog") for a, b in events), (Complete(),))
        tags, known = labelled(strong, n_output=n_output, shift=shift)
        assert known.all()
        assert not tags[:, 0].any()
        covered = covered_samples(events, n_output=n_output, shift=shift)
        assert tags[covered >= 20, 1].all()
        wrong = np.flatnonzero((covered < 20) & (tags[:, 1] > 0))
        for frame in wrong:  # only the one frame of an event shorter than a frame
            lone = [covered_samples([event], n_output=n_output, shift=shift) for event in events]
            assert any(one[frame] > 0 and one[frame] == one.max() and one.max() < 20 for one in lone)
        for first, end in events:
            assert tags[covered_samples([(first, end)], n_output=n_output, shift=shift) > 0, 1].any()


def test_outside_the_reviewed_stretch_only_events_are_known(rng: np.random.Generator) -> None:
    for _ in range(50):
        events = random_events(rng, 400)
        begin, end = sorted(rng.choice(np.arange(0, 420, 20), 2, replace=False) / 1000)
        strong = StrongLabels(
            tuple(Event(a / 1000, b / 1000, "dog") for a, b in events), (Complete(begin, end, frozenset({"dog"})),)
        )
        tags, known = labelled(strong, n_output=10)
        frames = np.arange(10) * 0.04
        inside = (frames >= begin - 1e-9) & (frames + 0.04 <= end + 1e-9)
        assert known[:, 1].tolist() == (inside | (tags[:, 1] > 0)).tolist()
        assert not known[:, 0].any()  # nobody listened for cats


def test_what_is_known_of_a_part_is_what_is_known_there() -> None:
    strong = StrongLabels((Event(0.1, 0.3, "dog"), Event(0.36, 0.4, "cat")), (Complete(0.0, 0.2), Complete(0.28, 0.4)))
    whole = labelled(strong, n_output=10)
    part = labelled(strong.within(0.08, 0.36), n_output=7)
    for all_frames, some_frames in zip(whole, part, strict=True):
        np.testing.assert_array_equal(all_frames[2:9], some_frames)


# --- worked numbers ---


def test_the_shares_of_one_event() -> None:
    # 30 to 75 ms: half of frame 1, frame 2, and 15 of 20 ms of frame 3. Output frames: 25 %, 87.5 %.
    strong = StrongLabels((Event(0.03, 0.075, "dog"),), (Complete(),))
    shares, _ = frame_labels(strong, CLASSES, n_frames=6, timeline=GRID, time_reduction=2)
    np.testing.assert_allclose(shares[:, 1], [0, 0.5, 1, 0.75, 0, 0])
    assert labelled(strong, n_output=3)[0][:, 1].tolist() == [0, 1, 0]
    # One feature frame later: frames 2 to 4; output frames of 75 % and 37.5 %.
    assert labelled(strong, n_output=3, shift=1)[0][:, 1].tolist() == [0, 1, 0]
    # Two less: the clip has 6 frames, the first half frame comes back at its end.
    assert labelled(strong, n_output=3, shift=-2)[0][:, 1].tolist() == [1, 0, 0]


def test_two_touching_events_count_as_one_and_two_marks_of_one_event_count_once() -> None:
    touching = StrongLabels((Event(0.0, 0.012, "dog"), Event(0.012, 0.02, "dog")), (Complete(),))
    twice = StrongLabels((Event(0.0, 0.012, "dog"), Event(0.0, 0.012, "dog"), Event(0.3, 0.4, "dog")), (Complete(),))
    assert frame_labels(touching, CLASSES, n_frames=20, timeline=GRID, time_reduction=1)[0][0, 1] == 1.0
    assert frame_labels(twice, CLASSES, n_frames=20, timeline=GRID, time_reduction=1)[0][0, 1] == np.float32(0.6)


def test_an_event_of_no_length_makes_its_class_unknown_where_no_other_event_is() -> None:
    strong = StrongLabels((Event(0.0, 0.0, "dog"), Event(0.08, 0.16, "dog")), (Complete(),))
    tags, known = labelled(strong, n_output=5)
    assert tags[:, 1].tolist() == [0, 0, 1, 1, 0]
    assert known.astype(int).tolist() == [[1, 0], [1, 0], [1, 1], [1, 1], [1, 0]]


@pytest.mark.parametrize(
    ("spans", "is_complete"),
    [
        ([(0.0, math.inf)], True),
        ([(0.0, 4.0), (3.9, math.inf)], True),
        ([(0.02, 4.0), (4.03, math.inf)], True),  # nobody writes down every centisecond
        ([(0.0, 4.0)], False),
        ([(0.0, 4.0), (5.0, math.inf)], False),
        ([(1.0, math.inf)], False),
        ([], False),
    ],
)
def test_a_clip_is_complete_when_its_reviewed_stretches_leave_no_gap(
    spans: list[tuple[float, float]], is_complete: bool
) -> None:
    strong = StrongLabels((), tuple(Complete(*span, frozenset({"dog"})) for span in spans))
    assert strong.is_complete("dog") is is_complete
    assert not strong.is_complete("cat")
