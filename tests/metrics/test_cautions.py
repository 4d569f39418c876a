from __future__ import annotations

import pytest

from earmark.events import Event
from earmark.metrics.cautions import cautions
from earmark.metrics.evaluation import Evaluation, evaluate


def dogs(*ends: float) -> dict[str, list[Event]]:
    """A dog from 0 s on in each of the files a, b, c ..."""
    return {name: [Event(0.0, end, "dog")] for name, end in zip("abcdef", ends, strict=False)}


@pytest.fixture
def evaluation() -> Evaluation:
    """Two dogs, one found; a cat made up; an owl that was never heard; a file nobody listened to."""
    reference = {"a": [Event(1.0, 2.0, "dog"), Event(4.0, 5.0, "dog"), Event(0.0, 0.0, "owl")], "b": [], "c": []}
    predicted = {"a": [Event(1.0, 2.0, "dog")], "b": [Event(0.0, 1.0, "cat")], "z": [Event(0.0, 1.0, "cat")]}
    return evaluate(reference, predicted)


# Laws


def test_nothing_to_say_is_nothing_said() -> None:
    reference = {"a": [Event(1.0, 2.0, "dog")]}
    assert cautions(evaluate(reference, reference)) == []


# Worked numbers


def test_cautions_name_everything_that_does_not_count(evaluation: Evaluation) -> None:
    assert cautions(evaluation) == [
        "1 event of zero length was dropped (1 reference, 0 predicted); --zero-length keep counts them",
        "1 predicted file is not in the reference: 1 event ignored (first: z)",
        "1 reference file without any predicted row: nothing was found there",
        "on neither side, so left out of the event, segment and clip means: owl",
        "the class 'cat' is predicted, but not one reference has it",
        "no reference to divide by, so left out of the event, segment and clip mean of error rates: cat",
    ]


def test_ignored_tags_are_named_where_they_are_not_those_of_the_events() -> None:
    events = {"a": [Event(1.0, 2.0, "dog")]}
    result = evaluate(events, events, predicted_tags={"a": {"dog"}, "y": {"cat", "dog"}, "z": {"cat"}})
    assert cautions(result) == [
        "2 predicted files are not in the reference: 3 tags ignored (first: y)",
        "on neither side, so left out of the event, segment and clip means: cat",
    ]
    result = evaluate(events, events, reference_tags={"a": {"dog", "owl"}})
    assert cautions(result) == ["on neither side, so left out of the event and segment means: owl"]


def test_classes_that_sed_eval_leaves_out_of_macro_f1_are_named() -> None:
    reference = {"a": [Event(1.0, 2.0, "dog"), Event(4.0, 5.0, "owl")]}
    predicted = {"a": [Event(1.0, 2.0, "dog"), Event(4.0, 5.0, "cat")]}
    made_up = "the class 'cat' is predicted, but not one reference has it"
    assert cautions(evaluate(reference, predicted)) == [  # and it counts 0, as the owl does
        made_up,
        "no reference to divide by, so left out of the event, segment and clip mean of error rates: cat",
    ]
    assert cautions(evaluate(reference, predicted, compatible="sed_eval")) == [
        "F1 undefined (missing on one side or both), so left out of the event, segment and clip means: cat, owl",
        made_up,
        "no reference to divide by, so sed_eval divides by 2e-16, and its event and segment mean of error rates is "
        "astronomical: cat",
    ]


def test_a_class_that_is_made_up_is_likely_a_typing_error() -> None:
    reference, predicted = {"a": [Event(1.0, 2.0, "dog")]}, {"a": [Event(1.0, 2.0, "dogg")]}
    assert cautions(evaluate(reference, predicted)) == [
        "the class 'dogg' is predicted, but not one reference has it - did you mean 'dog'?",
        "no reference to divide by, so left out of the event, segment and clip mean of error rates: dogg",
    ]


def test_events_that_come_again_or_overlap_are_counted_and_told() -> None:
    again = [Event(0.0, 2.0, "dog"), Event(0.0, 2.0, "dog"), Event(2.0, 3.0, "dog")]  # twice, and touching
    result = evaluate({"a": again}, {"a": again[1:]})
    assert result.event.n_reference.tolist() == [3]  # every row counts
    assert cautions(result) == [
        "1 event repeats an earlier one: same file, times and class (1 reference, 0 predicted); all count"
    ]
    longer = [*again, Event(2.5, 2.7, "dog"), Event(2.6, 4.0, "dog")]
    both = cautions(evaluate({"a": longer}, {"a": longer[1:4] * 2}))
    assert both == [
        "4 events repeat an earlier one: same file, times and class (1 reference, 3 predicted); all count",
        "3 events overlap another one of their class (2 reference, 1 predicted); all count as events, and together "
        "in segments",
    ]
    lone = cautions(evaluate({"a": [Event(0.0, 2.0, "dog"), Event(1.0, 3.0, "dog")]}, {"a": [Event(0.0, 2.0, "dog")]}))
    assert lone == [
        "1 event overlaps another one of its class (1 reference, 0 predicted); all count as events, and together in "
        "segments"
    ]


def test_events_beyond_the_duration_are_counted_and_told() -> None:
    durations = {"a": 10.0, "b": 10.0}
    assert cautions(evaluate(dogs(10.0, 10.0), dogs(10.0, 10.0), durations=durations)) == []
    assert cautions(evaluate(dogs(12.0, 10.0), dogs(10.0, 10.0), durations=durations)) == [
        "1 event ends after the duration given (counted in full): are both in seconds, and of the same files?"
    ]
    assert cautions(evaluate(dogs(12.0, 10.0), dogs(10.0, 11.0), durations=durations, compatible="sed_eval")) == [
        "2 events end after the duration given (cut there, as sed_eval does): are both in seconds, and of the same"
        " files?"
    ]


def test_reference_tags_of_clips_that_nobody_tagged_are_told() -> None:
    tags = {"a": {"dog"}, "b": {"dog"}, "c": set()}
    told = (
        "2 clips of the reference tags without any predicted tags: nothing was found there"
        " - are the tags and the events of the same files?"
    )
    assert cautions(evaluate(dogs(1.0), dogs(1.0), reference_tags=tags, predicted_tags={"a": {"dog"}})) == [told]
    derived = cautions(evaluate(dogs(1.0), dogs(1.0), reference_tags=tags))
    assert derived == [told.replace("any predicted tags", "any predicted row")]
    # Tags of the same files as the events: said once.
    assert cautions(evaluate(dogs(1.0, 1.0, 1.0), dogs(1.0), reference_tags=tags)) == [
        "2 reference files without any predicted row: nothing was found there"
    ]


def test_an_ignored_file_that_is_nearly_one_of_the_reference_is_asked_about() -> None:
    events = [Event(0.0, 1.0, "dog")]
    reference, predicted = {"a.wav": events, "b.wav": events}, {"a.wav": events, "z": events, "B.WAV": events}
    asked, missing = cautions(evaluate(reference, predicted))
    assert asked == (
        "2 predicted files are not in the reference: 2 events ignored (first: z) - 'B.WAV': did you mean 'b.wav'?"
    )
    assert missing == "1 reference file without any predicted row: nothing was found there"
    of_tags = evaluate(
        {"a.wav": events},
        {"a.wav": events},
        reference_tags={"a.wav": {"dog"}, "b.wav": {"dog"}},
        predicted_tags={"a.wav": {"dog"}, "b.mp3": {"dog"}},
    )
    assert cautions(of_tags)[0] == (
        "1 predicted file is not in the reference: 1 tag ignored (first: b.mp3) - 'b.mp3': did you mean 'b.wav'?"
    )


@pytest.mark.parametrize(("last", "is_odd"), [(4999.0, False), (5000.0, True), (9500.0, True)])
def test_times_a_thousand_times_as_late_are_likely_milliseconds(last: float, is_odd: bool) -> None:
    # The reference ends at 10 s: from 5000 s on, half a thousand times as late, it is hardly by chance.
    found = cautions(evaluate(dogs(3.0, 10.0), dogs(3.0, last)))
    swapped = cautions(evaluate(dogs(3.0, last), dogs(3.0, 10.0)))
    if not is_odd:
        assert found == swapped == []
        return
    assert found == [
        f"the last predicted event ends at {last:g} s, the last one of the reference at 10 s: are the predictions in"
        " milliseconds?"
    ]
    assert swapped == [
        f"the last predicted event ends at 10 s, the last one of the reference at {last:g} s: is the reference in"
        " milliseconds?"
    ]


def test_a_side_without_events_is_not_compared() -> None:
    reference = {"a": [Event(0.0, 0.001, "dog")]}
    assert not [text for text in cautions(evaluate(reference, {"a": []})) if "milliseconds" in text]


def test_durations_in_milliseconds_are_told() -> None:
    events = {"a.wav": [Event(1.0, 2.0, "dog")]}
    assert cautions(evaluate(events, events, durations={"a.wav": 999.0})) == []
    assert cautions(evaluate(events, events, durations={"a.wav": 1000.0})) == [
        "the longest duration given is 1000 s, and the last event ends at 2 s: are the durations in milliseconds?"
    ]
