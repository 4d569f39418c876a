"""Times in label files that no recording has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from earmark.audio.spans import TOLERANCE_SECONDS, late_offset, late_onset
from earmark.doctor.data_set import DataSet
from earmark.doctor.findings import ERROR, Finding
from earmark.doctor.listening import Sound

# A unit is another one for certain when most files have times that late; the odd one is told row by row.
_OTHER_UNIT_FACTOR, _MOST_FILES = 10.0, 0.5

_REFUSED_FACTOR = 20.0  # by training


class Span(NamedTuple):
    """From when to when, and where that is written."""

    name: str
    onset: float
    offset: float
    where: str


def time_findings(data: DataSet) -> list[Finding]:
    """Return what is wrong with the times of spans and events: after the end of the file, or not in seconds."""
    spans = [
        Span(clip.filename, clip.onset, clip.offset, clip.where)
        for clip in data.clips
        if clip.onset is not None and clip.offset is not None
    ]
    events = [
        Span(name, event.onset, event.offset, event.where)
        for name, of_file in ({} if data.events is None else data.events).items()
        for event in of_file
    ]
    stretches = [
        Span(row.filename, row.onset, row.offset, row.where)
        for row in (() if data.reviewed is None else data.reviewed)
        if row.onset is not None and row.offset is not None
    ]
    heard = data.heard
    return (
        _late(spans, heard, "span-beyond-end")
        + _late(events, heard, "event-beyond-end")
        + _late(stretches, heard, "span-beyond-end")
    )


def _late(spans: Sequence[Span], heard: dict[str, Sound], code: str) -> list[Finding]:
    """Spans that end after their recording; one finding for all of them when they are in another unit."""
    spans = [span for span in spans if span.name in heard]
    unit = _other_unit(spans, heard)
    if unit:
        late = [span for span in spans if span.offset > heard[span.name].seconds + TOLERANCE_SECONDS]
        worst = late[0]
        found = (
            f"{len(late):,} of {len(spans):,} rows end after their recording, this one at"
            f" {worst.offset:g} in one of {heard[worst.name].seconds:.2f} s - are the times in {unit}?"
        )
        return [Finding("times-in-other-unit", worst.where, worst.name, found)]
    findings = []
    for span in spans:
        end = heard[span.name].seconds
        if span.onset >= end and span.offset > end:  # training stops at events there, and finds nothing in spans
            findings.append(Finding(code, span.where, span.name, late_onset(span.onset, end), ERROR))
        elif remark := late_offset(span.onset, span.offset, end):
            # Training cuts what is a little late, and stops at what cannot be meant.
            severity = ERROR if span.offset > _REFUSED_FACTOR * end else ""
            findings.append(Finding(code, span.where, span.name, remark, severity))
    return findings


def _other_unit(spans: Sequence[Span], heard: dict[str, Sound]) -> str:
    """The unit in which nearly all times fit their recordings, when in seconds they do not; empty for seconds."""
    last: dict[str, float] = {}
    for span in spans:
        last[span.name] = max(last.get(span.name, 0.0), span.offset)
    if not last:
        return ""
    ratios = np.array([offset / heard[name].seconds for name, offset in last.items()])
    if np.mean(ratios > _OTHER_UNIT_FACTOR) < _MOST_FILES:
        return ""
    rate = Counter(heard[name].sample_rate for name in last).most_common(1)[0][0]
    for per_second, unit in ((100, "hundredths of a second"), (1000, "milliseconds"), (rate, "samples")):
        if np.mean(ratios / per_second < 1.05) > 0.9:
            return unit
    return "another unit than seconds"
