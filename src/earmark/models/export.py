"""From a trained network to one ONNX file: waveform (or embeddings) in, frame probabilities and pooling scores out.

Features, network and, in the file's metadata, classes, decoding and everything else detection needs. The file is
checked against torch, on audio of several lengths, before anybody sees it.
"""

from __future__ import annotations

import copy
import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

import earmark
from earmark.config import Config, not_deployable
from earmark.detection.model_file import METADATA_KEY, ModelInfo, session_options
from earmark.detection.settings import Decoding
from earmark.files import write_atomic
from earmark.models.crnn import Network
from earmark.models.features import LogMel
from earmark.pooling.maximum import Max
from earmark.timeline import Timeline

# Two implementations of the same float32 arithmetic, summed in another order.
_LARGEST_DIFFERENCE = 1e-4
_OPSET = 17


class DeployedNetwork(nn.Module):
    """A network with its features in front, as it is exported: (batch, samples) of audio in.

    Args:
        network: trained.

    Example:
        >>> from earmark.config import Config
        >>> deployed = DeployedNetwork(Network(Config(), ["cat", "dog"])).eval()
        >>> frame_probs, scores = deployed(torch.zeros(1, 16000))
        >>> frame_probs.shape, scores.shape     # (batch, frames, classes), 40 ms frames
        (torch.Size([1, 25, 2]), torch.Size([1, 25, 2]))
    """

    input_name, input_axes = "audio", {0: "batch", 1: "samples"}

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.log_mel = LogMel(network.config.features)
        timeline = output_timeline(network.config)
        self.unit, self.rate = timeline.hop_samples, timeline.sample_rate

    def forward(self, audio: Tensor) -> tuple[Tensor, Tensor]:
        """Return frame probabilities and pooling scores, both (batch, frames, classes)."""
        # Filled up with silence to whole output frames, as training clips are.
        audio = functional.pad(audio, (0, (self.unit - audio.shape[1] % self.unit) % self.unit))
        n_frames = audio.shape[1] // self.unit * self.network.crnn.time_reduction
        return _probs_and_scores(self.network, self.log_mel(audio)[:, :n_frames])

    def examples(self, rng: np.random.Generator) -> list[NDArray[np.float32]]:
        """Noise and silence of several lengths and batch sizes; the first is not a whole number of frames long."""
        found = []
        for n_clips, n_samples in ((1, 25 * self.unit + 1), (1, 1), (1, 7 * self.unit), (3, 10 * self.rate + 1)):
            loudness = 10.0 ** rng.uniform(-4, 0, (n_clips, 1))
            audio = (loudness * rng.standard_normal((n_clips, n_samples))).astype(np.float32)
            audio[:, n_samples // 2 :] = 0
            found.append(audio)
        return found


class DeployedEmbeddings(nn.Module):
    """A network that learned from embeddings, as it is exported: (batch, frames, dims) in.

    Args:
        network: trained.

    Example:
        >>> from earmark.config import Config, for_embeddings
        >>> network = Network(for_embeddings(Config(), frames_per_second=2.0, n_dims=8), ["cat", "dog"])
        >>> frame_probs, scores = DeployedEmbeddings(network).eval()(torch.zeros(1, 20, 8))
        >>> frame_probs.shape, scores.shape     # (batch, frames, classes), the frames of the embeddings
        (torch.Size([1, 20, 2]), torch.Size([1, 20, 2]))
    """

    input_name, input_axes = "embeddings", {0: "batch", 1: "frames"}

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, embeddings: Tensor) -> tuple[Tensor, Tensor]:
        """Return frame probabilities and pooling scores, both (batch, frames, classes)."""
        return _probs_and_scores(self.network, embeddings)

    def examples(self, rng: np.random.Generator) -> list[NDArray[np.float32]]:
        """Random frames around the training mean, of several lengths and batch sizes."""
        mean, deviation = self.network.mean.numpy(), self.network.deviation.numpy()
        shapes = ((1, 25), (1, 1), (1, 7), (3, 100))
        return [(mean + deviation * rng.standard_normal((*shape, len(mean)))).astype(np.float32) for shape in shapes]


def _probs_and_scores(network: Network, features: Tensor) -> tuple[Tensor, Tensor]:
    """What a deployed network says about every frame."""
    output = network(features)
    if isinstance(network.pool, Max):
        # Which frame is the best depends on all others; a part of a recording can only say how good its own are.
        return torch.sigmoid(output.logits), output.logits
    return torch.sigmoid(output.logits), network.pool.scores(output.logits, None, output.hidden)


def export_onnx(
    path: Path,
    network: Network,
    *,
    decoding: Decoding,
    clip_seconds: float,
    card: dict[str, Any],
    piece_seconds: float | None = None,
    context_seconds: float | None = None,
) -> float:
    """Write the network to `path` and return the largest difference from torch that was found.

    Args:
        path: ends in ``.onnx``.
        network: trained; it stays as it is.
        decoding: how its frame probabilities become events.
        clip_seconds: length of the clips it was trained on, over which tags are given.
        card: what it was trained on.
        piece_seconds: long recordings are detected in pieces of this length; None: a minute, or four times the context.
        context_seconds: heard on both sides of a piece; None: 4 s, or 100 frames of embeddings where that is longer,
            since what a recurrent layer remembers is counted in frames.

    Raises:
        ValueError: when a frame of the model depends on the whole recording, or the exported file differs from torch.
    """
    reason = not_deployable(network.config)
    if reason is not None:
        raise ValueError(reason)
    if decoding.classes != network.classes:
        raise ValueError(
            f"decoding must be for the network's classes {network.classes}, in their order, got {decoding.classes}"
            " - events would get each other's names"
        )
    is_embeddings, trained = network.config.features.is_embeddings, copy.deepcopy(network).cpu().eval()
    deployed = DeployedEmbeddings(trained).eval() if is_embeddings else DeployedNetwork(trained).eval()
    _refuse_distant_scores(deployed.network)
    timeline = output_timeline(network.config)
    if context_seconds is None:
        context_seconds = max(4.0, 100 * timeline.hop_seconds) if is_embeddings else 4.0
    if piece_seconds is None:
        piece_seconds = max(60.0, 4 * context_seconds)
    values = network.pool.parameter_values()
    info = ModelInfo(
        classes=network.classes,
        timeline=timeline,
        n_dims=network.config.features.n_inputs if is_embeddings else None,
        decoding=decoding,
        pooling=network.pool.name,
        pooling_parameter=network.pool.parameter_name,
        pooling_values=None if values is None else tuple(values.tolist()),
        piece_seconds=piece_seconds,
        context_seconds=context_seconds,
        clip_seconds=clip_seconds,
        version=earmark.__version__,
        card=card,
    )
    content = _onnx_bytes(deployed)
    model = onnx.load_from_string(content)
    onnx.helper.set_model_props(model, {METADATA_KEY: json.dumps(info.to_dict())})
    content = model.SerializeToString()
    difference = _largest_difference(content, deployed)
    if not difference <= _LARGEST_DIFFERENCE:
        raise ValueError(
            f"the exported network differs from torch by {difference:.2g} (at most {_LARGEST_DIFFERENCE:g} is"
            " rounding), so it was not written - please report this with the versions of torch and onnxruntime"
        )
    write_atomic(path, content)
    return difference


def _refuse_distant_scores(network: Network) -> None:
    """Raise ValueError when how much a frame counts depends on other frames, which a recording has without end."""
    if isinstance(network.pool, Max):
        return
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(1, 16, len(network.classes), generator=generator)
    hidden = torch.randn(1, 16, network.crnn.n_hidden, generator=generator)
    louder, other = logits.clone(), hidden.clone()
    louder[:, 0], other[:, 0] = 9.0, 9.0
    with torch.no_grad():
        before, after = network.pool.scores(logits, None, hidden), network.pool.scores(louder, None, other)
    if not torch.equal(before[:, 1:], after[:, 1:]):
        raise ValueError(
            f"{network.pool.name} pooling weighs a frame by the frames around it, so tags would depend on where a"
            " recording is cut - only functions whose frame_scores look at one frame at a time can be exported"
        )


def output_timeline(config: Config) -> Timeline:
    """Return the grid of the network's output frames."""
    return config.features.timeline.coarser(config.model.time_reduction)


def _onnx_bytes(deployed: DeployedNetwork | DeployedEmbeddings) -> bytes:
    """The graph, with dynamic batch and length."""
    # The first is not a whole number of frames, so that the filling-up is part of the trace.
    example = torch.from_numpy(deployed.examples(np.random.default_rng(0))[0])
    with warnings.catch_warnings(), torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        # The exporter that follows the graph's dynamo form cannot yet make time dynamic through a bidirectional GRU;
        # this one can, and warns that it is the older of the two.
        warnings.simplefilter("ignore")
        # Its own form of log sigmoid is a logarithm of a sigmoid, which has no digits left at a score of -12.
        torch.onnx.register_custom_op_symbolic("aten::log_sigmoid", _log_sigmoid, _OPSET)
        file = Path(folder) / "model.onnx"
        try:
            torch.onnx.export(
                deployed,
                (example,),
                file,
                dynamo=False,
                opset_version=_OPSET,
                input_names=[deployed.input_name],
                output_names=["frame_probs", "scores"],
                dynamic_axes={
                    deployed.input_name: deployed.input_axes,
                    "frame_probs": {0: "batch", 1: "frames"},
                    "scores": {0: "batch", 1: "frames"},
                },
            )
        finally:
            torch.onnx.unregister_custom_op_symbolic("aten::log_sigmoid", _OPSET)
        return file.read_bytes()


def _log_sigmoid(graph: Any, logits: Any) -> Any:
    """log sigmoid(z) = -softplus(-z), as nodes of the exported graph."""
    return graph.op("Neg", graph.op("Softplus", graph.op("Neg", logits)))


def _largest_difference(content: bytes, deployed: DeployedNetwork | DeployedEmbeddings) -> float:
    """Between onnxruntime and torch, on inputs of several lengths and batch sizes."""
    session = onnxruntime.InferenceSession(content, session_options(1), providers=["CPUExecutionProvider"])
    differences = []
    for example in deployed.examples(np.random.default_rng(0)):
        found = session.run(None, {deployed.input_name: example})
        with torch.no_grad():
            expected = deployed(torch.from_numpy(example))
        for ours, torchs in zip(found, expected, strict=True):
            if ours.shape != torchs.shape:
                return float("inf")
            # Scores are compared as the weights they become.
            scale = np.maximum(1.0, np.abs(torchs.numpy()))
            differences.append(np.max(np.abs(ours - torchs.numpy()) / scale))
    return float(np.max(differences))  # NaN when any is
