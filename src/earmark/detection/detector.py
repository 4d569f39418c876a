"""A trained model at work: recordings in, events out. Torch is not needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from earmark import checks
from earmark.audio import blocks, check_samples
from earmark.detection.decoding import decode
from earmark.detection.model_file import open_model
from earmark.detection.pieces import windows
from earmark.detection.settings import Decoding
from earmark.detection.tags import SpanTags, span_tags
from earmark.embeddings import EMBEDDING_SUFFIXES, frame_blocks, open_array
from earmark.events import Event

# Of a file in memory at a time; the network hears a piece of the model's own length.
_BLOCK_SECONDS = 30.0


@dataclass(frozen=True)
class Analysis:
    """What a model says about every frame of a recording.

    Args:
        frame_probs: float32 (frames, classes).
        scores: float32 (frames, classes); how much each frame counts in a tag (earmark.detection.tags). None when they
            were not asked for.
        duration_seconds: length of the recording.
        note: empty, or why only a part of the file could be used.

    Example:
        >>> silence = np.zeros((25, 2), np.float32)     # 25 frames, two classes
        >>> Analysis(silence, silence, duration_seconds=0.99, note="").frame_probs.max().item()
        0.0
    """

    frame_probs: NDArray[np.float32]
    scores: NDArray[np.float32] | None
    duration_seconds: float
    note: str


class Detector:
    """Marks events in recordings with an exported model.

    Args:
        path: an ``.onnx`` file from `earmark export`.
        n_threads: of the network. For many files, several detectors of one thread each are faster than one of many.

    Example:
        >>> import tempfile
        >>> from earmark.config import Config, FeatureConfig, ModelConfig
        >>> from earmark.models.crnn import Network
        >>> from earmark.models.export import export_onnx
        >>> features = FeatureConfig(sample_rate=1000, n_mels=1, window_samples=128, hop_samples=50)
        >>> small = ModelConfig(channels=(1,), pool_time=(2,), pool_mel=(1,), rnn_units=1)
        >>> network = Network(Config(features, small), ["dog"])
        >>> _ = network.crnn.linear.weight.data.zero_()     # untrained: it says 0.5 of everything
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "dogs.onnx")
        ...     _ = export_onnx(file, network, decoding=Decoding.fixed(["dog"]), clip_seconds=2.0, card={})
        ...     detector = Detector(file)
        >>> sound = np.zeros(2500, np.float32)
        >>> for event in detector(sound, sample_rate=1000):     # or detector("kitchen.flac")
        ...     print(event.onset, event.offset, event.label, event.score)
        0.0 2.5 dog 0.5
        >>> analysis = detector.analyse(sound, sample_rate=1000)     # once, for events and tags
        >>> analysis.frame_probs.shape     # 0.1 s per frame
        (25, 1)
        >>> detector.events(analysis, decoding=Decoding.fixed(["dog"], threshold=0.6))
        []
        >>> [(span.onset, span.offset, span.clip_probs.item()) for span in detector.tags(analysis)]
        [(0.0, 2.0, 0.5), (2.0, 2.5, 0.5)]
    """

    def __init__(self, path: Path | str, *, n_threads: int = 1) -> None:
        checks.number("n_threads", n_threads, at_least=1, whole=True)
        self._session, self.info = open_model(path, n_threads=int(n_threads))

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes, in the order of the last axis of all arrays."""
        return self.info.classes

    def __call__(self, audio: Path | str | NDArray[np.float32], *, sample_rate: int | None = None) -> list[Event]:
        """Return the events of a recording, sorted by onset.

        Args:
            audio: a file, or mono samples as float32 (samples,); for a model that learned from embeddings those,
                (frames, dims), or their file.
            sample_rate: of the samples; only for arrays of them.
        """
        return self.events(self.analyse(audio, sample_rate=sample_rate, with_scores=False))

    def analyse(
        self, audio: Path | str | NDArray[np.float32], *, sample_rate: int | None = None, with_scores: bool = True
    ) -> Analysis:
        """Return frame probabilities and scores of a recording of any length.

        Args:
            audio: a file, or mono samples as float32 (samples,).
            sample_rate: of the samples; only for arrays.
            with_scores: whether there will be tags; events need no scores, which are half of the memory of a day.

        Raises:
            ValueError: when the file cannot be read at all, or the array is not mono samples.
        """
        if self.info.n_dims is not None:
            return self._analyse_blocks(((block, "") for block in self._embeddings(audio, sample_rate)), with_scores)
        if isinstance(audio, np.ndarray):
            return self._analyse_blocks(iter([(self._samples(audio, sample_rate), "")]), with_scores)
        if not isinstance(audio, str | Path):
            raise ValueError(f"audio must be a file name or an array of samples, got {type(audio).__name__}")
        if sample_rate is not None:
            raise ValueError(f"sample_rate is only for arrays, got {sample_rate} with the file {audio}")
        if Path(audio).suffix.casefold() in EMBEDDING_SUFFIXES:
            raise ValueError(f"{audio}: is an array of NumPy, and this model expects {self.info.expects()}")
        rate = self.info.timeline.sample_rate
        arriving = blocks(audio, sample_rate=rate, block_seconds=_BLOCK_SECONDS)
        return self._analyse_blocks(((block.samples, block.note) for block in arriving), with_scores)

    def events(self, analysis: Analysis, *, decoding: Decoding | None = None) -> list[Event]:
        """Return the events in what `analyse` found, with the model's own decoding settings or others."""
        return decode(
            analysis.frame_probs,
            decoding=self.info.decoding if decoding is None else decoding,
            timeline=self.info.timeline,
            duration_seconds=analysis.duration_seconds,
        )

    def tags(self, analysis: Analysis) -> list[SpanTags]:
        """Return tag probabilities of every span as long as the clips the model learned from.

        Raises:
            ValueError: when the analysis is without scores.
        """
        if analysis.scores is None:
            raise ValueError("analysis must hold scores, got one without - call analyse with with_scores=True for tags")
        return span_tags(
            analysis.frame_probs,
            analysis.scores,
            rule=self.info.tag_rule,
            span_seconds=self.info.clip_seconds,
            timeline=self.info.timeline,
            duration_seconds=analysis.duration_seconds,
        )

    def _embeddings(
        self, given: Path | str | NDArray[np.float32], sample_rate: int | None
    ) -> Iterator[NDArray[np.float32]]:
        """The frames of a file or of an array of the caller's, (frames, dims) each, checked."""
        where, array = "embeddings", given
        if sample_rate is not None:
            raise ValueError(
                f"sample_rate is only for audio, got {sample_rate} - this model expects {self.info.expects()}"
            )
        if not isinstance(array, np.ndarray):
            if not isinstance(array, str | Path):
                raise ValueError(f"embeddings must be a file name or an array, got {type(array).__name__}")
            where, path = str(array), Path(array)
            if path.is_file() and path.suffix.casefold() not in EMBEDDING_SUFFIXES:
                raise ValueError(f"{where}: is no array of NumPy - this model expects {self.info.expects()}")
            array = open_array(path)
        checks.shape(where, array.shape, "(frames, dims)", hint=f"this model expects {self.info.expects()}")
        if array.shape[1] != self.info.n_dims or len(array) == 0:
            hint = " - are frames and dims swapped?" if array.shape[0] == self.info.n_dims else ""
            raise ValueError(f"{where}: has shape {array.shape}, but this model expects {self.info.expects()}{hint}")
        if array.dtype.kind not in "fiu":
            raise ValueError(f"{where}: must hold real numbers, got type {array.dtype} - save them as float32")
        yield from frame_blocks(array, where=where)

    def _samples(self, audio: NDArray[np.float32], sample_rate: int | None) -> NDArray[np.float32]:
        """An array of the caller's as the network's own samples."""
        checks.shape("audio", audio.shape, "(samples,)", hint="mix the channels first: audio.mean(axis=1)")
        if sample_rate is None:
            raise ValueError("sample_rate must be given with an array of samples, got None")
        checks.number("sample_rate", sample_rate, at_least=1)
        if audio.size == 0:
            raise ValueError("audio must hold at least one sample, got none")
        if not np.issubdtype(audio.dtype, np.floating):
            raise ValueError(
                f"audio must hold floating point samples from -1 to 1, got {audio.dtype}"
                " - divide 16-bit integers by 32768: (audio / 32768).astype('float32')"
            )
        check_samples(audio, where="audio", sample_rate=sample_rate)
        rate = self.info.timeline.sample_rate
        samples = np.ascontiguousarray(audio, np.float32)
        if sample_rate != rate:
            import soxr

            samples = soxr.resample(samples, sample_rate, rate)
        if samples.size == 0:
            raise ValueError(
                f"audio must last at least one sample at the model's {rate} samples per second, got {audio.size} at"
                f" {sample_rate}"
            )
        return samples

    def _analyse_blocks(self, arriving: Iterator[tuple[NDArray[np.float32], str]], with_scores: bool) -> Analysis:
        """The network over consecutive blocks of samples, each with a remark."""
        timeline, is_audio = self.info.timeline, self.info.n_dims is None
        # Of embeddings a "sample" is a frame; in seconds it lasts as long as the ticks of the grid between two frames.
        hop = timeline.hop_samples if is_audio else 1
        remarks: list[str] = []
        n_samples = 0

        def samples() -> Iterator[NDArray[np.float32]]:
            nonlocal n_samples
            for block, remark in arriving:
                n_samples += len(block)
                remarks.append(remark)
                yield block

        piece_frames = max(1, round(self.info.piece_seconds * timeline.frames_per_second))
        context_frames = round(self.info.context_seconds * timeline.frames_per_second)
        outputs = ["frame_probs", "scores"] if with_scores else ["frame_probs"]
        # Bytes grow in place. Arrays would be held twice while they are joined, and those of a day are large.
        joined = {name: bytearray() for name in outputs}
        for window in windows(samples(), piece_samples=piece_frames * hop, context_samples=context_frames * hop):
            heard = {"audio" if is_audio else "embeddings": window.samples[None]}
            found = self._session.run(outputs, heard)  # each (1, frames, classes)
            keep = slice(window.keep_from // hop, -(-window.keep_to // hop))
            for name, values in zip(outputs, found, strict=True):
                joined[name] += values[0, keep].tobytes()
        arrays = {name: np.frombuffer(data, np.float32).reshape(-1, len(self.classes)) for name, data in joined.items()}
        # The sigmoid of two libraries may leave [0, 1] by one rounding.
        np.clip(arrays["frame_probs"], 0.0, 1.0, out=arrays["frame_probs"])
        note = " ".join(remark for remark in remarks if remark)
        seconds = n_samples / timeline.sample_rate if is_audio else timeline.seconds(n_samples)
        return Analysis(arrays["frame_probs"], arrays.get("scores"), seconds, note)


def load(path: Path | str, *, n_threads: int = 1) -> Detector:
    """Return the detector in a model file.

    Args:
        path: an ``.onnx`` file from `earmark export`.
        n_threads: of the network.

    Raises:
        ValueError: when the file is not a model of ours.

    Example:
        >>> load("dogs.onnx")
        Traceback (most recent call last):
        ...
        ValueError: dogs.onnx: there is no such model file - train one with earmark train, then earmark export it
    """
    return Detector(path, n_threads=n_threads)
