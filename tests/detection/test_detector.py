"""The detector: the same as torch on the same sound, in one piece or many, from a file or an array."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from numpy.typing import NDArray
from oracles.training_cases import RATE, changed, exported, lively_audio, lively_network

from earmark.detection.decoding import decode
from earmark.detection.detector import Detector, load
from earmark.detection.settings import Decoding
from earmark.models.features import LogMel
from earmark.training.feature_store import clip_features


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that hears 2 s pieces with 0.8 s of context: longer than the memory of its network."""
    path = tmp_path_factory.mktemp("models") / "model.onnx"
    return exported(path, lively_network(), piece_seconds=2.0, context_seconds=0.8, clip_seconds=1.5)


@pytest.fixture(scope="module")
def one_piece(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same network with pieces longer than any recording here."""
    path = tmp_path_factory.mktemp("models") / "whole.onnx"
    return exported(path, lively_network(), piece_seconds=1000.0, clip_seconds=1.5)


def in_torch(audio: NDArray[np.float32]) -> NDArray[np.float32]:
    """Frame probabilities of the network in the models, on the features that training would have."""
    network = lively_network()
    features = clip_features(audio, LogMel(network.config.features), network.config.model.time_reduction)
    with torch.no_grad():
        probs: NDArray[np.float32] = torch.sigmoid(network(features[None]).logits)[0].numpy()
    return probs


def written(path: Path, audio: NDArray[np.float32], *, sample_rate: int = RATE) -> Path:
    """A float file, which keeps every bit."""
    soundfile.write(path, audio, sample_rate, subtype="FLOAT")
    return path


# --- laws ---


@pytest.mark.parametrize("n_samples", [1, 319, 8000, 12345])
def test_a_file_gives_what_torch_gives(
    n_samples: int, one_piece: Path, tmp_path: Path, rng: np.random.Generator
) -> None:
    audio = lively_audio(rng, n_samples)
    analysis = Detector(one_piece).analyse(written(tmp_path / "a.wav", audio))
    np.testing.assert_allclose(analysis.frame_probs, in_torch(audio), atol=2e-5)
    assert analysis.scores is not None
    assert analysis.frame_probs.shape == analysis.scores.shape == (-(-n_samples // 320), 3)
    assert (analysis.duration_seconds, analysis.note) == (n_samples / RATE, "")


@pytest.mark.parametrize("n_samples", [16000, 16001, 32000, 38400, 50001])
def test_pieces_give_what_one_piece_gives(
    n_samples: int, model: Path, one_piece: Path, rng: np.random.Generator
) -> None:
    audio = lively_audio(rng, n_samples)
    whole = Detector(one_piece).analyse(audio, sample_rate=RATE)
    cut = Detector(model).analyse(audio, sample_rate=RATE)
    np.testing.assert_allclose(cut.frame_probs, whole.frame_probs, atol=1e-3)
    assert cut.scores is not None
    assert whole.scores is not None
    assert cut.scores.shape == whole.scores.shape
    assert cut.duration_seconds == whole.duration_seconds


def test_without_context_the_seams_show(one_piece: Path, tmp_path: Path, rng: np.random.Generator) -> None:
    # The law above would be empty if this network had no memory at all.
    audio = lively_audio(rng, 40000)
    deaf = exported(tmp_path / "deaf.onnx", lively_network(), piece_seconds=2.0, context_seconds=0.0)
    found = Detector(deaf).analyse(audio, sample_rate=RATE).frame_probs
    whole = Detector(one_piece).analyse(audio, sample_rate=RATE).frame_probs
    assert np.abs(found - whole).max() > 1e-2


def test_a_file_and_its_samples_give_the_same_bits(model: Path, tmp_path: Path, rng: np.random.Generator) -> None:
    audio = lively_audio(rng, 45000)
    detector = Detector(model)
    from_file = detector.analyse(written(tmp_path / "a.wav", audio))
    from_array = detector.analyse(audio, sample_rate=RATE)
    np.testing.assert_array_equal(from_file.frame_probs, from_array.frame_probs)
    np.testing.assert_array_equal(from_file.scores, from_array.scores)
    assert detector(str(tmp_path / "a.wav")) == detector(audio, sample_rate=RATE) == detector.events(from_file)


def test_a_recording_of_minutes_arrives_in_blocks(model: Path, tmp_path: Path, rng: np.random.Generator) -> None:
    audio = lively_audio(rng, 75 * RATE)  # blocks are of 30 s
    detector = Detector(model)
    from_file = detector.analyse(written(tmp_path / "long.wav", audio))
    np.testing.assert_array_equal(from_file.frame_probs, detector.analyse(audio, sample_rate=RATE).frame_probs)
    assert from_file.duration_seconds == 75.0


def test_what_follows_later_changes_nothing_before_it(model: Path, rng: np.random.Generator) -> None:
    audio = lively_audio(rng, 60000)
    detector = Detector(model)
    part, whole = (detector.analyse(sound, sample_rate=RATE).frame_probs for sound in (audio[:48000], audio))
    np.testing.assert_array_equal(part[:100], whole[:100])  # two whole pieces of 50 frames


def test_another_sample_rate_is_resampled(model: Path, tmp_path: Path, rng: np.random.Generator) -> None:
    # Band-limited, so that both rates hold the same sound.
    seconds = np.arange(3 * 48000) / 48000
    tones = sum(0.05 * np.sin(2 * np.pi * hz * seconds) for hz in (300.0, 700.0, 1500.0, 2500.0))
    fast = (np.asarray(tones) * (1 + np.sin(2 * np.pi * seconds))).astype(np.float32)
    detector = Detector(model)
    slow = detector.analyse(np.ascontiguousarray(fast[::6]), sample_rate=8000)
    for found in (
        detector.analyse(fast, sample_rate=48000),
        detector.analyse(written(tmp_path / "f.wav", fast, sample_rate=48000)),
    ):
        assert found.duration_seconds == slow.duration_seconds == 3.0
        np.testing.assert_allclose(found.frame_probs[2:-2], slow.frame_probs[2:-2], atol=0.02)


def test_doubles_are_taken_and_strides_do_not_matter(model: Path, rng: np.random.Generator) -> None:
    audio = lively_audio(rng, 8000)
    detector = Detector(model)
    expected = detector.analyse(audio, sample_rate=RATE).frame_probs
    np.testing.assert_array_equal(detector.analyse(audio.astype(np.float64), sample_rate=RATE).frame_probs, expected)
    stereo = np.stack([audio, audio[::-1]], axis=1)
    np.testing.assert_array_equal(detector.analyse(stereo[:, 0], sample_rate=RATE).frame_probs, expected)


def test_events_and_tags_are_those_of_decoding(model: Path, rng: np.random.Generator) -> None:
    detector = Detector(model)
    analysis = detector.analyse(lively_audio(rng, 50000), sample_rate=RATE)
    timeline = detector.info.timeline
    own = decode(analysis.frame_probs, decoding=detector.info.decoding, timeline=timeline, duration_seconds=6.25)
    assert detector.events(analysis) == own
    assert own
    other = Decoding.fixed(detector.classes, threshold=0.05)
    assert detector.events(analysis, decoding=other) == decode(
        analysis.frame_probs, decoding=other, timeline=timeline, duration_seconds=6.25
    )
    # Spans of 1.5 s, the clips the model learned from; the last one is shorter.
    spans = detector.tags(analysis)
    assert [span.onset for span in spans] == pytest.approx([0, 1.52, 3.0, 4.52, 6.0])
    assert spans[-1].offset == 6.25
    assert all(span.clip_probs.shape == (3,) for span in spans)


def test_tags_of_a_clip_are_the_clip_probability_of_training(tmp_path: Path, rng: np.random.Generator) -> None:
    network = lively_network(changed(pooling={"name": "power", "initial": 2.0}))
    detector = Detector(exported(tmp_path / "power.onnx", network, clip_seconds=3.0))
    audio = lively_audio(rng, 3 * RATE)
    (span,) = detector.tags(detector.analyse(audio, sample_rate=RATE))
    features = clip_features(audio, LogMel(network.config.features), 2)
    with torch.no_grad():
        expected = network.pool(network(features[None]).logits)[0].numpy()
    np.testing.assert_allclose(span.clip_probs, expected, atol=2e-5)


def test_a_probability_that_rounding_carries_past_one_or_zero_is_one_or_zero(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Rounding:
        def run(self, outputs: list[str], inputs: dict[str, NDArray[np.float32]]) -> list[NDArray[np.float32]]:
            n_frames = inputs["audio"].shape[1] // 320
            probs = np.array([1 + 2**-23, -(2**-30), 0.25], np.float32)  # the first float32 above 1
            return [np.tile(probs, (1, n_frames, 1)), np.zeros((1, n_frames, 3), np.float32)]

    info = Detector(model).info
    monkeypatch.setattr("earmark.detection.detector.open_model", lambda path, n_threads: (Rounding(), info))
    detector = Detector(model)
    analysis = detector.analyse(np.zeros(3200, np.float32), sample_rate=RATE)
    np.testing.assert_array_equal(analysis.frame_probs, [[1.0, 0.0, 0.25]] * 10)
    assert [(event.label, event.score) for event in detector.events(analysis)] == [("high", 1.0)]
    assert detector.tags(analysis)[0].clip_probs == pytest.approx([1.0, 0.0, 0.25])


def test_events_need_no_scores(model: Path, rng: np.random.Generator) -> None:
    detector, audio = Detector(model), lively_audio(rng, 20000)
    whole = detector.analyse(audio, sample_rate=RATE)
    without = detector.analyse(audio, sample_rate=RATE, with_scores=False)
    assert without.scores is None
    np.testing.assert_array_equal(without.frame_probs, whole.frame_probs)
    assert detector.events(without) == detector.events(whole) == detector(audio, sample_rate=RATE)
    with pytest.raises(ValueError, match="analysis must hold scores, got one without - call analyse with with_scores"):
        detector.tags(without)


def test_what_is_found_in_a_long_recording_is_held_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Quick:
        def run(self, outputs: list[str], inputs: dict[str, NDArray[np.float32]]) -> list[NDArray[np.float32]]:
            return [np.full((1, inputs["audio"].shape[1] // 320, 3), 0.5, np.float32) for _ in outputs]

    info = Detector(model).info
    monkeypatch.setattr("earmark.detection.detector.open_model", lambda path, n_threads: (Quick(), info))
    detector, block, n_blocks = Detector(model), np.zeros(60 * RATE, np.float32), 300
    tracemalloc.start()
    try:
        analysis = detector._analyse_blocks(((block, "") for _ in range(n_blocks)), with_scores=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert analysis.scores is not None
    assert analysis.frame_probs.shape == analysis.scores.shape == (n_blocks * 60 * RATE // 320, 3)
    # An eighth more, because bytes grow ahead, and the pieces at work.
    assert peak < 1.2 * (analysis.frame_probs.nbytes + analysis.scores.nbytes) + 3 * block.nbytes


def test_more_threads_change_nothing_but_speed(model: Path, rng: np.random.Generator) -> None:
    audio = lively_audio(rng, 20000)
    one, two = (Detector(model, n_threads=n).analyse(audio, sample_rate=RATE).frame_probs for n in (1, 2))
    np.testing.assert_allclose(two, one, atol=1e-5)


def test_a_file_cut_short_is_used_as_far_as_it_goes(model: Path, tmp_path: Path, rng: np.random.Generator) -> None:
    whole = written(tmp_path / "a.wav", lively_audio(rng, 40000)).read_bytes()
    cut = tmp_path / "cut.wav"
    cut.write_bytes(whole[: len(whole) // 2])
    analysis = load(model).analyse(cut)
    assert 2.4 < analysis.duration_seconds < 2.6
    assert "only 2.5" in analysis.note


def test_neither_torch_nor_pandas_nor_scipy_is_needed(model: Path, tmp_path: Path, rng: np.random.Generator) -> None:
    file = written(tmp_path / "a.wav", lively_audio(rng, 8000), sample_rate=16000)
    program = (
        "import sys\n"
        "from earmark.detection.detector import load\n"
        f"detector = load({str(model)!r})\n"
        f"analysis = detector.analyse({str(file)!r})\n"
        "detector.events(analysis), detector.tags(analysis)\n"
        "print(sorted({'torch', 'pandas', 'scipy', 'onnx', 'librosa'} & set(sys.modules)))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


# --- wrong input ---


@pytest.mark.parametrize(
    ("audio", "sample_rate", "message"),
    [
        (np.zeros((99, 2), np.float32), RATE, r"audio must have shape \(samples,\), got \(99, 2\) - mix the channels"),
        (np.zeros(100, np.float32), None, "sample_rate must be given with an array of samples, got None"),
        (np.zeros(100, np.float32), 0, "sample_rate must be at least 1, got 0"),
        (np.zeros(0, np.float32), RATE, "audio must hold at least one sample, got none"),
        (np.zeros(100, np.int16), RATE, "must hold floating point samples from -1 to 1, got int16 - divide 16-bit"),
        (np.zeros(100, complex), RATE, "audio must hold floating point samples from -1 to 1, got complex128"),
        (np.array([0.0, np.nan], np.float32), RATE, r"audio: the sample at 0\.000 s is not a finite number"),
        (np.array([0.0, np.inf], np.float32), RATE, r"audio: the sample at 0\.000 s is not a finite number"),
        (np.zeros(1, np.float32), 48000, "audio must last at least one sample at the model's 8000 .* got 1 at 48000"),
        ([0.0, 0.1], RATE, "audio must be a file name or an array of samples, got list"),
        ("a.wav", RATE, "sample_rate is only for arrays, got 8000 with the file a.wav"),
        ("missing.wav", None, "missing.wav: no such file"),
    ],
    ids=str,
)  # fmt: skip
def test_audio_that_cannot_be_heard(audio: Any, sample_rate: int | None, message: str, model: Path) -> None:
    with pytest.raises(ValueError, match=message):
        Detector(model)(audio, sample_rate=sample_rate)


def test_a_detector_needs_a_thread(model: Path) -> None:
    with pytest.raises(ValueError, match="n_threads must be at least 1, got 0"):
        Detector(model, n_threads=0)
    with pytest.raises(ValueError, match=r"n_threads must be a whole number, got 1\.5"):
        Detector(model, n_threads=1.5)  # type: ignore[arg-type]


def test_a_file_that_holds_no_sound(model: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.wav").write_text("not a recording")
    with pytest.raises(ValueError, match=r"notes.wav: cannot be read as audio"):
        Detector(model).analyse(tmp_path / "notes.wav")
