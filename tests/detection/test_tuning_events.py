"""All settings from events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from earmark.detection.decoding import decode
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.detection.tuning_events import LENGTHS_SECONDS, LOW_FRACTIONS, THRESHOLDS, tune_from_events
from earmark.events import Event
from earmark.metrics.collars import Collars
from earmark.metrics.event import event_counts
from earmark.timeline import Timeline

GRID = Timeline(sample_rate=16000, hop_samples=1600)  # 0.1 s per frame
CLASSES = ("cat", "dog")
Recordings = tuple[dict[str, np.ndarray], dict[str, list[Event]], dict[str, float]]


def random_recordings(rng: np.random.Generator, *, n_recordings: int = 8) -> Recordings:
    """Noisy probabilities that rise during the events; recordings of many lengths, one of them without a frame."""
    probs: dict[str, np.ndarray] = {}
    reference: dict[str, list[Event]] = {}
    durations: dict[str, float] = {}
    for number in range(n_recordings):
        name = f"{number}.wav"
        n_frames = int(rng.integers(20, 80)) if number > 0 else 0
        logits = rng.normal(-2, 1.5, size=(n_frames, len(CLASSES)))
        reference[name] = []
        for index, label in enumerate(CLASSES):
            onset = float(rng.uniform(0, 4))
            event = Event(onset, onset + float(rng.uniform(0.5, 3)), label)  # may reach beyond the end
            reference[name].append(event)
            logits[GRID.frame(event.onset) : GRID.frame(event.offset), index] += 4
        probs[name] = (1 / (1 + np.exp(-logits))).astype(np.float32)
        durations[name] = max(0.0, GRID.seconds(n_frames) - float(rng.uniform(-0.5, 0.5)))
    return probs, reference, durations


def f1_of(
    decoding: Decoding,
    probs: Mapping[str, np.ndarray],
    reference: Mapping[str, Sequence[Event]],
    durations: Mapping[str, float] | None = None,
    *,
    fraction: float = 0.2,
) -> dict[str, float]:
    """The long way: decode every recording by itself, then evaluate."""
    predicted = {
        name: decode(
            values, decoding=decoding, timeline=GRID, duration_seconds=None if durations is None else durations[name]
        )
        for name, values in probs.items()
    }
    counts = event_counts(reference, predicted, classes=decoding.classes, offset_collar_fraction=fraction)
    return dict(zip(decoding.classes, counts.f1.tolist(), strict=True))


# --- laws ---


def test_the_f1_is_that_of_decoding_and_evaluating_one_by_one(rng: np.random.Generator) -> None:
    for with_durations in (True, False):
        probs, reference, durations = random_recordings(rng)
        ends = durations if with_durations else None
        start = Decoding("tuned", CLASSES, (ClassDecoding(median_seconds=2.5, max_gap_seconds=7.0), ClassDecoding()))
        tuned = tune_from_events(probs, reference, start=start, timeline=GRID, durations_seconds=ends)
        assert tuned.decoding.mode == "tuned"
        assert tuned.untuned == ()
        assert tuned.f1 == f1_of(tuned.decoding, probs, reference, ends)
        before = f1_of(start, probs, reference, ends)
        assert all(tuned.f1[label] > before[label] for label in CLASSES)


def test_no_change_of_one_setting_is_better(rng: np.random.Generator) -> None:
    probs, reference, _ = random_recordings(rng, n_recordings=30)
    tuned = tune_from_events(probs, reference, start=Decoding.fixed(CLASSES), timeline=GRID)
    one_change = [{"threshold": value} for value in THRESHOLDS] + [{"low_fraction": value} for value in LOW_FRACTIONS]
    one_change += [
        {name: seconds}
        for name in ("median_seconds", "max_gap_seconds", "min_event_seconds")
        for seconds in LENGTHS_SECONDS
    ]
    for change in one_change:
        others = []
        for setting in tuned.decoding.settings:
            threshold = change.get("threshold", setting.threshold)
            low_fraction = change.get("low_fraction", setting.lower / setting.threshold)
            lengths = {name: value for name, value in change.items() if name.endswith("seconds")}
            others.append(replace(setting, threshold=threshold, low_threshold=low_fraction * threshold, **lengths))
        reached = f1_of(Decoding("tuned", CLASSES, tuple(others)), probs, reference)
        assert all(reached[label] <= tuned.f1[label] for label in CLASSES)


def test_it_does_not_matter_which_median_window_there_is_to_start_with(rng: np.random.Generator) -> None:
    probs, reference, _ = random_recordings(rng)
    reached = []
    for seconds in LENGTHS_SECONDS:
        start = Decoding("fixed", CLASSES, (ClassDecoding(median_seconds=seconds),) * 2)
        reached.append(tune_from_events(probs, reference, start=start, timeline=GRID).f1)
    assert all(one == reached[0] for one in reached)


def test_classes_and_the_order_of_recordings_do_not_matter_to_each_other(rng: np.random.Generator) -> None:
    probs, reference, _ = random_recordings(rng)
    together = tune_from_events(probs, reference, start=Decoding.fixed(CLASSES), timeline=GRID)
    alone = tune_from_events(
        {name: probs[name][:, 1:] for name in reversed(probs)},
        {name: [event for event in events if event.label == "dog"] for name, events in reference.items()},
        start=Decoding.fixed(["dog"]),
        timeline=GRID,
    )
    assert alone.decoding.of("dog") == together.decoding.of("dog")
    assert alone.f1["dog"] == together.f1["dog"]


def test_what_lies_behind_the_end_of_a_recording_does_not_matter(rng: np.random.Generator) -> None:
    probs, reference, durations = random_recordings(rng)
    padded = {name: np.concatenate([values, np.ones((30, 2), dtype=np.float32)]) for name, values in probs.items()}
    ends = {name: min(durations[name], GRID.seconds(len(values))) for name, values in probs.items()}
    assert tune_from_events(
        padded, reference, start=Decoding.fixed(CLASSES), timeline=GRID, durations_seconds=ends
    ) == tune_from_events(probs, reference, start=Decoding.fixed(CLASSES), timeline=GRID, durations_seconds=ends)


# --- worked numbers ---


def tune_dog(
    probs: list[float],
    events: list[tuple[float, float]],
    *,
    start: ClassDecoding | None = None,
    collars: Collars | None = None,
) -> ClassDecoding:
    """One recording of one class, the settings that come out."""
    setting = ClassDecoding() if start is None else start
    tuned = tune_from_events(
        {"a.wav": np.array(probs)[:, None]},
        {"a.wav": [Event(*span, "dog") for span in events]},
        start=Decoding("fixed", ("dog",), (setting,)),
        timeline=GRID,
        collars=Collars() if collars is None else collars,
    )
    assert tuned.f1 == {"dog": 1.0}
    return tuned.decoding.of("dog")


def test_what_is_right_already_stays() -> None:
    start = ClassDecoding(threshold=0.52, median_seconds=0.3, clip_threshold=0.123)
    assert tune_dog([0.1] * 5 + [0.9] * 10 + [0.1] * 5, [(0.5, 1.5)], start=start) == start


def test_a_pause_is_closed() -> None:
    # 0.2 s of sound, a pause of 0.3 s, 0.2 s of sound are one event. Every median window of 0.4 s or more (5 frames)
    # makes the sounds of 2 frames vanish; of the gaps in the list 0.4 s is the first that is not shorter than 0.3 s.
    silence, sound = [0.0] * 20, [0.9] * 2
    probs = [*silence, *sound, 0.0, 0.0, 0.0, *sound, *silence, *sound, *silence]
    assert tune_dog(probs, [(2.0, 2.7), (4.7, 4.9)]) == ClassDecoding(max_gap_seconds=0.4)


def test_the_search_goes_round_until_nothing_changes() -> None:
    # As above, with a false alarm of the same form and probability 0.6. No threshold is of use before the pause is
    # closed, and thresholds come first: 0.65, the first in the list above 0.6, is found in the second round.
    silence, event, false_alarm = [0.0] * 20, [0.9, 0.9, 0, 0, 0, 0.9, 0.9], [0.6, 0.6, 0, 0, 0, 0.6, 0.6]
    setting = tune_dog([*silence, *event, *silence, *false_alarm, *silence], [(2.0, 2.7)])
    assert setting == ClassDecoding(threshold=0.65, max_gap_seconds=0.4)


def test_short_false_alarms_are_dropped() -> None:
    # Three false alarms of 0.3 s beside an event of 1 s, all equally sure. A median of 0.8 s (9 frames) removes them
    # and keeps 10 frames, and is looked for before the shortest length.
    silence = [0.0] * 20
    probs = [*silence, *[0.9] * 3, *silence, *[0.9] * 3, *silence, *[0.9] * 3, *silence, *[0.9] * 10, *silence]
    assert tune_dog(probs, [(8.9, 9.9)]) == ClassDecoding(median_seconds=0.8)


def test_a_low_threshold_keeps_its_distance_while_the_threshold_moves() -> None:
    # The event is 0.74 with a peak of 0.95, the false alarm 0.74 with a peak of 0.8: only a threshold above 0.8 with a
    # low one of at most 0.74 is right. 0.4 is 0.8 of 0.5; the first in the list above 0.8 is 0.85, and 0.8 of that is
    # 0.68. If the two were equal to start with, both would have to change at once.
    silence, sound = [0.0] * 20, [0.74] * 5
    probs = [*silence, *sound, *[0.95] * 5, *sound, *silence, *sound, *[0.8] * 5, *sound, *silence]
    setting = tune_dog(probs, [(2.0, 3.5)], start=ClassDecoding(low_threshold=0.4))
    assert setting.threshold == 0.85
    assert setting.low_threshold == pytest.approx(0.68)


def test_a_threshold_of_0_is_a_beginning_like_any_other() -> None:
    setting = tune_dog([0.1] * 5 + [0.9] * 10 + [0.1] * 5, [(0.5, 1.5)], start=ClassDecoding(threshold=0.0))
    assert setting == ClassDecoding(threshold=0.5)


def test_thresholds_far_from_the_list_are_found_among_the_probabilities() -> None:
    # Nothing reaches 0.05, the lowest in the list: the deciles of the frames inside are 0.004, and noise has 0.002.
    assert tune_dog([0.002] * 10 + [0.004] * 10 + [0.002] * 10, [(1.0, 2.0)]).threshold == pytest.approx(0.004)


def test_events_end_with_their_recording() -> None:
    # Frames of 1 s in 2.5 s: the event ends at 2.5, as the reference does, and not at 3.0, a collar of 0.3 s away.
    tuned = tune_from_events(
        {"a.wav": [[0.1], [0.9], [0.9]]},
        {"a.wav": [Event(1.0, 2.5, "dog")]},
        start=Decoding.fixed(["dog"]),
        timeline=Timeline(sample_rate=10, hop_samples=10),
        durations_seconds={"a.wav": 2.5},
    )
    assert tuned.f1 == {"dog": 1.0}


def test_collars_are_those_asked_for(rng: np.random.Generator) -> None:
    probs, reference, _ = random_recordings(rng)
    tuned = tune_from_events(
        probs, reference, start=Decoding.fixed(CLASSES), timeline=GRID, collars=Collars(offset_fraction=0.8)
    )
    assert tuned.f1 == f1_of(tuned.decoding, probs, reference, fraction=0.8)
    assert tuned.f1 != f1_of(tuned.decoding, probs, reference)


def test_classes_without_events_keep_their_settings() -> None:
    start = Decoding("duration", CLASSES, (ClassDecoding(median_seconds=0.7, clip_threshold=0.4), ClassDecoding()))
    probs = np.array([[0.9] * 5 + [0.1] * 5, [0.1] * 5 + [0.9] * 5]).T
    tuned = tune_from_events(
        {"a.wav": probs}, {"a.wav": [Event(0.5, 1.0, "dog"), Event(0.2, 0.2, "cat")]}, start=start, timeline=GRID
    )
    assert tuned.untuned == ("cat",)  # an event without a length is left out, as in evaluation
    assert tuned.decoding == Decoding("tuned", CLASSES, start.settings)
    assert tuned.f1 == {"dog": 1.0}


def test_names_in_two_unicode_forms_are_one_recording() -> None:
    composed, decomposed = "m\u00fc.wav", "mu\u0308.wav"
    for one, other in ((composed, decomposed), (decomposed, composed)):
        tuned = tune_from_events(
            {one: np.full((10, 1), 0.9)},
            {other: [Event(0, 1, "dog")]},
            start=Decoding.fixed(["dog"]),
            timeline=GRID,
            durations_seconds={one: 1.0},
        )
        assert tuned.f1 == {"dog": 1.0}


# --- wrong input ---


def test_recordings_that_are_missing_somewhere() -> None:
    probs, start = np.full((10, 1), 0.5), Decoding.fixed(["dog"])
    with pytest.raises(ValueError, match=r"reference must name every recording of frame_probs, 'b.wav' is missing"):
        tune_from_events({"a.wav": probs, "b.wav": probs}, {"a.wav": []}, start=start, timeline=GRID)
    with pytest.raises(ValueError, match=r"frame_probs must have every recording of the reference, 'b.wav' is"):
        tune_from_events({"a.wav": probs}, {"a.wav": [], "b.wav": []}, start=start, timeline=GRID)
    with pytest.raises(ValueError, match="reference must name at least one recording, got none"):
        tune_from_events({}, {}, start=start, timeline=GRID)
    with pytest.raises(ValueError, match=r"durations_seconds must name every recording, 'a.wav' is missing"):
        tune_from_events({"a.wav": probs}, {"a.wav": []}, start=start, timeline=GRID, durations_seconds={"b.wav": 1.0})


def test_wrong_probabilities_are_named_with_their_recording() -> None:
    with pytest.raises(ValueError, match=r"frame_probs\['a.wav'\] must be from 0 to 1, got nan in frame 0"):
        tune_from_events({"a.wav": [[np.nan]]}, {"a.wav": []}, start=Decoding.fixed(["dog"]), timeline=GRID)


def test_unknown_classes() -> None:
    with pytest.raises(ValueError, match="unknown class 'dgo'"):
        tune_from_events(
            {"a.wav": [[0.5]]}, {"a.wav": [Event(0, 1, "dgo")]}, start=Decoding.fixed(["dog"]), timeline=GRID
        )
