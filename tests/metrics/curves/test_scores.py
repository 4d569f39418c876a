from __future__ import annotations

import numpy as np
import pytest
from oracles.curves_cases import scores_of, small_case

from earmark.metrics.curves import score_table
from earmark.metrics.curves.scores import ranges

# Laws


def test_every_clip_comes_out_as_it_went_in(rng: np.random.Generator) -> None:
    for _ in range(50):
        case = small_case(rng)
        table = scores_of(case)
        for index, name in enumerate(table.files):
            begin, end = table.first_frame[index : index + 2]
            assert table.values[:, begin:end].T.tolist() == case.scores[name]
            assert table.edge_seconds[begin + index : end + index + 1].tolist() == case.edges[name]
            assert table.end_seconds[index] == case.edges[name][-1]
            assert (table.file_of_frame[begin:end] == index).all()
            assert table.begins_clip[begin:end].tolist() == [True, *[False] * (end - begin)][: end - begin]
        assert table.n_frames.tolist() == [len(rows) for rows in case.scores.values()]


def test_any_clips_in_any_order(rng: np.random.Generator) -> None:
    for _ in range(50):
        case = small_case(rng)
        chosen = rng.permutation(list(case.scores))[: rng.integers(1, len(case.scores) + 1)].tolist()
        table = scores_of(case).only(chosen)
        arrays = {name: np.array(case.scores[name]).reshape(-1, len(case.classes)) for name in chosen}
        expected = score_table(arrays, classes=case.classes, edge_seconds=case.edges)
        for field in ("values", "first_frame", "edge_seconds"):
            np.testing.assert_array_equal(getattr(table, field), getattr(expected, field))
        assert (table.files, table.classes) == (expected.files, expected.classes)


def test_frames_of_one_length_are_edges_at_its_multiples() -> None:
    scores = {"a.wav": np.zeros((3, 1)), "b.wav": np.zeros((0, 1))}
    edges = {"a.wav": np.arange(4) * 0.02, "b.wav": np.zeros(1)}
    one, other = (
        score_table(scores, classes=["dog"], hop_seconds=0.02),
        score_table(scores, classes=["dog"], edge_seconds=edges),
    )
    np.testing.assert_array_equal(one.edge_seconds, other.edge_seconds)


def test_ranges_are_ranges_one_after_the_other(rng: np.random.Generator) -> None:
    for _ in range(20):
        first, lengths = rng.integers(0, 100, (2, rng.integers(0, 6)))
        expected = [number for one, length in zip(first, lengths, strict=True) for number in range(one, one + length)]
        assert ranges(first, lengths).tolist() == expected


# Worked numbers


def test_two_clips_and_one_without_frames() -> None:
    scores = {"a.wav": np.array([[0.1, 0.2], [0.3, 0.4]]), "b.wav": np.zeros((0, 2)), "c.wav": np.array([[0.5, 0.6]])}
    table = score_table(scores, classes=["dog", "cat"], hop_seconds=0.5)
    assert table.values.tolist() == [[0.1, 0.3, 0.5], [0.2, 0.4, 0.6]]
    assert table.first_frame.tolist() == [0, 2, 2, 3]
    assert table.edge_seconds.tolist() == [0.0, 0.5, 1.0, 0.0, 0.0, 0.5]
    assert table.begins_clip.tolist() == [True, False, True]
    assert table.end_seconds.tolist() == [1.0, 0.0, 0.5]


def test_names_have_one_unicode_form() -> None:
    table = score_table({"ku\u0308che.wav": [[0.1]]}, classes=["Tu\u0308r"], edge_seconds={"ku\u0308che.wav": [0, 1]})
    assert (table.files, table.classes) == (("k\u00fcche.wav",), ("T\u00fcr",))


def test_class_names_with_commas() -> None:
    assert (
        score_table({"a": [[1, 2]]}, classes=["Air horn, truck horn", "b"], hop_seconds=1).classes[0].endswith("horn")
    )


# Wrong input


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers(value: float) -> None:
    scores = {"a.wav": [[0.1, 0.2]], "b.wav": [[0.1, 0.2], [0.3, value]]}
    with pytest.raises(
        ValueError, match=rf"scores\['b.wav'\] must be finite numbers, got {value} in frame 1, class 'cat'"
    ):
        score_table(scores, classes=["dog", "cat"], hop_seconds=0.5)


@pytest.mark.parametrize("values", [[0.1, 0.2], [[0.1, 0.2]], [], [[[0.1]]]])
def test_scores_of_another_shape(values: list) -> None:
    with pytest.raises(ValueError, match=r"scores\['a.wav'\] must have shape \(frames, classes\) with 1 classes"):
        score_table({"a.wav": values}, classes=["dog"], hop_seconds=0.5)


@pytest.mark.parametrize(
    "edges",
    [[0.0, 0.5, 0.5], [0.0, 0.5, 0.4], [0.5, 0.0, 1.0], [-0.5, 0.0, 0.5], [0.0, np.nan, 1.0], [0.0, 1.0, np.inf]],
)
def test_edges_that_do_not_rise(edges: list[float]) -> None:
    with pytest.raises(ValueError, match=r"edge_seconds\['a.wav'\] must rise, in seconds from the start of the clip"):
        score_table({"a.wav": [[0.1], [0.2]]}, classes=["dog"], edge_seconds={"a.wav": edges})


def test_edges_of_another_number_of_frames() -> None:
    with pytest.raises(ValueError, match=r"one number more than there are frames, 3, got shape \(2,\) - the end of"):
        score_table({"a.wav": [[0.1], [0.2]]}, classes=["dog"], edge_seconds={"a.wav": [0.0, 0.5]})


def test_a_clip_without_edges() -> None:
    with pytest.raises(ValueError, match=r"edge_seconds must have every file of the scores, 'a.wav' is missing"):
        score_table({"a.wav": [[0.1]]}, classes=["dog"], edge_seconds={"b.wav": [0, 1]})


def test_edges_and_hop_or_neither() -> None:
    for options in ({}, {"hop_seconds": 0.5, "edge_seconds": {"a.wav": [0, 1]}}):
        with pytest.raises(ValueError, match="one of hop_seconds and edge_seconds must be given, and not both"):
            score_table({"a.wav": [[0.1]]}, classes=["dog"], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("hop_seconds", [0.0, -0.02, np.nan])
def test_a_frame_without_length(hop_seconds: float) -> None:
    with pytest.raises(ValueError, match="hop_seconds must be above 0"):
        score_table({"a.wav": [[0.1]]}, classes=["dog"], hop_seconds=hop_seconds)


def test_a_clip_of_more_than_thirty_years() -> None:
    with pytest.raises(ValueError, match=r"hop_seconds makes 'a.wav' 2e\+09 s long, got 1000000000.0 - in seconds"):
        score_table({"a.wav": [[0.1], [0.2]]}, classes=["dog"], hop_seconds=1e9)


def test_no_clips() -> None:
    with pytest.raises(ValueError, match="scores must have at least one file, got none"):
        score_table({}, classes=["dog"], hop_seconds=0.5)


def test_one_clip_twice_in_two_unicode_forms() -> None:
    with pytest.raises(ValueError, match=r"scores must have every file once, got .* in two unicode forms"):
        score_table({"u\u0308": [[0.1]], "\u00fc": [[0.2]]}, classes=["dog"], hop_seconds=0.5)


@pytest.mark.parametrize("classes", [["dog", "dog"], ["u\u0308", "\u00fc"]])
def test_one_class_twice(classes: list[str]) -> None:
    with pytest.raises(ValueError, match="classes must be different names"):
        score_table({"a.wav": [[0.1, 0.2]]}, classes=classes, hop_seconds=0.5)
