from __future__ import annotations

from fractions import Fraction

import numpy as np
from oracles.curves_cases import clips_of, small_case
from oracles.curves_slow import truth

from earmark.events import Event
from earmark.metrics.curves import score_table, scored_clips
from earmark.metrics.curves.coverage import coverage_of

# Laws


def test_what_is_covered_before_every_edge(rng: np.random.Generator) -> None:
    n_cells = 0
    for _ in range(150):
        case = small_case(rng)
        clips = clips_of(case)
        coverage = coverage_of(clips.scores, clips.reference)
        for file_index, name in enumerate(case.reference):
            for class_index, label in enumerate(case.classes):
                cell = coverage.cell_of(np.array([file_index]), np.array([class_index]))[0]
                spans = truth(case, name, label)
                assert (cell >= 0) == bool(spans)
                if cell < 0:
                    continue
                n_cells += 1
                first, edges = coverage.first_of_cell[cell], case.edges[name]
                found = coverage.covered_nanoseconds[first : first + len(edges)]
                expected = [
                    sum(max(Fraction(0), min(b, Fraction(f"{edge:.9f}")) - a) for a, b in spans) for edge in edges
                ]
                np.testing.assert_allclose((found - found[0]) / 1e9, np.array(expected, dtype=float), atol=2e-9)
                assert coverage.first_frame_of_cell[cell] == clips.scores.first_frame[file_index]
                assert coverage.class_of_cell[cell] == class_index
    assert n_cells > 200


def test_the_cells_of_a_clip_are_neighbours(rng: np.random.Generator) -> None:
    for _ in range(50):
        clips = clips_of(small_case(rng))
        coverage = coverage_of(clips.scores, clips.reference)
        for file_index in range(len(clips.scores.files)):
            first, n = coverage.first_cell_of_file[file_index], coverage.n_cells_of_file[file_index]
            expected = np.flatnonzero(clips.reference_by_file[file_index])
            assert coverage.class_of_cell[first : first + n].tolist() == expected.tolist()


def test_events_between_two_times(rng: np.random.Generator) -> None:
    for _ in range(100):
        clips = clips_of(small_case(rng))
        reference, coverage = clips.reference, coverage_of(clips.scores, clips.reference)
        for cell in range(len(coverage.class_of_cell)):
            begin, end = np.sort(rng.integers(0, coverage.line_length, 2))
            first, stop = coverage.events_between(np.array([cell]), np.array([begin]), np.array([end]))
            mine = np.flatnonzero(coverage.cell_of_event == cell)
            reach = (reference.onset_nanoseconds[mine] < end) & (reference.offset_nanoseconds[mine] > begin)
            assert list(range(first[0], max(first[0], stop[0]))) == mine[reach].tolist()


# Worked numbers


def test_two_events_over_four_edges() -> None:
    scores = score_table({"a.wav": [[0.1], [0.2], [0.3]]}, classes=["dog"], hop_seconds=1.0)
    reference = {"a.wav": [Event(0.5, 0.75, "dog"), Event(1.5, 9.0, "dog")]}
    coverage = coverage_of(scores, scored_clips(scores, reference).reference)
    # Before 0 s nothing, before 1 s 0.25 s, before 2 s 0.25 + 0.5, before 3 s 0.25 + 1.5; the rest is behind.
    assert (coverage.covered_nanoseconds / 1e9).tolist() == [0.0, 0.25, 0.75, 1.75]


def test_events_that_end_where_something_begins_are_not_in_it() -> None:
    scores = score_table({"a.wav": [[0.1]] * 9}, classes=["dog"], hop_seconds=1.0)
    reference = {"a.wav": [Event(1.0, 2.0, "dog"), Event(3.0, 4.0, "dog"), Event(5.0, 6.0, "dog")]}
    coverage = coverage_of(scores, scored_clips(scores, reference).reference)
    # From 2 s to 5 s only the second one; a nanosecond more on either side reaches the others.
    for begin, end, expected in ((2_000_000_000, 5_000_000_000, (1, 2)), (1_999_999_999, 5_000_000_001, (0, 3))):
        first, stop = coverage.events_between(np.array([0]), np.array([begin]), np.array([end]))
        assert (first[0], stop[0]) == expected


def test_a_reference_without_events() -> None:
    scores = score_table({"a.wav": [[0.1]], "b.wav": [[0.2]]}, classes=["dog"], hop_seconds=1.0)
    coverage = coverage_of(scores, scored_clips(scores, {"a.wav": [], "b.wav": []}).reference)
    assert coverage.cell_number.tolist() == [-1, -1]
    assert coverage.n_cells_of_file.tolist() == [0, 0]


def test_only_clips_and_classes_with_an_event_take_room() -> None:
    scores = score_table(
        {f"{n}": np.zeros((100, 50)) for n in range(20)}, classes=list(map(str, range(50))), hop_seconds=1
    )
    reference = {**{f"{n}": [] for n in range(20)}, "7": [Event(0, 1, "3"), Event(5, 6, "3"), Event(0, 9, "49")]}
    coverage = coverage_of(scores, scored_clips(scores, reference).reference)
    assert len(coverage.covered_nanoseconds) == 2 * 101
    assert coverage.first_frame_of_cell.tolist() == [700, 700]
