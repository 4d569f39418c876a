"""Where bands and seconds lie in a spectrogram."""

from __future__ import annotations

import numpy as np
import pytest
from clip_cases import Clip

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
