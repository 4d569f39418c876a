"""What the tests of pictures of clips share: one clip, a batch, and ways to find what was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from earmark.events import Event
from earmark.report.batch_plots import batch_figure
from earmark.report.clip_plots import clip_figure
from earmark.timeline import Timeline

CLASSES = ["knock", "hum"]
FEATURE_GRID = Timeline(sample_rate=16000, hop_samples=320)  # 20 ms
OUTPUT_GRID = FEATURE_GRID.coarser(2)  # 40 ms


@dataclass(frozen=True)
class Clip:
    """What a picture of one clip is drawn from: 2 s, 100 feature frames, 50 output frames."""

    log_mel: np.ndarray = field(default_factory=lambda: np.arange(800.0).reshape(100, 8))
    shown_classes: Sequence[str] = ("knock",)
    frame_probs: dict[str, np.ndarray] = field(
        default_factory=lambda: {
            "power": np.linspace(0, 1, 100).reshape(50, 2),
            "linear": np.linspace(1, 0, 100).reshape(50, 2),
        }
    )
    reference: Sequence[Event] = (Event(0.4, 0.8, "knock"), Event(0.2, 1.9, "hum"))
    detected: dict[str, Sequence[Event]] = field(
        default_factory=lambda: {"power": [Event(0.44, 0.8, "knock", 0.9)], "linear": [Event(0.2, 0.3, "hum", 0.7)]}
    )
    clip_probs: dict[str, np.ndarray] = field(
        default_factory=lambda: {"power": np.array([0.8, 0.6]), "linear": np.array([0.5, 0.4])}
    )
    sign_thresholds: dict[str, np.ndarray] = field(
        default_factory=lambda: {"power": np.array([0.6, 0.2]), "linear": np.array([0.25, 0.2])}
    )
    mel_frequencies: np.ndarray | None = None
    title: str = ""

    def draw(self) -> Figure:
        """The picture."""
        return clip_figure(
            log_mel=self.log_mel,
            feature_timeline=FEATURE_GRID,
            frame_probs=self.frame_probs,
            classes=CLASSES,
            shown_classes=self.shown_classes,
            timeline=OUTPUT_GRID,
            reference=self.reference,
            detected=self.detected,
            clip_probs=self.clip_probs,
            sign_thresholds=self.sign_thresholds,
            mel_frequencies=self.mel_frequencies,
            title=self.title,
        )


def marked(axes: Axes, gid: str) -> list[Artist]:
    """The artists drawn under one name."""
    return [artist for artist in axes.get_children() if artist.get_gid() == gid]


def span(artist: Artist) -> tuple[float, float]:
    """Left and right edge in seconds; matplotlib draws spans as rectangles since 3.9 and as polygons before."""
    assert isinstance(artist, Patch)
    times = artist.get_patch_transform().transform(artist.get_path().vertices)[:, 0]
    return float(times.min()), float(times.max())


def line(axes: Axes, gid: str) -> Line2D:
    """The one line of this name."""
    found = marked(axes, gid)
    assert len(found) == 1
    assert isinstance(found[0], Line2D)
    return found[0]


def batch(rng: np.random.Generator, n_clips: int, lengths: Sequence[int]) -> Figure:
    """A batch of clips of these lengths, padded with large numbers to the longest."""
    mask = np.arange(max(lengths)) < np.asarray(lengths)[:, None]
    features = np.where(mask[:, :, None], rng.normal(size=(n_clips, max(lengths), 8)), 1e6)
    return batch_figure(
        features=features,
        mask=mask,
        tags=["knock, hum"] * n_clips,
        filenames=[f"{index}.wav" for index in range(n_clips)],
        timeline=FEATURE_GRID,
    )
