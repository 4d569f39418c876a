"""How long decoding has to wait until an event is final."""

from __future__ import annotations

import numpy as np
import pytest
from decoding_cases import GRID, column, one_class, random_probs, random_settings, spans

from earmark.detection.decoding import decode, lookahead_seconds, median_frames
from earmark.detection.settings import ClassDecoding, Decoding

# --- laws ---


def test_an_event_is_final_when_the_lookahead_has_passed(rng: np.random.Generator) -> None:
    for _ in range(400):
        setting = ClassDecoding(
            threshold=0.6,
            median_seconds=float(rng.integers(0, 12)) / 10,
            max_gap_seconds=float(rng.integers(0, 6)) / 10,
            min_event_seconds=float(rng.integers(0, 4)) / 10,
        )
        decoding = Decoding("tuned", ("dog",), (setting,))
        probs = random_probs(rng, 60, 1)
        n_heard = int(rng.integers(1, 60))
        lookahead = lookahead_seconds(setting, timeline=GRID)
        by_then = n_heard * GRID.hop_seconds - lookahead + 1e-9
        so_far, in_the_end = (
            [event for event in decode(part, decoding=decoding, timeline=GRID) if event.offset <= by_then]
            for part in (probs[:n_heard], probs)
        )
        assert so_far == in_the_end


def test_silence_of_the_lookahead_makes_an_event_with_a_low_threshold_final(rng: np.random.Generator) -> None:
    for _ in range(400):
        setting = random_settings(rng)
        if setting.lower == 0:
            continue  # silence passes a threshold of 0
        decoding = Decoding("tuned", ("dog",), (setting,))
        window = median_frames(setting.median_seconds, timeline=GRID)
        n_silent = round(lookahead_seconds(setting, timeline=GRID) / GRID.hop_seconds) + window // 2
        probs = random_probs(rng, 60, 1)
        probs[30 : 30 + n_silent] = 0
        until = 30 + n_silent
        before_the_end = [
            event for event in decode(probs, decoding=decoding, timeline=GRID) if event.onset < GRID.seconds(until - 1)
        ]
        assert decode(probs[:until], decoding=decoding, timeline=GRID) == before_the_end


# --- worked numbers ---


def test_less_than_the_lookahead_is_not_enough() -> None:
    # Window of 3 frames, pauses of 2 closed: 1 + 2 + 1 frames. After 3 silent frames the pause can still be closed.
    decoding = one_class(median_seconds=0.3, max_gap_seconds=0.2)
    probs = column(1, 1, 1, 0, 0, 1, 1, 1)
    assert lookahead_seconds(decoding.settings[0], timeline=GRID) == pytest.approx(0.4)
    assert spans(probs[:5], decoding) == [(0.0, 0.3)]
    assert spans(probs, decoding) == [(0.0, 0.8)]
