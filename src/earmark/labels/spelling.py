"""Classes of a label file that are probably one class, written in two ways."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence

from earmark.labels.weak import WeakClip

# A typing error comes once or twice; names a little further apart only count beside a class ten times as frequent.
_FEW_CLIPS, _MORE_FREQUENT, _FAR_MORE_FREQUENT = 2, 3, 10


def similar_classes(clips: Sequence[WeakClip]) -> list[tuple[str, str]]:
    """Return pairs (likely misspelt, likely meant) of classes that are probably one class.

    - Names that differ only in case, white space, hyphens or underscores always count.
    - Names one slip of the fingers apart (a letter too many, missing or wrong, or two swapped) count when the rarer
      has one or two clips and the other at least three times as many.
    - Names that are merely close count when the rarer is at most a tenth as frequent as the other.

    Names that differ only in digits are meant (``type 1`` and ``type 2``).

    Example:
        >>> tags = ["Dog"] * 20 + ["dog"] + ["Dgo"]
        >>> similar_classes([WeakClip("", frozenset({tag}), None, None, None, {}, "") for tag in tags])
        [('Dgo', 'Dog'), ('dog', 'Dog')]
    """
    counts = Counter(label for clip in clips for label in clip.labels)
    by_frequency = sorted(counts, key=lambda label: (counts[label], label))
    pairs = []
    for rare in sorted(counts):
        # Of two equally frequent spellings the later one in the alphabet counts as meant, so each pair comes once.
        others = [label for label in by_frequency if (counts[label], label) > (counts[rare], rare)]
        same = [label for label in others if _folded(label) == _folded(rare)]
        others = [label for label in others if _letters(label) != _letters(rare)]
        frequent = [label for label in others if counts[label] >= _MORE_FREQUENT * counts[rare]]
        slips = [label for label in frequent if _is_one_slip(rare, label)] if counts[rare] <= _FEW_CLIPS else []
        far_more = [label for label in others if counts[label] >= _FAR_MORE_FREQUENT * counts[rare]]
        close = difflib.get_close_matches(rare, far_more, n=1, cutoff=0.8)
        meant = same[-1:] if same else slips[-1:] if slips else close
        pairs += [(rare, label) for label in meant]
    return pairs


def spelt_alike(first: str, second: str) -> bool:
    """Return whether two names are probably one: the same but for case, spaces and hyphens, or a slip of the fingers.

    Example:
        >>> spelt_alike("Dog", "dog"), spelt_alike("Speech", "Speach"), spelt_alike("type 1", "type 2")
        (True, True, False)
    """
    if _folded(first) == _folded(second):
        return True
    return _letters(first) != _letters(second) and _is_one_slip(first, second)


def _is_one_slip(first: str, second: str) -> bool:
    """Whether one slip of the fingers turns a word of one name into that of the other; all other words are the same.

    Short words, and words that begin with another letter, are seldom slips: Cat and Car, rain and train.
    """
    words, other_words = (re.split(r"[\s_-]+", name.casefold()) for name in (first, second))
    differing = [pair for pair in zip(words, other_words, strict=False) if pair[0] != pair[1]]
    if len(words) != len(other_words) or len(differing) != 1:
        return False
    short, long = sorted(differing[0], key=len)
    if len(long) < 3:
        return False
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) == len(long) and short[at + 2 :] == long[at + 2 :] and short[at : at + 2] == long[at : at + 2][::-1]:
        return True  # swapped
    begins_alike, rest = at > 0, long[at + 1 :]
    return begins_alike and len(long) > 3 and rest in (short[at:], short[at + 1 :])


def _folded(label: str) -> str:
    """The label without case, white space, hyphens and underscores."""
    return "".join(character for character in label.casefold() if character not in " -_\t\u00a0")


def _letters(label: str) -> str:
    """The label without its digits."""
    return "".join(character for character in _folded(label) if not character.isdigit())
