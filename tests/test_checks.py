from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from earmark import checks


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5), np.int64(1), Fraction(1, 2)])
def test_numbers_of_every_type_come_back_as_they_are(value: float) -> None:
    assert checks.number("share", value, at_least=0, at_most=1) is value


@pytest.mark.parametrize(
    ("value", "limits", "rule"),
    [
        (0, {"above": 0}, "above 0"),
        (-0.1, {"at_least": 0}, "at least 0"),
        (1.1, {"at_most": 1}, "at most 1"),
        (2, {"above": 0, "at_most": 1}, "above 0 and at most 1"),
        (math.nan, {}, "a finite number"),
        (math.nan, {"at_least": 0}, "at least 0"),
        (math.inf, {"at_least": 0}, "a finite number"),
        (1.5, {"whole": True}, "a whole number"),
        (True, {}, "a number"),
        ("1", {}, "a number"),
        (None, {}, "a number"),
        (np.ones(2), {}, "a number"),
    ],
)
def test_numbers_that_break_a_rule(value: float, limits: dict[str, float], rule: str) -> None:
    with pytest.raises(ValueError, match=rf"^share must be {rule}, got "):
        checks.number("share", value, **limits)  # type: ignore[arg-type]


def test_the_likely_mistake_stands_behind_a_dash() -> None:
    with pytest.raises(ValueError, match=r"^gap must be at least 0, got -1 - is it in seconds\?$"):
        checks.number("gap", -1, at_least=0, hint="is it in seconds?")


def test_names() -> None:
    assert checks.names("classes", iter(["b", "a"])) == ("b", "a")  # in their own order
    for values, message in [
        ("dog", r"a list of names, got 'dog' - did you mean \['dog'\]\?"),
        (["dog", ""], "names, got '' among them"),
        (["dog", 3], "names, got 3 among them"),
        (["dog", "cat", "dog"], "different names, got 'dog' more than once"),
    ]:
        with pytest.raises(ValueError, match=f"^classes must be {message}$"):
            checks.names("classes", values)  # type: ignore[arg-type]


def test_a_guess_is_only_made_when_something_is_near() -> None:
    assert checks.did_you_mean("lienar", ["linear", "max"]) == " - did you mean 'linear'?"
    assert checks.did_you_mean("xyz", ["linear", "max"]) == ""


def test_a_class_with_a_comma_needs_quotes() -> None:
    classes = ["Car", "Air horn, truck horn"]
    checks.known_labels(["Air horn, truck horn"], classes, where="--classes")
    listed = r'\(the classes are: Car, "Air horn, truck horn"\)'
    for part in ("Air horn", "truck horn"):  # what is left of the name without quotes
        with pytest.raises(ValueError, match=rf'{listed} - did you mean "Air horn, truck horn", in double quotes\?$'):
            checks.known_labels([part], classes, where="--classes")
    with pytest.raises(ValueError, match=rf"^--classes: unknown class 'horn' {listed}$"):
        checks.known_labels(["horn"], classes, where="--classes")


@pytest.mark.parametrize("actual", [(), (3,), (3, 4, 5)])
def test_shape_with_another_number_of_axes(actual: tuple[int, ...]) -> None:
    checks.shape("probs", (3, 4), "(frames, classes)")
    with pytest.raises(ValueError, match=r"^probs must have shape \(frames, classes\), got \("):
        checks.shape("probs", actual, "(frames, classes)")
