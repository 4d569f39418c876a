"""The official validation lists against seven kinds of predictions, compared with sed_eval's own figures."""

from __future__ import annotations

import pytest
from oracles.frozen import OFFICIAL_FOLDER, frozen
from oracles.metrics_cases import fingerprint, labels
from oracles.metrics_stored import as_events, assert_accuracies, assert_as_the_tool_says, assert_errors
from oracles.official_lists import OFFICIAL, official_cases, sha256_of_list

from earmark.metrics.clip import clip_counts, tags_from_events
from earmark.metrics.event import event_counts
from earmark.metrics.segment import segment_counts

pytestmark = pytest.mark.skipif(
    not all((OFFICIAL_FOLDER / one.path).is_file() for one in OFFICIAL.values()),
    reason="the official lists are not in shared/data beside this checkout; they may not be handed on with it",
)


@pytest.mark.parametrize("name", OFFICIAL)
def test_official_lists_give_sed_evals_own_figures(name: str) -> None:
    stored = frozen("sed_eval_official.json.gz")
    assert sha256_of_list(OFFICIAL_FOLDER, OFFICIAL[name]) == stored["lists"][name], "another edition of the list"
    cases = official_cases(OFFICIAL_FOLDER, name)
    assert fingerprint(cases) == stored["cases"][name]
    for case in cases:
        tool = stored["figures"][case.name]
        sides = as_events(case.reference), as_events(case.predicted)
        events = event_counts(*sides, classes=labels(case), compatible="sed_eval")
        assert_as_the_tool_says(events, tool["event"])
        assert_errors(events, tool["event"])
        segments = segment_counts(*sides, classes=labels(case), compatible="sed_eval")
        assert_as_the_tool_says(segments, tool["segment"], more=[segments.true_negatives])
        assert_errors(segments, tool["segment"])
        assert_accuracies(segments, tool["segment"])
        tags = [tags_from_events(side) for side in sides]
        assert_as_the_tool_says(clip_counts(*tags, classes=labels(case), compatible="sed_eval"), tool["clip"])
