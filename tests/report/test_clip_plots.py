"""What the pictures of clips contain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from earmark.events import Event
from earmark.report import canvas
from earmark.report.clip_plots import LANE_HEIGHT, batch_figure, clip_figure
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


# laws


def test_curves_are_the_probabilities_at_the_middle_of_their_frames() -> None:
    clip = Clip(shown_classes=["hum", "knock"])
    figure = clip.draw()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["spectrogram", "hum", "knock"]
    for axes, column in ((figure.axes[1], 1), (figure.axes[2], 0)):
        for name, probs in clip.frame_probs.items():
            curve = line(axes, f"curve {name}")
            np.testing.assert_array_equal(curve.get_ydata(), probs[:, column])
            assert np.asarray(curve.get_xdata()) == pytest.approx(0.02 + 0.04 * np.arange(50))


def test_systems_differ_without_colour() -> None:
    axes = Clip().draw().axes[1]
    assert line(axes, "curve power").is_dashed() != line(axes, "curve linear").is_dashed()


def test_the_threshold_is_a_dashed_line_at_its_height_and_named() -> None:
    axes = Clip().draw().axes[1]
    for name, height in (("power", 0.6), ("linear", 0.25)):
        threshold = line(axes, f"threshold {name}")
        assert list(np.asarray(threshold.get_ydata())) == [height, height]
        assert threshold.is_dashed()
        assert threshold.get_color() == canvas.system_looks([name])[name].colour
    assert [text.get_text() for text in axes.texts] == ["power: θyᶜ 0.60  (yᶜ 0.80)", "linear: θyᶜ 0.25  (yᶜ 0.50)"]


@pytest.mark.parametrize("nowhere", [np.nan, -0.3, 1.2])
def test_a_function_whose_gradient_keeps_its_sign_has_no_threshold(nowhere: float) -> None:
    clip = Clip(sign_thresholds={"power": np.array([0.6, 0.2]), "linear": np.array([nowhere, nowhere])})
    axes = clip.draw().axes[1]
    assert marked(axes, "threshold linear") == []
    assert len(marked(axes, "threshold power")) == 1
    assert axes.texts[1].get_text() == "linear: yᶜ 0.50"


def test_only_events_of_the_shown_class_are_drawn_at_their_times() -> None:
    axes = Clip().draw().axes[1]
    (shade,) = marked(axes, "reference")
    assert span(shade) == pytest.approx((0.4, 0.8))
    (bars,) = marked(axes, "detected power")
    assert isinstance(bars, PolyCollection)
    corners = bars.get_paths()[0].get_extents()
    assert (corners.x0, corners.x1) == pytest.approx((0.44, 0.8))
    assert (corners.y0 + corners.y1) / 2 == pytest.approx(-LANE_HEIGHT)  # the first lane under the curves
    (other,) = marked(axes, "detected linear")
    assert isinstance(other, PolyCollection)
    assert other.get_paths() == []


def test_saving_twice_gives_the_same_bytes(rng: np.random.Generator) -> None:
    for figure in (Clip().draw(), batch(rng, 2, [40, 25])):
        assert canvas.png_bytes(figure) == canvas.png_bytes(figure)


def test_padding_is_hatched_and_never_sets_the_colours(rng: np.random.Generator) -> None:
    figure = batch(rng, 3, [50, 20, 35])
    spans = [[span(patch) for patch in axes.patches if patch.get_hatch()] for axes in figure.axes]
    assert spans[0] == []
    assert spans[1:] == [[pytest.approx((0.4, 1.0))], [pytest.approx((0.7, 1.0))]]  # 20 and 35 of 50 frames, 20 ms
    ((lowest, highest),) = {axes.images[0].get_clim() for axes in figure.axes}
    assert -5 < lowest < highest < 5  # the sound is normally distributed, the padding a million


def test_silence_inside_a_clip_is_hatched_too() -> None:
    mask = np.array([[True, False, False, True, True]])
    figure = batch_figure(features=np.ones((1, 5, 4)), mask=mask, tags=[""], filenames=["a.wav"], timeline=OUTPUT_GRID)
    (patch,) = marked(figure.axes[0], "padding")
    assert span(patch) == pytest.approx((0.04, 0.12))  # frames 1 and 2 of 40 ms


def test_odd_names_are_drawn() -> None:
    clip = Clip(title='$x$ <b> "犬".wav')
    canvas.png_bytes(clip.draw())


# worked numbers


def test_the_spectrogram_has_low_bands_at_the_bottom_and_seconds_below() -> None:
    image = Clip().draw().axes[0].images[0]
    np.testing.assert_array_equal(np.asarray(image.get_array()), Clip().log_mel.T)
    assert image.origin == "lower"
    assert list(image.get_extent()) == pytest.approx([0, 2, 0, 8])  # 100 frames of 20 ms, 8 bands


def test_frequencies_stand_at_the_middle_of_their_bands() -> None:
    axes = Clip(mel_frequencies=np.array([250, 500, 750, 1000, 2000, 3000, 4000, 6000])).draw().axes[0]
    # 500 Hz is the centre of band 1, which fills the rows 1 to 2.
    assert axes.get_yticks() == pytest.approx([1.5, 3.5, 4.5, 6.5])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0.5", "1", "2", "4"]
    assert axes.get_ylabel() == "kHz"
    assert Clip().draw().axes[0].get_ylabel() == "mel band"


def test_a_batch_says_how_many_clips_it_does_not_draw(rng: np.random.Generator) -> None:
    figure = batch(rng, 14, [10] * 14)
    assert len(figure.axes) == 12
    assert figure.get_suptitle() == "12 clips of 14; 2 more are not drawn"
    assert batch(rng, 1, [10]).get_suptitle() == "1 clip"
    assert figure.axes[3].get_title(loc="left") == "3.wav\nknock, hum"


def test_max_clips_is_kept(rng: np.random.Generator) -> None:
    figure = batch_figure(
        features=rng.normal(size=(5, 10, 4)),
        mask=np.ones((5, 10), dtype=bool),
        tags=[""] * 5,
        filenames=["a"] * 5,
        timeline=OUTPUT_GRID,
        max_clips=2,
    )
    assert (len(figure.axes), figure.get_suptitle()) == (2, "2 clips of 5; 3 more are not drawn")


def test_long_names_are_cut_in_the_middle_and_long_tags_at_the_end() -> None:
    figure = batch_figure(
        features=np.ones((4, 5, 4)),
        mask=np.ones((4, 5), dtype=bool),
        timeline=OUTPUT_GRID,
        tags=["knock, hum, click, water, engine, glass"] * 4,
        filenames=["a" * 30 + "b" * 30] * 4,
    )
    # Four panels of 2.6 inch hold 34 letters: 17 + 1 + 16; tags 33 letters and a mark.
    assert figure.axes[0].get_title(loc="left") == "a" * 17 + "…" + "b" * 16 + "\nknock, hum, click, water, engine…"


# wrong input


def test_a_system_missing_in_one_mapping_is_named() -> None:
    clip = Clip(detected={"powr": [], "linear": []})
    with pytest.raises(ValueError, match=r"detected must have an entry .* none for 'power' - did you mean 'powr'"):
        clip.draw()


@pytest.mark.parametrize(
    ("clip", "message"),
    [
        (
            Clip(log_mel=np.zeros((1, 100, 8))),
            r"log_mel must have shape \(frames, mels\), got \(1, 100, 8\) - one clip",
        ),
        (Clip(shown_classes=["knok"]), "shown_classes: unknown class 'knok' .* did you mean 'knock'"),
        (Clip(shown_classes=[]), "shown_classes and frame_probs must not be empty"),
        (Clip(reference=[Event(0, 1, "Hum")]), "reference: unknown class 'Hum'"),
        (Clip(detected={"power": [Event(0, 1, "dog")], "linear": []}), r"detected\['power'\]: unknown class 'dog'"),
        (Clip(frame_probs={"power": np.zeros(50)}), r"frame_probs\['power'\] must have shape \(frames, classes\)"),
        (Clip(frame_probs={"power": np.zeros((50, 3))}), r"frame_probs\['power'\] must have 2 classes .* got 3 - are"),
        (Clip(clip_probs={"power": np.zeros(3), "linear": np.zeros(2)}), r"clip_probs\['power'\] must have 2 classes"),
        (
            Clip(sign_thresholds={"power": np.zeros(1), "linear": np.zeros(2)}),
            r"sign_thresholds\['power'\] must have 2",
        ),
    ],
)
def test_what_does_not_fit_is_named(clip: Clip, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clip.draw()


def test_a_batch_of_other_clips_is_refused() -> None:
    with pytest.raises(ValueError, match=r"mask, tags and filenames must describe the same clips.*per frame"):
        batch_figure(
            features=np.zeros((2, 5, 4)),
            mask=np.ones((2, 4), dtype=bool),
            tags=["", ""],
            filenames=["a", "b"],
            timeline=OUTPUT_GRID,
        )
    with pytest.raises(ValueError, match="features must have shape"):
        batch_figure(
            features=np.zeros((5, 4)),
            mask=np.ones((1, 5), dtype=bool),
            tags=[""],
            filenames=["a"],
            timeline=OUTPUT_GRID,
        )
    with pytest.raises(ValueError, match="max_clips must be at least 1, got 0"):
        batch_figure(
            features=np.zeros((1, 5, 4)),
            mask=np.ones((1, 5), dtype=bool),
            tags=[""],
            filenames=["a"],
            timeline=OUTPUT_GRID,
            max_clips=0,
        )
