from __future__ import annotations

import math

import pytest

from earmark.events import Event


def test_an_event_may_last_no_time() -> None:
    assert Event(1.5, 1.5, "click").duration == 0


@pytest.mark.parametrize(
    ("onset", "offset"),
    [(2.0, 1.0), (-0.1, 1.0), (math.nan, 1.0), (0.0, math.nan), (0.0, math.inf), ("0.5", 1.0), (0.5, None)],
)
def test_times_that_no_event_has(onset: float, offset: float) -> None:
    with pytest.raises(ValueError, match="an event must begin at 0 s or later and not end before it begins, got onset"):
        Event(onset, offset, "dog")


def test_events_can_be_compared_and_counted() -> None:
    same = Event(0.5, 1.0, "dog", 0.75), Event(0.5, 1.0, "dog", 0.75)
    assert len({*same, Event(0.5, 1.0, "cat", 0.75)}) == 2
    assert same[0] == same[1]
