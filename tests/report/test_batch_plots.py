"""What the pictures of batches contain."""

from __future__ import annotations

import numpy as np
import pytest
from clip_cases import OUTPUT_GRID, batch, marked, span

from earmark.report.batch_plots import batch_figure
from earmark.timeline import Timeline

# laws


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


# worked numbers


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


def test_dims_of_embeddings_are_called_so() -> None:
    figure = batch_figure(
        features=np.zeros((1, 20, 8)), mask=np.ones((1, 20), bool), tags=["dog"], filenames=["a.wav"],
        timeline=Timeline.of_frame_rate(2.0), band_name="dim",
    )  # fmt: skip
    assert figure.axes[0].get_ylabel() == "dim"
    assert figure.axes[0].get_xlim() == (0.0, 10.0)
