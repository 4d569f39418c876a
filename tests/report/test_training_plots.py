"""What the picture of a training run contains."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from earmark.report import canvas
from earmark.report.training_plots import TrainingCurves, training_figure

CLASSES = ["knock", "hum", "hiss"]


def curves(
    name: str,
    rng: np.random.Generator,
    *,
    n_steps: int = 100,
    n_epochs: int = 5,
    learns_n: bool = True,
    kept_epoch: int | None = None,
) -> TrainingCurves:
    """A made-up run."""
    return TrainingCurves(
        name,
        np.arange(n_steps),
        rng.uniform(0.1, 0.7, n_steps),
        np.arange(1, n_epochs + 1),
        held_out={"clip F1": rng.uniform(0, 1, n_epochs), "event F1": rng.uniform(0, 1, n_epochs)},
        n_values=rng.uniform(0.5, 2, (n_epochs, 3)) if learns_n else None,
        kept_epoch=kept_epoch,
    )


def lines(axes: Axes) -> Mapping[str, Line2D]:
    """The lines of the panel by name."""
    return {str(line.get_gid()): line for line in axes.lines}


# laws


@pytest.mark.parametrize("learns_n", [True, False])  # four panels, and three
def test_several_panels_fill_a_sheet(rng: np.random.Generator, learns_n: bool) -> None:
    figure = training_figure([curves("power", rng, learns_n=learns_n)], classes=CLASSES)
    assert figure.get_figwidth() == canvas.SHEET_INCHES
    for axes in figure.axes:
        box = axes.xaxis.label.get_window_extent()
        others = [other.xaxis.label.get_window_extent() for other in figure.axes if other is not axes]
        assert not any(box.overlaps(other) for other in others)
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1


def test_every_line_is_its_input(rng: np.random.Generator) -> None:
    power, linear = curves("power", rng), curves("linear", rng, learns_n=False)
    loss, clip, event, n = training_figure([power, linear], classes=CLASSES).axes
    for run in (power, linear):
        np.testing.assert_array_equal(lines(loss)[f"loss {run.name}"].get_ydata(), run.losses)
        np.testing.assert_array_equal(lines(loss)[f"loss {run.name}"].get_xdata(), run.steps)
        np.testing.assert_array_equal(lines(clip)[f"held-out {run.name}"].get_ydata(), run.held_out["clip F1"])
        np.testing.assert_array_equal(lines(event)[f"held-out {run.name}"].get_ydata(), run.held_out["event F1"])
    assert power.n_values is not None
    for column, label in enumerate(CLASSES):
        np.testing.assert_array_equal(lines(n)[f"n {label}"].get_ydata(), power.n_values[:, column])
    assert n.get_title(loc="left") == "n per class: power"
    assert [text.get_text() for text in n.texts] == CLASSES


def test_saving_twice_gives_the_same_bytes(rng: np.random.Generator) -> None:
    figure = training_figure([curves("power", rng)], classes=CLASSES)
    assert canvas.png_bytes(figure) == canvas.png_bytes(figure)


@pytest.mark.parametrize("n_runs", [1, 2, 4])
def test_each_run_that_learns_n_has_its_own_panel(rng: np.random.Generator, n_runs: int) -> None:
    figure = training_figure([curves(f"run {index}", rng) for index in range(n_runs)], classes=CLASSES)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [
        "training loss",
        "held-out clip F1",
        "held-out event F1",
        *(f"n per class: run {index}" for index in range(n_runs)),
    ]


# worked numbers


def test_the_bold_line_is_the_mean_of_a_twenty_fifth_of_the_steps(rng: np.random.Generator) -> None:
    losses = np.arange(100.0)  # 100 / 25 = 4 steps: the first mean is (0 + 1 + 2 + 3) / 4 = 1.5, at step 3
    run = TrainingCurves("power", np.arange(100), losses, np.arange(0))
    mean = lines(training_figure([run], classes=CLASSES).axes[0])["mean loss power"]
    assert np.asarray(mean.get_ydata())[0] == pytest.approx(1.5)
    assert np.asarray(mean.get_xdata())[[0, -1]].tolist() == [3, 99]


def test_the_kept_epoch_has_a_ring(rng: np.random.Generator) -> None:
    run = curves("power", rng, kept_epoch=4)
    axes = training_figure([run], classes=CLASSES).axes[1]
    ring = lines(axes)["kept power"]
    assert (ring.get_xdata(), ring.get_ydata()) == ([4], [run.held_out["clip F1"][3]])
    assert axes.get_xlabel() == "epoch (ring: the weights that were kept)"
    without = training_figure([curves("power", rng)], classes=CLASSES).axes[1]
    assert ("kept power" in lines(without), without.get_xlabel()) == (False, "epoch")


def test_the_line_of_linear_softmax_is_at_one(rng: np.random.Generator) -> None:
    axes = training_figure([curves("power", rng)], classes=CLASSES).axes[-1]
    assert np.asarray(lines(axes)["linear softmax"].get_ydata()).tolist() == [1, 1]


def test_a_run_of_one_epoch_can_be_seen(rng: np.random.Generator) -> None:
    figure = training_figure([curves("power", rng, n_epochs=1)], classes=CLASSES)
    assert lines(figure.axes[1])["held-out power"].get_marker() == "o"
    assert lines(figure.axes[3])["n knock"].get_marker() == "o"
    canvas.png_bytes(figure)


def test_a_run_killed_in_its_first_epoch_still_shows_its_loss(rng: np.random.Generator) -> None:
    run = TrainingCurves("power", np.arange(2), np.array([0.7, 0.6]), np.arange(0), n_values=np.zeros((0, 3)))
    figure = training_figure([run], classes=CLASSES)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["training loss"]


# wrong input


def test_arrays_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="losses of 'power' must have 3 entries, got 2 - are steps and epochs mixed"):
        TrainingCurves("power", np.arange(3), np.zeros(2), np.arange(1))
    with pytest.raises(ValueError, match=r"held_out\['F1'\] of 'power' must have 2 entries, got 3"):
        TrainingCurves("power", np.arange(1), np.zeros(1), np.arange(2), held_out={"F1": np.zeros(3)})
    with pytest.raises(ValueError, match="n_values of 'power' must have 2 entries, got 1"):
        TrainingCurves("power", np.arange(1), np.zeros(1), np.arange(2), n_values=np.ones((1, 3)))


def test_n_that_is_not_finite_or_of_another_model_is_refused(rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match=r"n_values of 'power' must be finite.*end with NaN"):
        TrainingCurves("power", np.arange(1), np.zeros(1), np.arange(1), n_values=np.array([[np.nan]]))
    with pytest.raises(ValueError, match=r"n_values must have shape \(epochs, classes\)"):
        TrainingCurves("power", np.arange(1), np.zeros(1), np.arange(1), n_values=np.ones(1))
    with pytest.raises(ValueError, match="must have 2 classes on the last axis, got 3 - is this the run of another"):
        training_figure([curves("power", rng)], classes=["knock", "hum"])


def test_no_run_and_two_of_one_name_are_refused(rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match="runs must have at least one entry"):
        training_figure([], classes=CLASSES)
    with pytest.raises(ValueError, match="names must be different"):
        training_figure([curves("power", rng), curves("power", rng)], classes=CLASSES)
