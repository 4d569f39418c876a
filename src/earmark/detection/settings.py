"""The settings of decoding: per class what turns its probabilities into events, and how a model's file keeps them.

Without NumPy, so that a command can read and check settings before anything heavy is imported. What the settings do
is in decoding.py, where they come from on held-out data in tuning.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from earmark.checks import choice, did_you_mean, known_labels, names, number

MODES = ("fixed", "duration", "tuned")


@dataclass(frozen=True)
class ClassDecoding:
    """How the frame probabilities of one class become events.

    Args:
        threshold: an event holds at least one frame of this (filtered) probability or more, 0 to 1.
        low_threshold: an event reaches as far as its frames have this (filtered) probability or more, at most
            `threshold`; None means `threshold` itself.
        median_seconds: length of the median filter; see `median_frames`. 0 means none.
        max_gap_seconds: pauses inside an event up to this length are closed.
        min_event_seconds: events shorter than this, counted in whole frames, are dropped.
        clip_threshold: a clip or span has the tag when its probability is this or more, 0 to 1.

    Raises:
        ValueError: when a number is outside its range.

    Example:
        >>> ClassDecoding(threshold=0.6, low_threshold=0.3).median_seconds
        0.0
    """

    threshold: float = 0.5
    low_threshold: float | None = None
    median_seconds: float = 0.0
    max_gap_seconds: float = 0.0
    min_event_seconds: float = 0.0
    clip_threshold: float = 0.5

    def __post_init__(self) -> None:
        for name in ("threshold", "clip_threshold"):
            number(name, getattr(self, name), at_least=0, at_most=1, hint="thresholds are probabilities, not logits")
        if self.low_threshold is not None:
            number(
                "low_threshold",
                self.low_threshold,
                at_least=0,
                at_most=self.threshold,
                hint="it may not be above threshold; are the two swapped?",
            )
        for name in ("median_seconds", "max_gap_seconds", "min_event_seconds"):
            number(name, getattr(self, name), at_least=0, hint="is it in seconds?")

    @property
    def lower(self) -> float:
        """The probability down to which an event reaches."""
        return self.threshold if self.low_threshold is None else self.low_threshold


@dataclass(frozen=True)
class Decoding:
    """The decoding settings of every class of a model; they travel in the model's file.

    Args:
        mode: where the settings come from: "fixed", "duration" (median windows from mean durations) or "tuned".
        classes: names, in the order of the last axis of the probabilities.
        settings: one `ClassDecoding` per class, in the same order.

    Raises:
        ValueError: when the mode is unknown, a class comes twice, or the numbers of classes and settings differ.

    Example:
        >>> Decoding.fixed(["cat", "dog"], threshold=0.4).of("dog").threshold
        0.4
    """

    mode: str
    classes: tuple[str, ...]
    settings: tuple[ClassDecoding, ...]

    def __post_init__(self) -> None:
        choice("mode", self.mode, MODES)
        if len(self.settings) != len(self.classes):
            raise ValueError(
                f"settings must be one per class, got {len(self.settings)} for {len(self.classes)} "
                f"classes ({', '.join(self.classes)})"
            )
        names("classes", self.classes)

    @classmethod
    def fixed(cls, classes: Sequence[str], *, threshold: float = 0.5) -> Decoding:
        """The same threshold for the frames and clips of every class, and nothing else.

        Example:
            >>> Decoding.fixed(["cat", "dog"], threshold=0.4).settings[1].clip_threshold
            0.4
        """
        setting = ClassDecoding(threshold=threshold, clip_threshold=threshold)
        return cls("fixed", names("classes", classes), (setting,) * len(classes))

    def of(self, label: str) -> ClassDecoding:
        """The settings of one class.

        Example:
            >>> Decoding.fixed(["cat", "dog"]).of("dogs")
            Traceback (most recent call last):
            ...
            ValueError: decoding: unknown class 'dogs' ...
        """
        known_labels([label], self.classes, where="decoding")
        return self.settings[self.classes.index(label)]

    def to_dict(self) -> dict[str, Any]:
        """Lists, text and numbers only, as JSON has them; `from_dict` reads it.

        Example:
            >>> one = Decoding.fixed(["dog"], threshold=0.4)
            >>> one.to_dict()["settings"][0]["threshold"], Decoding.from_dict(one.to_dict()) == one
            (0.4, True)
        """
        return {"mode": self.mode, "classes": list(self.classes), "settings": [asdict(one) for one in self.settings]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Decoding:
        """Read what `to_dict` wrote, or someone by hand; a setting that is absent has its default.

        Raises:
            ValueError: when a key is unknown or missing, or a value is not what `Decoding` takes.

        Example:
            >>> Decoding.from_dict({"mode": "fixed", "classes": ["dog"], "settings": [{"treshold": 0.4}]})
            Traceback (most recent call last):
            ...
            ValueError: decoding, settings of 'dog': unknown key 'treshold' - did you mean 'threshold'?
        """
        _known_keys(values, [field.name for field in fields(cls)], where="decoding")
        for field in fields(cls):
            if field.name not in values:
                raise ValueError(f"decoding: {field.name} is missing")
        classes, settings = values["classes"], values["settings"]
        for name, items, kind in (("classes", classes, str), ("settings", settings, Mapping)):
            if not isinstance(items, list | tuple) or not all(isinstance(item, kind) for item in items):
                of_what = "names" if kind is str else "tables"
                raise ValueError(f"decoding: {name} must be a list of {of_what}, got {items!r}")
        # Names for the messages only: whether there are as many settings as classes is checked below.
        labels = [*classes, *["no class"] * len(settings)]
        return cls(
            values["mode"],
            tuple(classes),
            tuple(
                _class_decoding(one, where=f"decoding, settings of {label!r}")
                for label, one in zip(labels, settings, strict=False)
            ),
        )


def from_durations(
    classes: Sequence[str], mean_seconds: Mapping[str, float], *, fraction: float = 1 / 3, threshold: float = 0.5
) -> Decoding:
    """Make the settings of mode "duration": median windows that follow how long the sounds of a class last.

    Args:
        classes: names, in the order of the probabilities.
        mean_seconds: mean event duration per class.
        fraction: length of the window as a part of the mean duration; the 2019 recipe has a third.
        threshold: for the frames and clips of every class.

    Raises:
        ValueError: when a class has no duration, a duration has no class, or a duration is not above 0.

    Example:
        >>> from_durations(["dog"], {"dog": 0.9}).of("dog").median_seconds
        0.3
    """
    number("fraction", fraction, at_least=0)
    known_labels(mean_seconds, classes, where="mean_seconds")
    settings = []
    for label in classes:
        if label not in mean_seconds:
            raise ValueError(f"mean_seconds must name every class, {label!r} is missing")
        mean = number(f"mean_seconds[{label!r}]", mean_seconds[label], above=0, hint="is it in seconds?")
        settings.append(ClassDecoding(threshold=threshold, median_seconds=fraction * mean, clip_threshold=threshold))
    return Decoding("duration", tuple(classes), tuple(settings))


def _known_keys(values: Mapping[str, Any], known: Sequence[str], *, where: str) -> None:
    """Raise ValueError for a key we do not know, and guess."""
    for key in values:
        if key not in known:
            raise ValueError(f"{where}: unknown key {key!r}{did_you_mean(key, known)}")


def _class_decoding(values: Mapping[str, Any], *, where: str) -> ClassDecoding:
    """One class's settings from a table."""
    _known_keys(values, [field.name for field in fields(ClassDecoding)], where=where)
    for key, value in values.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number and not (key == "low_threshold" and value is None):
            raise ValueError(f"{where}: {key} must be a number, got {value!r}")
    try:
        return ClassDecoding(**values)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
