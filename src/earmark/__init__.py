"""earmark: you tag clips with what they contain, earmark learns when it happens.

Importing this package costs a few milliseconds: neither numpy nor torch is imported until something needs them.

Example:
    >>> import earmark
    >>> earmark.Event(onset=0.5, offset=1.25, label="dog")
    Event(onset=0.5, offset=1.25, label='dog', score=None)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from earmark.detection.detector import Detector, load
    from earmark.events import Event

__version__ = "0.1.0"
__all__ = ["Detector", "Event", "__version__", "load"]


def __getattr__(name: str) -> object:
    """Import the few names of the top level when they are first used, not before."""
    if name == "Event":
        from earmark.events import Event

        return Event
    if name in ("Detector", "load"):
        from earmark.detection import detector

        return getattr(detector, name)
    raise AttributeError(f"module 'earmark' has no attribute {name!r}")
