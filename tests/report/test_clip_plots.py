"""What the pictures of clips contain."""

from __future__ import annotations

import numpy as np
import pytest
from clip_cases import Clip, batch, line, marked, span
from matplotlib.collections import PolyCollection
from matplotlib.text import Text

from earmark.events import Event
from earmark.report import canvas
from earmark.report.clip_plots import LANE_HEIGHT

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


def test_the_threshold_is_a_dashed_line_at_its_height_and_written_beside_the_lane() -> None:
    axes = Clip().draw().axes[1]
    for name, height in (("power", 0.6), ("linear", 0.25)):
        threshold = line(axes, f"threshold {name}")
        assert list(np.asarray(threshold.get_ydata())) == [height, height]
        assert threshold.is_dashed()
        assert threshold.get_color() == canvas.system_looks([name])[name].colour
    assert [text.get_text() for text in axes.texts] == ["yᶜ 0.80  θyᶜ 0.60", "yᶜ 0.50  θyᶜ 0.25"]
    lanes = dict(zip([label.get_text() for label in axes.get_yticklabels()], axes.get_yticks(), strict=True))
    for name, text in zip(("power", "linear"), axes.texts, strict=True):
        assert text.get_position()[1] == lanes[name]
        assert text.get_color() == canvas.system_looks([name])[name].colour


@pytest.mark.parametrize("nowhere", [np.nan, -0.3, 1.2])
def test_a_function_whose_gradient_keeps_its_sign_has_no_threshold(nowhere: float) -> None:
    clip = Clip(sign_thresholds={"power": np.array([0.6, 0.2]), "linear": np.array([nowhere, nowhere])})
    axes = clip.draw().axes[1]
    assert marked(axes, "threshold linear") == []
    assert len(marked(axes, "threshold power")) == 1
    assert axes.texts[1].get_text() == "yᶜ 0.50"


@pytest.mark.parametrize("n_systems", [1, 2, 6])
def test_nothing_is_cut_off_at_the_edge_of_the_sheet(n_systems: int) -> None:
    names = [f"system {index}" for index in range(n_systems)]
    clip = Clip(
        shown_classes=["hum", "knock"],
        frame_probs=dict.fromkeys(names, np.full((50, 2), 0.5)),
        detected={name: [] for name in names},
        clip_probs=dict.fromkeys(names, np.full(2, 0.5)),
        sign_thresholds=dict.fromkeys(names, np.full(2, 0.25)),
        title="a name as long as a recorder likes to make them " * 3,
    )
    figure = clip.draw()
    assert figure.get_figwidth() == canvas.SHEET_INCHES
    texts = [text for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text()]
    assert sum("θyᶜ" in text.get_text() for text in texts) == 2 * n_systems + 1  # and one explains them
    for box in [text.get_window_extent() for text in texts]:
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1


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


def test_odd_names_are_drawn() -> None:
    clip = Clip(title='$x$ <b> "犬".wav')
    canvas.png_bytes(clip.draw())


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
