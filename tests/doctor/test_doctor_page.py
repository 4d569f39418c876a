"""What the page concludes from several findings, or leaves out because of one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from doctor_cases import Made, findings, make

from earmark.doctor import examine
from earmark.doctor.report import as_json, as_text


@pytest.fixture
def small(tmp_path: Path) -> Made:
    return make(tmp_path, n_clips=40)


@pytest.mark.parametrize(("n_bark", "is_told"), [(8, True), (5, False)])
def test_a_class_that_has_far_more_than_its_share_of_what_is_wrong_is_named(
    small: Made, n_bark: int, is_told: bool
) -> None:
    for index in [*range(0, 40, 4)][:n_bark] + [*range(1, 40, 4)][: 10 - n_bark]:  # ten of thirty tagged clips
        small.put(index, np.zeros(1600, np.float32))
    page = as_text(examine(small.weak, audio=small.audio), next_command="")
    assert ("most often in bark (8 of 10)" in page) is is_told
    assert ("most often" in page) is is_told


def test_lengths_of_events_are_told_unless_their_times_are_in_another_unit(small: Made) -> None:
    reviewed = small.folder / "reviewed.tsv"
    reviewed.write_text("filename\tonset\toffset\tclasses\n" + "".join(f"{i:03d}.wav\t0\t200\t\n" for i in range(40)))
    found = examine(small.weak, audio=small.audio, strong=small.strong, reviewed=reviewed)
    assert [finding.code for finding in found.findings] == ["times-in-other-unit"]
    assert as_json(found)["classes"]["bark"]["median_seconds"] == pytest.approx(0.1)
    for event in small.events:
        event |= {key: f"{1000 * float(event[key]):g}" for key in ("onset", "offset") if key in event}
    small.write()
    found = examine(small.weak, audio=small.audio, strong=small.strong)
    assert as_json(found)["classes"]["bark"] == {"clips": 10}


def test_an_event_belongs_to_the_span_that_most_of_it_lies_in(small: Made) -> None:
    for cells in small.rows[:1]:
        cells |= {"onset": "0.1", "offset": "0.2"}
    small.add_row(0, onset="0", offset="0.1", event_labels="")
    small.drop_events(0)
    small.add_event(0, 0.09, 0.19, "bark")  # a tenth of it in the span without
    small.write()
    assert findings(small, split=None, group=None) == ()
    denied = small.add_event(0, 0.02, 0.08, "bark")
    small.write()
    (finding,) = findings(small, split=None, group=None)
    assert (finding.code, finding.where.rpartition("/")[2]) == ("event-without-tag", denied)
