"""The door to all pictures."""

from __future__ import annotations

import inspect

from earmark.report import plots

# laws


def test_everything_behind_the_door_exists_and_says_what_it_does() -> None:
    for name in plots.__all__:
        assert inspect.getdoc(getattr(plots, name)), name


# worked numbers


def test_the_door_opens_on_every_picture() -> None:
    assert {name for name in plots.__all__ if name.endswith("_figure")} == {
        "batch_figure",
        "clip_figure",
        "comparison_figure",
        "metrics_by_class_figure",
        "pooling_parameter_figure",
        "tracks_figure",
        "training_figure",
    }
