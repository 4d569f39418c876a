"""Classes of a model and classes of new labels in one run: the old ones stay, and silence about them says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from earmark import checks
from earmark.labels.spelling import spelt_alike
from earmark.labels.weak import WeakClip
from earmark.training.clips import ClipSet


def joined_classes(
    of_model: Sequence[str], of_labels: Sequence[str], clips: Sequence[WeakClip], *, allow_similar: bool
) -> tuple[str, ...]:
    """Return the classes of a run that continues from a model: the model's in their order, then the new ones.

    Args:
        of_model: classes of the model.
        of_labels: classes of the labels.
        clips: where they stand, for the message.
        allow_similar: whether a new class may be named almost like one that only the model has.

    Raises:
        ValueError: when one may not, and is; probably they are one class, spelt in two ways.

    Example:
        >>> joined_classes(["dog", "cat"], ["cat", "bird"], [], allow_similar=False)
        ('dog', 'cat', 'bird')
        >>> joined_classes(["dog", "cat"], ["Dog"], [], allow_similar=False)
        Traceback (most recent call last):
        ...
        ValueError: the labels have the class 'Dog', which the model does not know - did you mean 'dog', which it ...
    """
    new = [label for label in of_labels if label not in of_model]
    silent = [label for label in of_model if label not in of_labels]
    for label in new if not allow_similar else ():
        alike = [other for other in silent if spelt_alike(label, other)]
        if alike:
            row = next((f"{clip.where}: has" for clip in clips if label in clip.labels), "the labels have")
            raise ValueError(
                f"{row} the class {label!r}, which the model does not know - did you mean {alike[0]!r}, which it does?"
                " Rename it, or, if they are two classes, add --set training.allow_similar_classes=true"
            )
    return checks.names("classes", (*of_model, *new))


def in_words(of_model: Sequence[str], of_labels: Sequence[str]) -> str:
    """Return what becomes of the classes, in words, with a caution when nothing of the model's is in the labels.

    Example:
        >>> in_words(["dog", "cat"], ["cat", "bird"])
        'continues from a model: goes on learning cat; adds bird; keeps dog, about which the labels say nothing'
    """
    both, new = [c for c in of_model if c in of_labels], [c for c in of_labels if c not in of_model]
    silent = [label for label in of_model if label not in of_labels]
    parts = [f"goes on learning {', '.join(both)}"] if both else []
    parts += [f"adds {', '.join(new)}"] if new else []
    parts += [f"keeps {', '.join(silent)}, about which the labels say nothing"] if silent else []
    caution = (
        "" if both else " - if these should be the model's own classes, is it the wrong model or another spelling?"
    )
    return f"continues from a model: {'; '.join(parts)}{caution}"


def only_what_labels_say(clips: ClipSet, of_labels: Sequence[str]) -> ClipSet:
    """Return the clips with a model's other classes unknown, except where a row's known_classes names them.

    A class that nobody listened for is not absent: its column says nothing, neither of clips nor of their moments.

    Example:
        >>> from earmark.training.clips import clip_set
        >>> rows = [WeakClip("a.wav", frozenset({"cat"}), None, None, None, {}, "weak.tsv:2")]
        >>> rows += [WeakClip("b.wav", frozenset({"cat"}), frozenset({"cat", "dog"}), None, None, {}, "weak.tsv:3")]
        >>> clips = clip_set(rows, ["dog", "cat"], holdout_fraction=0)
        >>> only_what_labels_say(clips, ["cat"]).known.tolist()     # a row that names the dog says that there is none
        [[False, True], [True, True]]
    """
    silent = [index for index, label in enumerate(clips.classes) if label not in of_labels]
    known = clips.known.copy()
    for row, clip in enumerate(clips.clips):
        if clip.known is None:
            known[row, silent] = False
    strong = clips.strong
    if strong is not None and silent:
        said = frozenset(of_labels)
        strong = tuple(
            None
            if labels is None
            else replace(
                labels,
                complete=tuple(replace(c, classes=said if c.classes is None else c.classes) for c in labels.complete),
            )
            for labels in strong
        )
    return replace(clips, known=known, strong=strong)
