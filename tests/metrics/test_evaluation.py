from __future__ import annotations

import numpy as np
import pytest
from oracles.metrics_cases import cases, clips_case
from oracles.metrics_stored import as_events, assert_as_the_tool_says, tool_figures

from earmark.events import Event
from earmark.metrics.clip import clip_counts, tags_from_events
from earmark.metrics.collars import Collars
from earmark.metrics.evaluation import evaluate
from earmark.metrics.event import event_counts
from earmark.metrics.segment import segment_counts

# Laws


def test_the_three_levels_are_those_of_the_three_functions() -> None:
    for seed in range(90, 100):
        case = clips_case(seed)
        reference, predicted = as_events(case.reference), as_events(case.predicted)
        result = evaluate(reference, predicted, zero_length="keep")
        pairs = [
            (result.event, event_counts(reference, predicted, zero_length="keep")),
            (result.segment, segment_counts(reference, predicted, zero_length="keep")),
            (result.clip, clip_counts(tags_from_events(reference), tags_from_events(predicted))),
        ]
        for counts, expected in pairs:
            assert counts.classes == expected.classes
            np.testing.assert_array_equal(counts.f1, expected.f1)
            assert counts.substitutions == expected.substitutions


def test_one_switch_gives_sed_evals_own_figures_at_all_levels() -> None:
    for case in cases():
        if case.offset_fraction == 0.2 and case.segment_seconds == 1.0:
            result = evaluate(
                as_events(case.reference),
                as_events(case.predicted),
                compatible="sed_eval",
                durations=case.durations if case.durations else None,
            )
            for counts in result.levels:
                more = [result.segment.true_negatives] if counts.level == "segment" else []
                assert_as_the_tool_says(counts, tool_figures()[case.name][counts.level], more=more)


def test_reference_against_itself_is_one() -> None:
    reference = as_events(clips_case(91).reference)
    result = evaluate(reference, reference)
    assert [counts.macro.f1 for counts in result.levels] == [1.0, 1.0, 1.0]
    assert result.left_out.n_zero_length_reference == result.left_out.n_zero_length_predicted


# Worked numbers


def test_zero_length_events_are_dropped_at_all_levels() -> None:
    reference = {"a": [Event(0.0, 0.0, "dog"), Event(2.0, 3.0, "cat")]}
    result = evaluate(reference, {"a": [Event(2.0, 3.0, "cat")]})
    assert [counts.absent for counts in result.levels] == [("dog",), ("dog",), ("dog",)]
    assert result.left_out.n_zero_length_reference == 1
    kept = evaluate(reference, {"a": [Event(2.0, 3.0, "cat")]}, zero_length="keep")
    assert [counts.absent for counts in kept.levels] == [(), ("dog",), ()]  # at 0 s it is on the border of two segments
    assert kept.clip.macro.f1 == 0.5


def test_derived_tags_and_events_agree_on_what_has_no_length() -> None:
    # The two ends differ in the last bit and are the same nanosecond: no event, so no tag.
    blink = {"a": [Event(3.0, 3.0000000000000004, "dog"), Event(2.0, 3.0, "cat")]}
    assert blink["a"][0].onset < blink["a"][0].offset
    result = evaluate(blink, {"a": [Event(2.0, 3.0, "cat")]})
    assert (result.event.absent, result.clip.absent) == (("dog",), ("dog",))
    result = evaluate({"a": [Event(2.0, 3.0, "cat")]}, blink)
    assert (result.event.absent, result.clip.absent) == (("dog",), ("dog",))


def test_zero_length_events_are_kept_where_sed_eval_keeps_them() -> None:
    reference = {"a": [Event(0.0, 0.0, "dog")]}
    assert evaluate(reference, reference, compatible="sed_eval").event.true_positives.tolist() == [1]
    assert evaluate(reference, reference, compatible="sed_eval").zero_length == "keep"
    assert evaluate(reference, reference, compatible="sed_eval", zero_length="drop").event.absent == ("dog",)


def test_given_tags_replace_those_of_the_events() -> None:
    reference, predicted = {"a": [Event(0, 1, "dog")], "b": []}, {"a": [Event(5, 6, "dog")], "b": []}
    derived = evaluate(reference, predicted)
    assert derived.clip.macro.f1 == 1.0
    assert (derived.has_reference_tags, derived.has_predicted_tags) == (False, False)
    one = evaluate(reference, predicted, reference_tags={"a": {"dog"}, "b": {"dog"}})
    assert one.clip.macro.recall == 0.5
    assert (one.has_reference_tags, one.has_predicted_tags) == (True, False)
    both = evaluate(reference, predicted, reference_tags={"a": {"dog"}}, predicted_tags={"a": {"owl"}, "c": set()})
    assert both.clip.classes == ("dog", "owl") == both.event.classes
    assert both.clip.macro.f1 == 0.0
    assert (both.n_clips, both.n_files) == (1, 2)
    assert both.left_out_tags.ignored_files == ("c",)


def test_derived_tags_leave_out_their_own_number() -> None:
    ignored = [Event(0, 1, "dog"), Event(2, 3, "dog"), Event(4, 4, "owl")]
    reference = {"a": [Event(0, 1, "dog"), Event(2, 2, "dog")], "b": []}
    result = evaluate(reference, {"a": [Event(0, 1, "dog")], "c": ignored})
    assert (result.left_out.n_ignored, result.left_out_tags.n_ignored) == (3, 1)
    assert result.left_out_tags.ignored_files == ("c",)
    assert (result.left_out_tags.n_unpredicted_files, result.left_out_tags.n_zero_length_reference) == (1, 0)


def test_reference_tags_may_name_clips_that_the_strong_list_does_not() -> None:
    result = evaluate(
        {"a": [Event(0, 1, "dog")]},
        {"a": [Event(0, 1, "dog")], "b": [Event(0, 1, "dog")]},
        reference_tags={"a": {"dog"}, "b": {"dog"}},
    )
    assert result.clip.true_positives.tolist() == [2]
    assert result.left_out.ignored_files == ("b",)
    assert result.left_out_tags.ignored_files == ()


def test_a_file_under_another_case_or_extension_is_a_near_miss() -> None:
    def near_miss(reference: list[str], predicted: list[str]) -> tuple[str, str] | None:
        events = [Event(0, 1, "dog")]
        return evaluate(dict.fromkeys(reference, events), dict.fromkeys(predicted, events)).near_miss

    assert near_miss(["same.wav", "Day 1/A.wav"], ["same.wav", "z.wav", "day 1/a.WAV"]) == (
        "day 1/a.WAV",
        "Day 1/A.wav",
    )
    assert near_miss(["same.wav", "a.wav"], ["same.wav", "a.flac", "a.mp3"]) == ("a.flac", "a.wav")
    assert near_miss(["same.wav", "a.wav"], ["same.wav", "a"]) == ("a", "a.wav")
    assert near_miss(["same.wav", "T\u00fcr.wav"], ["same.wav", "Tu\u0308r.mp3"]) == ("Tu\u0308r.mp3", "T\u00fcr.wav")
    # Nothing is nearly the same: other names, numbers that are no extension, and a file that is there as well.
    assert near_miss(["same.wav", "a.wav"], ["same.wav", "b/a.wav", "ab.wav"]) is None
    assert near_miss(["same.wav", "take 1.5"], ["same.wav", "take 1.6"]) is None
    assert near_miss(["a.wav"], ["a.wav", "a.flac"]) is None
    assert near_miss(["same.wav", "a.wav"], ["same.wav"]) is None


def test_near_misses_of_tags_are_those_of_the_tag_lists() -> None:
    events = {"a.wav": [Event(0, 1, "dog")]}
    tags = {"a.wav": {"dog"}, "b.wav": {"dog"}}
    result = evaluate(events, events, reference_tags=tags, predicted_tags={"a.wav": {"dog"}, "B.wav": {"dog"}})
    assert (result.near_miss, result.near_miss_tags) == (None, ("B.wav", "b.wav"))


def test_last_offsets_are_those_of_the_events_that_count() -> None:
    reference = {"a": [Event(0, 4, "dog"), Event(9, 9, "dog")], "b": [Event(0, 1, "dog")]}
    predicted = {"a": [Event(0, 3, "dog")], "b": [Event(0, 2, "dog")], "c": [Event(0, 7, "dog")]}
    assert evaluate(reference, predicted).last_offsets_seconds == (4.0, 3.0)
    assert evaluate(reference, {"a": []}).last_offsets_seconds == (4.0, 0.0)


def test_settings_reach_the_counting() -> None:
    reference, predicted = {"a": [Event(0, 1, "dog")]}, {"a": [Event(0.3, 1, "dog")]}
    assert evaluate(reference, predicted).event.macro.f1 == 0.0
    assert evaluate(reference, predicted, collars=Collars(onset_seconds=0.5)).event.macro.f1 == 1.0
    assert evaluate(reference, predicted, segment_seconds=0.1).segment.macro.recall == pytest.approx(0.7)
    assert evaluate(reference, predicted, durations={"a": 7.0}).segment.n_segments == 7
    assert evaluate(reference, predicted, classes=["owl", "dog"]).event.absent == ("owl",)
    assert evaluate(reference, predicted, compatible="sed_eval").collars.tolerance_seconds == 0


# Wrong input


def test_wrong_input_is_named() -> None:
    good = {"a.wav": [Event(0, 1, "dog")]}
    with pytest.raises(
        ValueError,
        match=r"predicted must have files of the reference, got 1 others, such as 'a.flac'; "
        r"the reference has 'a.wav' - another folder or extension\?",
    ):
        evaluate(good, {"a.flac": [Event(0, 1, "dog")]})
    with pytest.raises(ValueError, match=r"predicted_tags must have files of the reference, got 1 others, such as 'b'"):
        evaluate(good, good, predicted_tags={"b": {"dog"}})
    with pytest.raises(ValueError, match=r"reference must have at least one file, got none - is the table empty\?"):
        evaluate({}, good)
    with pytest.raises(ValueError, match="unknown class 'dog'"):
        evaluate(good, good, classes=["cat"])
    with pytest.raises(ValueError, match="compatible must be one of sed_eval, got 'psds'"):
        evaluate(good, good, compatible="psds")
    with pytest.raises(ValueError, match="zero_length must be one of drop, keep, got 'dropped'"):
        evaluate(good, good, zero_length="dropped")
