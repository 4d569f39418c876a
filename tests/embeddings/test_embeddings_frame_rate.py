"""How many frames make a second."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from earmark.embeddings import fits, frame_rate_beside, frame_rate_from

# --- laws ---


@pytest.mark.parametrize("rate", [0.5, 2.0, 25.0, 31.25, 50.0, 100.0])
@pytest.mark.parametrize("frames_of", ["ceil", "floor", "centred", "window"])
def test_recordings_of_many_lengths_tell_the_rate(rng: np.random.Generator, rate: float, frames_of: str) -> None:
    seconds = rng.uniform(4 / rate, 600, 200)
    exact = seconds * rate
    frames = {
        "ceil": np.ceil(exact),
        "floor": np.floor(exact),
        "centred": np.floor(exact) + 1,  # a window around every hop, from the first sample to the last
        "window": np.floor(exact - 1.5) + 1,  # only windows of 1.5 hops that lie inside
    }[frames_of].astype(int)
    assert all(fits(n, length, rate) for n, length in zip(frames, seconds, strict=True))
    found = frame_rate_from(frames.tolist(), seconds.tolist())
    assert found is not None
    assert found.frames_per_second == rate
    assert found.lowest <= rate <= found.highest


def test_a_few_wrong_recordings_do_not_change_it(rng: np.random.Generator) -> None:
    seconds = rng.uniform(5, 60, 50)
    frames = np.ceil(seconds * 2.0).astype(int)
    frames[:10] *= 3
    found = frame_rate_from(frames.tolist(), seconds.tolist())
    assert found is not None
    assert found.frames_per_second == 2.0


# --- worked numbers ---


def test_how_sure_it_is() -> None:
    # 20 frames in 10 s: from (20 - 1 - 0.05) / 10 to (20 + 2 + 0.05) / 10 per second.
    found = frame_rate_from([20], [10.0])
    assert found is not None
    assert (found.frames_per_second, found.lowest, found.highest) == pytest.approx((2.0, 1.895, 2.205))
    assert found.in_words == "2 frames per second (1.895 to 2.205 would fit as well)"
    assert frame_rate_from([], []) is None


def test_which_lengths_fit() -> None:
    # 10 s at 2 frames per second: 20, one more for centred windows, two fewer for windows that must lie inside.
    assert [n for n in range(30) if fits(n, 10.0, 2.0)] == [18, 19, 20, 21]
    assert fits(1, 0.1, 2.0)  # shorter than a frame


def test_the_rate_beside_the_arrays(tmp_path: Path) -> None:
    assert frame_rate_beside(tmp_path) is None
    (tmp_path / "features.toml").write_text('model = "some network"\nframes_per_second = 2')
    assert frame_rate_beside(tmp_path) == 2.0
    (tmp_path / "features.json").write_text('{"frames_per_second": 2.0}')
    assert frame_rate_beside(tmp_path) == 2.0


# --- wrong input ---


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"features\.json: cannot be read"),
        ("[2]", r'features\.json: must state the frame rate, as in {"frames_per_second": 2\.0}'),
        ('{"fps": 2}', "must state the frame rate"),
        ('{"frames_per_second": "2"}', r"features\.json: frames_per_second must be a number, got '2'"),
        ('{"frames_per_second": 0}', "frames_per_second must be above 0, got 0 - frames of 0.5 s are 2 per second"),
        ('{"frames_per_second": NaN}', "frames_per_second must be above 0, got nan"),
    ],
)
def test_files_that_state_no_rate(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "features.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        frame_rate_beside(tmp_path)


def test_two_files_that_disagree(tmp_path: Path) -> None:
    (tmp_path / "features.json").write_text('{"frames_per_second": 2.0}')
    (tmp_path / "features.toml").write_text("frames_per_second = 50")
    with pytest.raises(ValueError, match=r"features\.json and features\.toml state different frame rates"):
        frame_rate_beside(tmp_path)
