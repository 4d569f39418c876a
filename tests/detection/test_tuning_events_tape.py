"""Many recordings on one tape, decoded at once."""

from __future__ import annotations

import numpy as np

from earmark.detection.decoding import decode
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.detection.tuning_events import Tape
from earmark.events import Event
from earmark.metrics.encoding import event_tables
from earmark.timeline import Timeline

GRID = Timeline(sample_rate=16000, hop_samples=1600)  # 0.1 s per frame


# --- laws ---


def test_the_tape_decodes_all_recordings_as_decode_does_each(rng: np.random.Generator) -> None:
    for _ in range(200):
        setting = ClassDecoding(
            threshold=0.6,
            low_threshold=float(rng.integers(1, 6)) / 10,
            median_seconds=float(rng.choice([0.0, rng.uniform(0, 4)])),
            max_gap_seconds=float(rng.choice([0.0, rng.uniform(0, 4)])),
            min_event_seconds=float(rng.uniform(0, 1)),
        )
        decoding = Decoding("tuned", ("dog",), (setting,))
        probs = {f"{number}.wav": rng.random((int(rng.integers(0, 30)), 1)) for number in range(5)}
        ends = {name: float(rng.uniform(0, 3)) for name in probs}
        truth, _, _ = event_tables({name: [] for name in probs}, {}, classes=["dog"])
        lengths = [
            min(len(values), GRID.n_frames(round(ends[name] * GRID.sample_rate))) for name, values in probs.items()
        ]
        tape = Tape.of(lengths, list(ends.values()), start=decoding, timeline=GRID)
        frames = np.concatenate([values[:n, 0] for values, n in zip(probs.values(), lengths, strict=True)])
        found = tape.found(frames[tape.source], setting, truth, class_index=0)
        one_by_one = [
            (index, event.onset, event.offset)
            for index, name in enumerate(probs)
            for event in decode(probs[name], decoding=decoding, timeline=GRID, duration_seconds=ends[name])
        ]
        assert list(zip(found.file_index, found.onset_seconds, found.offset_seconds, strict=True)) == one_by_one


# --- worked numbers ---


def test_marks_beyond_the_end_do_not_reach_into_the_next_recording() -> None:
    tape = Tape.of([4, 0, 3], [np.inf] * 3, start=Decoding.fixed(["dog"]), timeline=GRID)
    truth, _, _ = event_tables(
        {"a": [Event(0.2, 99, "dog")], "b": [Event(0, 1, "dog")], "c": [Event(0.1, 0.2, "dog")]}, {}, classes=["dog"]
    )
    assert tape.is_inside(truth).tolist() == [False, False, True, True, False, True, False]
