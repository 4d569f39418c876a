from __future__ import annotations

import numpy as np
import pytest
from oracles.curves_cases import clips_of, small_case
from oracles.curves_slow import merged

from earmark.events import Event
from earmark.metrics.curves import ScoreTable, score_table, scored_clips


def two_clips() -> ScoreTable:
    return score_table({"a.wav": [[0.1], [0.9]], "b.wav": [[0.4]]}, classes=["dog"], hop_seconds=0.5)


# Laws


def test_events_that_overlap_or_touch_are_one(rng: np.random.Generator) -> None:
    n_joined = 0
    for _ in range(100):
        case = small_case(rng)
        clips = clips_of(case)
        found = clips.reference
        for file_index, name in enumerate(case.reference):
            for class_index, label in enumerate(case.classes):
                mine = found.rows((found.file_index == file_index) & (found.class_index == class_index))
                expected = merged([row for row in case.reference[name] if row[2] == label])
                spans = [(float(onset), float(offset)) for onset, offset in expected]
                np.testing.assert_allclose(mine.onset_seconds, [onset for onset, _ in spans], atol=1e-9)
                np.testing.assert_allclose(mine.offset_seconds, [offset for _, offset in spans], atol=1e-9)
                assert clips.reference_by_file[file_index, class_index] == len(spans)
        assert clips.n_merged == sum(map(len, case.reference.values())) - len(found)
        assert clips.n_reference.tolist() == clips.reference_by_file.sum(axis=0).tolist()
        n_joined += clips.n_merged
    assert n_joined > 50


def test_events_are_sorted_by_clip_class_and_onset(rng: np.random.Generator) -> None:
    for _ in range(50):
        found = clips_of(small_case(rng)).reference
        rows = list(zip(found.file_index, found.class_index, found.onset_seconds, strict=True))
        assert rows == sorted(rows)


def test_an_event_at_the_end_of_a_clip_does_not_touch_the_next_clip() -> None:
    reference = {"a.wav": [Event(0.5, 1.0, "dog")], "b.wav": [Event(0.0, 0.5, "dog")]}
    assert scored_clips(two_clips(), reference).n_merged == 0


# Worked numbers


def test_three_events_become_one_and_one_stays() -> None:
    events = [Event(4.0, 5.0, "dog"), Event(0.0, 2.0, "dog"), Event(1.0, 1.5, "dog"), Event(2.0, 3.0, "dog")]
    clips = scored_clips(two_clips(), {"a.wav": events})
    # 0-2 holds 1-1.5 and touches 2-3: 0-3; 4-5 stays. Four events are two.
    assert clips.reference.onset_seconds.tolist() == [0.0, 4.0]
    assert clips.reference.offset_seconds.tolist() == [3.0, 5.0]
    assert clips.n_merged == 2


def test_a_nanosecond_apart_is_apart() -> None:
    clips = scored_clips(two_clips(), {"a.wav": [Event(0.0, 0.5, "dog"), Event(0.500000001, 1.0, "dog")]})
    assert clips.n_merged == 0


def test_events_of_two_classes_may_overlap() -> None:
    scores = score_table({"a.wav": [[0.1, 0.2]]}, classes=["dog", "cat"], hop_seconds=0.5)
    clips = scored_clips(scores, {"a.wav": [Event(0.0, 0.4, "dog"), Event(0.1, 0.3, "cat")]})
    assert (clips.n_merged, clips.n_reference.tolist()) == (0, [1, 1])


def test_events_without_length_are_left_out_and_counted() -> None:
    clips = scored_clips(two_clips(), {"a.wav": [Event(0.2, 0.2, "dog"), Event(0.0, 0.1, "dog")], "b.wav": []})
    assert (clips.n_zero_length, clips.n_reference.tolist(), clips.n_merged) == (1, [1], 0)


def test_a_reference_without_any_event() -> None:
    clips = scored_clips(two_clips(), {"a.wav": [], "b.wav": []})
    assert (len(clips.reference), clips.n_reference.tolist(), clips.reference_by_file.tolist()) == (0, [0], [[0], [0]])


def test_a_clip_ends_with_its_last_frame_or_event() -> None:
    reference = {"a.wav": [Event(0.2, 0.6, "dog")], "b.wav": [Event(0.2, 0.7, "dog")]}
    assert scored_clips(two_clips(), reference).duration_seconds.tolist() == [1.0, 0.7]
    durations = {"b.wav": 9.0, "a.wav": 10.0, "c.wav": 1.0}
    assert scored_clips(two_clips(), reference, durations=durations).duration_seconds.tolist() == [10.0, 9.0]


def test_the_clips_are_those_of_the_reference_in_its_order() -> None:
    clips = scored_clips(two_clips(), {"b.wav": []})
    assert (clips.scores.files, clips.scores.values.tolist()) == (("b.wav",), [[0.4]])
    assert clips.ignored_files == ("a.wav",)


def test_unicode_forms_of_one_name_are_one() -> None:
    scores = score_table({"k\u00fcche.wav": [[0.1]]}, classes=["T\u00fcr"], hop_seconds=0.5)
    reference = {"ku\u0308che.wav": [Event(0.0, 0.5, "Tu\u0308r")]}
    clips = scored_clips(scores, reference, durations={"ku\u0308che.wav": 2.0})
    assert (clips.n_reference.tolist(), clips.duration_seconds.tolist()) == ([1], [2.0])


# Wrong input


def test_a_clip_without_scores() -> None:
    with pytest.raises(ValueError, match=r"1 of 2 are missing \(first: 'c.wav'; the scores have 'a.wav'\)"):
        scored_clips(two_clips(), {"a.wav": [], "c.wav": []})


def test_an_extension_is_part_of_the_name() -> None:
    with pytest.raises(ValueError, match="another folder or extension"):
        scored_clips(two_clips(), {"a.flac": []})


def test_a_label_that_is_no_class() -> None:
    with pytest.raises(ValueError, match=r"reference: unknown class 'dgo' .* did you mean 'dog'"):
        scored_clips(two_clips(), {"a.wav": [Event(0.0, 1.0, "dgo")]})


def test_no_clips() -> None:
    with pytest.raises(ValueError, match="reference must have at least one file, got none"):
        scored_clips(two_clips(), {})


def test_a_clip_without_duration() -> None:
    with pytest.raises(ValueError, match=r"durations must have every file of the reference, 1 are missing \(first: 'b"):
        scored_clips(two_clips(), {"a.wav": [], "b.wav": []}, durations={"a.wav": 1.0})


@pytest.mark.parametrize("seconds", [0.0, -1.0, np.nan, np.inf])
def test_a_duration_that_cannot_be(seconds: float) -> None:
    with pytest.raises(ValueError, match=r"duration of a.wav must be"):
        scored_clips(two_clips(), {"a.wav": []}, durations={"a.wav": seconds})


def test_times_that_are_not_in_seconds() -> None:
    with pytest.raises(ValueError, match=r"reference: a.wav: 'dog': offset must be at most 1e\+09"):
        scored_clips(two_clips(), {"a.wav": [Event(0.0, 2e9, "dog")]})


def test_more_time_than_fits() -> None:
    scores = score_table({f"{n}.wav": [[0.1]] for n in range(10)}, classes=["dog"], hop_seconds=0.5)
    with pytest.raises(ValueError, match="10 clips with events as late as these do not fit - are the times in seconds"):
        scored_clips(scores, {f"{n}.wav": [Event(0.0, 1e9, "dog")] for n in range(10)})
