"""Every threshold at once: curves from frame scores, exact PSDS, and how sure they are.

Example:
    >>> from earmark.metrics import curves
    >>> scores = curves.score_table({"a.wav": [[0.1], [0.9], [0.8], [0.2]]}, classes=["dog"], hop_seconds=1.0)
    >>> clips = curves.scored_clips(scores, {"a.wav": [(1.0, 3.0, "dog")]})
    >>> curves.collar_curves(clips).macro_best.f1, curves.psds(clips).value
    (1.0, 1.0)
"""

from earmark.metrics.curves.collar import collar_curves
from earmark.metrics.curves.curve import BestPoint, Curve, Curves
from earmark.metrics.curves.folder import read_scores, scores_from_frames, unread_scores
from earmark.metrics.curves.intersection import Criteria, intersection_curves
from earmark.metrics.curves.items import clip_curves, segment_curves
from earmark.metrics.curves.median import median_filtered
from earmark.metrics.curves.psds import SCENARIO_1, SCENARIO_2, Psds, Roc, Scenario, psds
from earmark.metrics.curves.scored_clips import ScoredClips, scored_clips
from earmark.metrics.curves.scores import ScoreTable, score_table
from earmark.metrics.curves.uncertainty import (
    CurveComparison,
    CurveUncertainty,
    compare_curves,
    curve_uncertainty,
)

__all__ = [
    "SCENARIO_1",
    "SCENARIO_2",
    "BestPoint",
    "Criteria",
    "Curve",
    "CurveComparison",
    "CurveUncertainty",
    "Curves",
    "Psds",
    "Roc",
    "Scenario",
    "ScoreTable",
    "ScoredClips",
    "clip_curves",
    "collar_curves",
    "compare_curves",
    "curve_uncertainty",
    "intersection_curves",
    "median_filtered",
    "psds",
    "read_scores",
    "score_table",
    "scored_clips",
    "scores_from_frames",
    "segment_curves",
    "unread_scores",
]
