"""Checks of what a caller gave us, and the sentences that say what is wrong with it.

Every message names the argument, the rule, what came, and the likely mistake.
"""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable


def number(
    name: str,
    value: float,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    whole: bool = False,
    hint: str = "",
) -> float:
    """Return `value` if it is a finite number inside the limits (and a whole one), otherwise raise ValueError.

    Example:
        >>> number("hop_seconds", 0.02, above=0)
        0.02
        >>> number("hop_seconds", -1, above=0, hint="is it in seconds?")
        Traceback (most recent call last):
        ...
        ValueError: hop_seconds must be above 0, got -1 - is it in seconds?
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"{name} must be a number, got {value!r}{_dash(hint)}")
    rules = []
    if above is not None:
        rules.append((value > above, f"above {above:g}"))
    if at_least is not None:
        rules.append((value >= at_least, f"at least {at_least:g}"))
    if at_most is not None:
        rules.append((value <= at_most, f"at most {at_most:g}"))
    if not all(holds for holds, _ in rules):
        rule = " and ".join(text for _, text in rules)
        raise ValueError(f"{name} must be {rule}, got {value!r}{_dash(hint)}")
    if not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    if whole and not float(value).is_integer():
        raise ValueError(f"{name} must be a whole number, got {value!r}{_dash(hint)}")
    return value


def names(name: str, values: Iterable[str]) -> tuple[str, ...]:
    """Return `values` as a tuple if they are different names, otherwise raise ValueError.

    Example:
        >>> names("classes", ["cat", "dog"])
        ('cat', 'dog')
        >>> names("classes", "dog")     # would be the classes d, o and g
        Traceback (most recent call last):
        ...
        ValueError: classes must be a list of names, got 'dog' - did you mean ['dog']?
    """
    if isinstance(values, str):
        raise ValueError(f"{name} must be a list of names, got {values!r} - did you mean [{values!r}]?")
    listed = tuple(values)
    for value in listed:
        if not isinstance(value, str) or not value:
            raise ValueError(f"{name} must be names, got {value!r} among them")
    if len(set(listed)) < len(listed):
        twice = next(value for value in listed if listed.count(value) > 1)
        raise ValueError(f"{name} must be different names, got {twice!r} more than once")
    return listed


def choice(name: str, value: str, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`, otherwise raise a ValueError that lists them and guesses.

    Example:
        >>> choice("pooling", "powr", ["max", "power"])
        Traceback (most recent call last):
        ...
        ValueError: pooling must be one of max, power, got 'powr' - did you mean 'power'?
    """
    options = list(choices)
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(options)}, got {value!r}{did_you_mean(value, options)}")
    return value


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `` - did you mean 'x'?`` for the known word nearest to `word`, or nothing when none is near.

    Example:
        >>> did_you_mean("learnig_rate", ["learning_rate", "seed"])
        " - did you mean 'learning_rate'?"
    """
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" - did you mean {near[0]!r}?" if near else ""


def known_labels(labels: Iterable[str], classes: Iterable[str], *, where: str) -> None:
    """Raise ValueError when a label is not one of the model's or the caller's classes, listing the classes.

    A class with a comma in its name is listed in double quotes, as tables and commands want it.

    Example:
        >>> known_labels(["dgo"], ["cat", "dog"], where="strong.tsv:3")
        Traceback (most recent call last):
        ...
        ValueError: strong.tsv:3: unknown class 'dgo' (the classes are: cat, dog) - did you mean 'dog'?
    """
    options = list(classes)
    for label in labels:
        if label not in options:
            listed = ", ".join(f'"{option}"' if "," in option else option for option in options)
            # An unquoted "Air horn, truck horn" has become two labels by the time it comes here.
            whole = [option for option in options if label in map(str.strip, option.split(","))]
            hint = f' - did you mean "{whole[0]}", in double quotes?' if whole else did_you_mean(label, options)
            raise ValueError(f"{where}: unknown class {label!r} (the classes are: {listed}){hint}")


def shape(name: str, actual: tuple[int, ...], expected: str, *, hint: str = "") -> None:
    """Raise ValueError unless `actual` has as many axes as `expected` names, e.g. ``"(batch, frames, classes)"``.

    Example:
        >>> shape("logits", (10, 3), "(batch, frames, classes)", hint="did you forget the batch axis?")
        Traceback (most recent call last):
        ...
        ValueError: logits must have shape (batch, frames, classes), got (10, 3) - did you forget the batch axis?
    """
    axes = [name for name in expected.strip("()").split(",") if name.strip()]  # "(samples,)" names one
    if len(actual) != len(axes):
        raise ValueError(f"{name} must have shape {expected}, got {tuple(actual)}{_dash(hint)}")


def _dash(hint: str) -> str:
    """The hint behind a dash, or nothing."""
    return f" - {hint}" if hint else ""
