from __future__ import annotations

import numpy as np

from earmark.metrics.curves.cautions import curve_cautions
from earmark.metrics.curves.evaluation import evaluate_scores
from earmark.metrics.curves.scores import score_table


def test_scores_and_times_of_something_else_are_told() -> None:
    scores = score_table({"a.wav": [[0.1], [0.9]], "b.wav": np.zeros((0, 1))}, classes=["dog"], hop_seconds=1.0)
    late = evaluate_scores(scores, {"a.wav": [(0.0, 1.0, "dog"), (1.5, 30.0, "dog")], "b.wav": []})
    assert curve_cautions(late)[:3] == [
        "1 clip with scores but without a frame, so nothing can be found there (first: b.wav) - did the detector fail?",
        "1 reference event ends after the last frame of the clip's scores - are both in seconds, and of the same clips"
        "?",
        "the clips last 30 s together and their scores 2 s - are the durations in seconds, and the frames as long as"
        " they say?",
    ]
    reference = {"a.wav": [(0.0, 1.0, "dog")]}
    for seconds, n_cautions in ((15.0, 0), (2000.0, 1), (0.05, 2)):
        given = evaluate_scores(scores, reference, durations={"a.wav": seconds})
        assert sum("last" in sentence or "ends after" in sentence for sentence in curve_cautions(given)) == n_cautions
