"""What an exported model file says about itself, and how it is opened. Torch is not needed for any of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnxruntime

from earmark import checks
from earmark.detection.settings import Decoding
from earmark.timeline import Timeline

METADATA_KEY = "earmark"
_FORMAT, _FORMAT_OF_EMBEDDINGS = 1, 2


@dataclass(frozen=True)
class ModelInfo:
    """Everything detection needs besides the network itself.

    Args:
        classes: names, in the order of the network's output.
        timeline: sample rate, and the grid of the output frames; of embeddings only the grid means anything.
        decoding: how frame probabilities become events.
        pooling: name of the pooling function.
        pooling_parameter: what its trained parameter is called, ``"n"`` or ``"alpha"``; None when it has none.
        pooling_values: that parameter per class.
        piece_seconds: long recordings are detected in pieces of this length.
        context_seconds: heard on both sides of a piece, and thrown away.
        clip_seconds: length of the clips the network learned from, over which tags are given.
        version: of earmark that exported it.
        card: what it was trained on.
        n_dims: of the embeddings it takes, (frames, dims) on the grid of `timeline`; None: it takes audio.

    Example:
        >>> info = ModelInfo(
        ...     classes=("dog",), timeline=Timeline(16000, 640), decoding=Decoding.fixed(["dog"]),
        ...     pooling="power", pooling_parameter="n", pooling_values=(1.5,),
        ...     piece_seconds=60.0, context_seconds=4.0, clip_seconds=10.0, version="0.1.0", card={"clips": 400},
        ... )
        >>> info.tag_rule, info.to_dict()["hop_samples"]
        ('softmax', 640)
        >>> ModelInfo.from_dict(info.to_dict()) == info
        True
    """

    classes: tuple[str, ...]
    timeline: Timeline
    decoding: Decoding
    pooling: str
    pooling_parameter: str | None
    pooling_values: tuple[float, ...] | None
    piece_seconds: float
    context_seconds: float
    clip_seconds: float
    version: str
    card: dict[str, Any]
    n_dims: int | None = None

    def __post_init__(self) -> None:
        checks.number("piece_seconds", self.piece_seconds, at_least=self.timeline.hop_seconds, hint="60 is usual")
        checks.number("context_seconds", self.context_seconds, at_least=0, hint="4 is usual")
        checks.number("clip_seconds", self.clip_seconds, above=0, hint="the length of the training clips")

    @property
    def tag_rule(self) -> str:
        """How scores weigh frames in a tag: ``"max"`` or ``"softmax"`` (earmark.detection.tags)."""
        return "max" if self.pooling == "max" else "softmax"

    def expects(self) -> str:
        """Return what the model takes, in words.

        Example:
            >>> from dataclasses import replace
            >>> grid, decoding = Timeline(16000, 640), Decoding.fixed(["dog"])
            >>> info = ModelInfo(("dog",), grid, decoding, "linear", None, None, 60.0, 4.0, 10.0, "0.1.0", {})
            >>> info.expects()
            'recordings'
            >>> replace(info, timeline=Timeline.of_frame_rate(2.0), n_dims=768).expects()
            'embeddings in .npy or .npz, arrays (frames, 768) with 2 frames per second, made by the network whose ...'
        """
        if self.n_dims is None:
            return "recordings"
        rate = f"{self.timeline.frames_per_second:.6g} frames per second"
        return (
            f"embeddings in .npy or .npz, arrays (frames, {self.n_dims}) with {rate}, made by the network whose"
            " embeddings it learned from"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        values = self._to_dict()
        if self.n_dims is not None:  # unknown to format 1, which would feed it sound
            values |= {"format": _FORMAT_OF_EMBEDDINGS, "n_dims": self.n_dims}
        return values

    def _to_dict(self) -> dict[str, Any]:
        """What is the same for every model."""
        return {
            "format": _FORMAT,
            "version": self.version,
            "classes": list(self.classes),
            "sample_rate": self.timeline.sample_rate,
            "hop_samples": self.timeline.hop_samples,
            "decoding": self.decoding.to_dict(),
            "pooling": self.pooling,
            "pooling_parameter": self.pooling_parameter,
            "pooling_values": None if self.pooling_values is None else list(self.pooling_values),
            "piece_seconds": self.piece_seconds,
            "context_seconds": self.context_seconds,
            "clip_seconds": self.clip_seconds,
            "card": self.card,
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> ModelInfo:
        """Return what `to_dict` wrote."""
        pooling_values = values["pooling_values"]
        return cls(
            classes=tuple(values["classes"]),
            timeline=Timeline(values["sample_rate"], values["hop_samples"]),
            decoding=Decoding.from_dict(values["decoding"]),
            pooling=values["pooling"],
            pooling_parameter=values["pooling_parameter"],
            pooling_values=None if pooling_values is None else tuple(pooling_values),
            piece_seconds=values["piece_seconds"],
            context_seconds=values["context_seconds"],
            clip_seconds=values["clip_seconds"],
            version=values["version"],
            card=values["card"],
            n_dims=values.get("n_dims"),
        )


def open_model(path: Path | str, *, n_threads: int = 1) -> tuple[onnxruntime.InferenceSession, ModelInfo]:
    """Return the network, ready to run, and what its file says about it.

    Args:
        path: an ``.onnx`` file that `earmark export` wrote.
        n_threads: of one run of the network.

    Raises:
        ValueError: when the file is not there, not ONNX, not one of ours, or from a later version.

    Example:
        >>> open_model("dogs.onnx")
        Traceback (most recent call last):
        ...
        ValueError: dogs.onnx: there is no such model file - train one with earmark train, then earmark export it
    """
    file = Path(path)
    if file.is_dir():
        raise ValueError(
            f"{file}: is a folder - if it is a run, make a model of it with: earmark export {file} FILE.onnx"
        )
    if not file.is_file():
        raise ValueError(f"{file}: there is no such model file - train one with earmark train, then earmark export it")
    if file.suffix == ".safetensors":
        raise ValueError(f"{file}: is a model for training - make one for detection with: earmark export RUN FILE.onnx")
    try:
        session = onnxruntime.InferenceSession(
            str(file), session_options(n_threads), providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's own exceptions share no base class of their own
        reason = str(error).splitlines()[0]
        raise ValueError(f"{file}: is no readable ONNX file ({reason}) - is it damaged or cut short?") from error
    metadata = session.get_modelmeta().custom_metadata_map
    if METADATA_KEY not in metadata:
        raise ValueError(f"{file}: is an ONNX file, but not one that earmark export wrote")
    try:
        values = json.loads(metadata[METADATA_KEY])
        is_newer = values["format"] > max(_FORMAT, _FORMAT_OF_EMBEDDINGS)
        info = None if is_newer else ModelInfo.from_dict(values)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{file}: what the file says about itself cannot be read ({error!r}) - is it damaged?"
        ) from error
    if info is None:
        raise ValueError(
            f"{file}: was exported by earmark {values['version']}, which is newer than this one - upgrade earmark"
        )
    return session, info


def session_options(n_threads: int) -> onnxruntime.SessionOptions:
    """Return options with a fixed number of threads that sleep while they wait.

    Example:
        >>> session_options(2).intra_op_num_threads
        2
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = n_threads
    options.inter_op_num_threads = 1
    # Spinning threads take the processor from the readers and the other workers.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # A plan of the memory for every length that comes, kept forever: 40 MB for pieces of a minute, and no faster.
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    return options
