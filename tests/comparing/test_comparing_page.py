from __future__ import annotations

import numpy as np
import pytest
from comparing_cases import made_up

from earmark.comparing.page import differences_figure


def test_differences_are_drawn_seed_by_seed_with_linear_at_0() -> None:
    found = made_up({"power": (0.70, 0.74), "linear": (0.66, 0.68)})
    figure = differences_figure(found)
    assert figure is not None
    lines = {line.get_gid(): line for line in figure.axes[0].lines}
    assert np.asarray(lines["single power"].get_xdata()).tolist() == pytest.approx([0.04, 0.06])
    assert np.asarray(lines["mean power"].get_xdata()).tolist() == pytest.approx([0.05])
    assert np.asarray(lines["reference"].get_xdata()).tolist() == [0.0, 0.0]


def test_without_linear_there_is_nothing_to_draw() -> None:
    found = made_up({"power": (0.70,), "linear": (0.66,)}, missing=[("linear", 0)])
    assert differences_figure(found) is None
