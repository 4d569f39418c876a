"""All pictures earmark draws, behind one door.

Each function takes plain arrays and returns a matplotlib figure; `save` writes it, `png_bytes` is for pages.

Example:
    >>> from earmark.report import plots
    >>> figure = plots.comparison_figure(scores={"power": {"event F1": 0.74}})
    >>> plots.png_bytes(figure)[1:4]
    b'PNG'
"""

from __future__ import annotations

from earmark.report.batch_plots import batch_figure
from earmark.report.canvas import png_bytes, save
from earmark.report.clip_plots import clip_figure
from earmark.report.metric_plots import comparison_figure, metrics_by_class_figure
from earmark.report.pooling_plots import pooling_parameter_figure
from earmark.report.run_curves import run_curves
from earmark.report.track_plots import tracks_figure
from earmark.report.training_plots import TrainingCurves, training_figure

__all__ = [
    "TrainingCurves",
    "batch_figure",
    "clip_figure",
    "comparison_figure",
    "metrics_by_class_figure",
    "png_bytes",
    "pooling_parameter_figure",
    "run_curves",
    "save",
    "tracks_figure",
    "training_figure",
]
