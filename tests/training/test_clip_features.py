"""Features of one clip, in one piece or in blocks: the same to the last bit, with the memory of a block."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from oracles.training_cases import RATE, SMALL, changed, lively_audio

from earmark.models.features import LogMel
from earmark.training import clip_features as module
from earmark.training.clip_features import clip_features, feature_blocks, length_remark

BLOCK = 12 * 320  # samples: twelve output frames, almost half a second


def whole(audio: np.ndarray, log_mel: LogMel, time_reduction: int) -> torch.Tensor:
    """The features in one piece."""
    unit = 160 * time_reduction
    padded = np.pad(audio, (0, -len(audio) % unit))
    return log_mel(torch.from_numpy(padded)[None])[0][: len(padded) // 160]


# --- laws ---


@pytest.mark.parametrize("framing", ["hop", "centred"])
@pytest.mark.parametrize("window_samples", [160, 256, 1024, 4000])  # a block reaches over itself with the last one
def test_blocks_are_the_whole(
    framing: str, window_samples: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK_SECONDS", BLOCK / RATE)
    log_mel = LogMel(changed(features={"framing": framing, "window_samples": window_samples}).features)
    context = -(-window_samples // 160) * 160
    borders = [BLOCK, BLOCK + context, 2 * BLOCK, 2 * BLOCK + context, 5 * BLOCK + context]
    lengths = [border + more for border in borders for more in (-321, -320, -1, 0, 1, 319, 320, 321)]
    for n_samples in (2001, *lengths, 50 * RATE):
        audio = lively_audio(rng, n_samples)
        expected = whole(audio, log_mel, 2)
        torch.testing.assert_close(clip_features(audio, log_mel, 2), expected, atol=1e-6, rtol=0)
        cuts = np.sort(rng.integers(0, n_samples, 5))
        pieces = list(feature_blocks(np.split(audio, cuts), log_mel, 2))
        torch.testing.assert_close(torch.cat(pieces), expected, atol=1e-6, rtol=0)
        assert all(len(piece) <= BLOCK // 160 + context // 160 + 2 for piece in pieces)
        assert (len(pieces) > 1) == (n_samples > BLOCK + context)


def test_a_clip_of_a_fixed_number_of_frames_is_filled_up_or_cut(rng: np.random.Generator) -> None:
    audio = lively_audio(rng, 4000)
    for framing, n_samples in (("hop", 50 * 160), ("centred", 49 * 160)):  # centred: one frame more than hops
        config = changed(features={"clip_frames": 50, "framing": framing}).features
        found = clip_features(audio, LogMel(config), time_reduction=2)
        padded = torch.from_numpy(np.pad(audio, (0, n_samples - 4000)))
        assert found.shape == (50, 16)
        torch.testing.assert_close(found, LogMel(config)(padded[None])[0])
        long = np.tile(audio, 5)
        expected = LogMel(config)(torch.from_numpy(long[:n_samples])[None])[0]
        torch.testing.assert_close(clip_features(long, LogMel(config), time_reduction=2), expected)
        (in_pieces,) = feature_blocks(np.split(long, [10, 3000, 7999, 9000]), LogMel(config), time_reduction=2)
        torch.testing.assert_close(in_pieces, expected)


def test_clips_of_their_own_length_are_whole_output_frames(rng: np.random.Generator) -> None:
    for framing in ("hop", "centred"):
        log_mel = LogMel(changed(features={"framing": framing}).features)
        for n_samples, n_frames in ((480, 4), (640, 4), (641, 8), (8000, 52)):  # 640 samples to a frame of four
            assert clip_features(lively_audio(rng, n_samples), log_mel, time_reduction=4).shape == (n_frames, 16)


def test_a_dynamic_range_is_that_of_the_whole_clip(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_SECONDS", BLOCK / RATE)
    audio = lively_audio(rng, 40000)
    log_mel = LogMel(changed(features={"dynamic_range_db": 20.0}).features)
    (found,) = feature_blocks(np.split(audio, 4), log_mel, time_reduction=2)
    torch.testing.assert_close(found, whole(audio, log_mel, 2))


# --- worked numbers ---


def test_remarks_about_lengths() -> None:
    # An output frame is 320 samples at 8 kHz, 40 ms.
    assert length_remark(0.04, SMALL) == ""
    assert length_remark(0.0399, SMALL) == "lasts only 0.04 s"
    assert length_remark(0.0002, SMALL) == "lasts only 0.0002 s"
    # 50 frames of 20 ms are used, and a window of 32 ms more is not missed.
    fixed = changed(features={"clip_frames": 50})
    assert length_remark(1.03, fixed) == ""
    assert length_remark(1.04, fixed) == "only the first 1.00 of 1.04 s are used, as features.clip_frames says"
    assert length_remark(0.01, fixed) == "lasts only 0.01 s"


# --- memory ---


def test_memory_does_not_grow_with_the_recording(tmp_path: Path, rng: np.random.Generator) -> None:
    """Peak memory while the store is made, in a process of its own, for 10 s and for a quarter of an hour beside it."""
    for number, minutes in enumerate((1 / 6, 15)):
        with soundfile.SoundFile(tmp_path / f"{number}.flac", "w", 16000, 1) as file:
            minute = (0.1 * rng.normal(size=16000 * 60)).astype(np.float32)
            for _ in range(max(1, round(minutes))):
                file.write(minute[: round(16000 * 60 * min(1.0, minutes))])
    code = (
        "import resource, sys, torch\n"
        "from pathlib import Path\n"
        "from earmark.config import Config\n"
        "from earmark.labels.weak import WeakClip\n"
        "from earmark.training.feature_store import feature_store\n"
        "torch.set_num_threads(1)\n"
        "names = ['0.flac', *sys.argv[2:]]\n"
        "clips = [WeakClip(name, frozenset(), None, None, None, {}, name) for name in names]\n"
        "folder = Path(sys.argv[1])\n"
        "store = feature_store(folder / 'cache', clips, folder, Config(), on_clip=lambda done: None)\n"
        "assert len(store) == len(names)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    peaks = [
        int(subprocess.run([sys.executable, "-c", code, tmp_path, *names], capture_output=True, check=True).stdout)
        for names in ((), ("1.flac",))
    ]
    # The samples alone are 58 MB, the spectrum of all of it 185 MB, several times.
    assert peaks[1] - peaks[0] < 100_000, peaks
