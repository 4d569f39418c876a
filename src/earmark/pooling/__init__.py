"""Pooling functions: from what every frame says to what the clip says. Usable alone, for any multiple-instance problem.

Example:
    >>> import torch
    >>> from earmark import pooling
    >>> pooling.names()
    ['attention', 'auto', 'average', 'cap', 'exponential', 'hierarchical', 'linear', 'max', 'power', 'rap']
    >>> pool = pooling.create("power", n_classes=3)
    >>> pool(torch.zeros(2, 50, 3)).shape     # (batch, frames, classes) logits -> (batch, classes) probabilities
    torch.Size([2, 3])
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Mapping, Sequence

from earmark import checks

try:
    from earmark.pooling.base import Pool
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f'earmark.pooling needs {error.name}: pip install "earmark[train]"', name=error.name
    ) from error

__all__ = ["Pool", "create", "names", "takes"]


def create(
    name: str,
    *,
    n_classes: int,
    n_features: int | None = None,
    n_frames: int | None = None,
    axis: str | None = None,
    initial: float | None = None,
    penalty: float | None = None,
    constraint: str | None = None,
    shared: bool | None = None,
    inner: str | None = None,
    groups: Sequence[int] | None = None,
) -> Pool:
    """Return the pooling function called `name`; None leaves an option at that function's own default.

    Args:
        name: one of `names()`.
        n_classes: number of classes.
        n_features: size of the frame features (attention).
        n_frames: frames of a clip of nominal length (cap).
        axis: ``"time"`` or ``"class"`` (attention).
        initial: the parameter before training (power, auto, cap, rap).
        penalty: weight of the squared parameter in the loss (power, rap).
        constraint: ``"project"`` or ``"softplus"`` (power).
        shared: one parameter for all classes instead of one each (power, auto, cap, rap).
        inner: the pooling function inside hierarchical pooling.
        groups: the stages of hierarchical pooling, for instance ``(5, 5, 4)``.

    Raises:
        ValueError: when the name is unknown, an option does not belong to it, or one it needs is missing.

    Example:
        >>> create("power", n_classes=2, initial=0.5).parameter_values()
        tensor([0.5000, 0.5000])
        >>> create("power", n_classes=2, axis="time")
        Traceback (most recent call last):
        ...
        ValueError: pooling 'power' takes no 'axis' (it takes: initial, penalty, constraint, shared)
    """
    options = {
        "n_features": n_features, "n_frames": n_frames, "axis": axis, "initial": initial, "penalty": penalty,
        "constraint": constraint, "shared": shared, "groups": groups,
    }  # fmt: skip
    given = {key: value for key, value in options.items() if value is not None}
    if name != "hierarchical":
        if inner is not None:
            given["inner"] = inner
        return _construct(name, n_classes, given)
    if inner is None:
        raise ValueError("pooling 'hierarchical' needs 'inner', the function of its stages, for instance 'power'")
    if groups is None:
        raise ValueError("pooling 'hierarchical' needs 'groups', the sizes of its stages, for instance (5, 5, 4)")
    if inner == "hierarchical":
        raise ValueError("inner must be a plain pooling function, got 'hierarchical' - add to groups instead")
    del given["groups"]
    from earmark.pooling.hierarchical import Hierarchical

    return Hierarchical(_construct(inner, n_classes, given), groups=groups)


def names() -> list[str]:
    """Return the names of all pooling functions, sorted.

    Example:
        >>> "power" in names()
        True
    """
    return sorted(_classes())


def takes(name: str) -> tuple[str, ...]:
    """Return the options that the pooling function called `name` takes besides the number of classes.

    Example:
        >>> takes("attention")
        ('n_features', 'axis')
    """
    parameters = inspect.signature(_class(name).__init__).parameters
    return tuple(key for key in parameters if key not in ("self", "n_classes", "inner"))


def _construct(name: str, n_classes: int, given: Mapping[str, object]) -> Pool:
    """Call the class with the options it takes, and say which one is too many or missing."""
    allowed = takes(name)
    for key in given:
        if key not in allowed:
            text = ", ".join(allowed) if allowed else "no options"
            raise ValueError(f"pooling {name!r} takes no {key!r} (it takes: {text})")
    parameters = inspect.signature(_class(name).__init__).parameters
    for key in allowed:
        if parameters[key].default is inspect.Parameter.empty and key not in given:
            raise ValueError(f"pooling {name!r} needs {key!r}")
    pool: Pool = _class(name)(n_classes, **given)
    return pool


def _class(name: str) -> type[Pool]:
    """The class called `name`."""
    classes = _classes()
    return classes[checks.choice("pooling", name, sorted(classes))]


@functools.cache
def _classes() -> dict[str, type[Pool]]:
    """Every pooling function in this folder, by name: the folder itself is the list."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        contents = vars(importlib.import_module(f"{__name__}.{module.name}"))
        for item in contents.values():
            if isinstance(item, type) and issubclass(item, Pool) and "name" in vars(item):
                found[item.name] = item
    return found
