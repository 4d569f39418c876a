"""Clips of any length in pieces: the same result, the same gradient, and never more than a piece at once."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from oracles.training_cases import changed, lively_network
from torch import Tensor, nn

from earmark import pooling
from earmark.models.crnn import FrameOutput, Network
from earmark.training.long_clips import frame_output


def clip(rng: np.random.Generator, n_frames: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Features of one clip, (1, frames, mels)."""
    return torch.from_numpy(rng.normal(-7.0, 1.5, (1, n_frames, 16))).to(dtype)


def watched(network: Network) -> list[int]:
    """The number of frames of every pass through the network, as they happen."""
    passes: list[int] = []

    def note(module: nn.Module, arguments: Any) -> None:
        passes.append(arguments[0].shape[1])

    network.crnn.register_forward_pre_hook(note)
    return passes


# --- laws ---


@pytest.mark.parametrize("n_frames", [102, 200, 256, 1000])
def test_pieces_say_what_one_pass_says(n_frames: int, rng: np.random.Generator) -> None:
    network = lively_network()
    features = clip(rng, n_frames)
    with torch.no_grad():
        whole = network(features)
        pieces = frame_output(network, features, None, piece_frames=100, context_frames=60)
    assert pieces.mask is None
    torch.testing.assert_close(pieces.logits, whole.logits, atol=1e-3, rtol=0)
    torch.testing.assert_close(pieces.hidden, whole.hidden, atol=1e-4, rtol=0)


def test_far_from_the_seams_not_even_the_context_matters(rng: np.random.Generator) -> None:
    network = lively_network()
    features = clip(rng, 400)
    with torch.no_grad():
        whole = network(features).logits
        bare = frame_output(network, features, None, piece_frames=200, context_frames=0).logits
    difference = (whole - bare).abs().amax(dim=(0, 2))
    assert difference[95:105].max() > 0.01  # the seam is at output frame 100
    assert difference[:60].max() < 1e-3
    assert difference[140:].max() < 1e-3


def test_the_gradient_is_that_of_one_pass(rng: np.random.Generator) -> None:
    # Statistics as in evaluation: those of a batch would be other ones in a piece than in the whole.
    network = lively_network().double()
    weighing = torch.from_numpy(rng.normal(size=(1, 300, 3)))
    features = clip(rng, 600, torch.float64)
    found = []
    for output in (network(features), frame_output(network, features, None, piece_frames=200, context_frames=200)):
        network.zero_grad()
        (output.logits * weighing).sum().backward()
        gradients = {name: p.grad.clone() for name, p in network.named_parameters() if p.grad is not None}
        assert {name for name, _ in network.named_parameters() if name.startswith("crnn")} <= set(gradients)
        found.append(gradients)
    torch.testing.assert_close(found[1], found[0], atol=1e-6, rtol=1e-6)


def test_what_is_computed_again_on_the_way_back_is_the_same_with_dropout() -> None:
    # With other zeros drawn on the way back the gradient would belong to another network.
    network = lively_network(changed(model={"conv_dropout": 0.5, "rnn_dropout": 0.5})).double().train()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()
    features = clip(np.random.default_rng(1), 400, torch.float64)

    def loss() -> Tensor:
        torch.manual_seed(5)
        output = frame_output(network, features, None, piece_frames=100, context_frames=20)
        return output.logits.square().mean()

    weight = network.crnn.linear.weight
    loss().backward()
    assert weight.grad is not None
    gradient = weight.grad
    step = torch.zeros_like(weight)
    step[1, 2] = 1e-5
    with torch.no_grad():
        weight += step
        above = loss()
        weight -= 2 * step
        below = loss()
    assert gradient[1, 2].item() == pytest.approx((above - below).item() / 2e-5, rel=1e-5)


@pytest.mark.parametrize("n_frames", [202, 300, 1502])
def test_the_network_never_sees_more_than_a_piece_and_its_context(n_frames: int, rng: np.random.Generator) -> None:
    network = lively_network()
    passes = watched(network)
    output = frame_output(network, clip(rng, n_frames), None, piece_frames=100, context_frames=20)
    n_pieces = -(-n_frames // 100)
    assert len(passes) == n_pieces
    output.logits.sum().backward()
    assert len(passes) == 2 * n_pieces  # once more each, on the way back
    assert max(passes) <= 140


def test_what_is_kept_for_the_way_back_does_not_grow_with_the_network(rng: np.random.Generator) -> None:
    kept = {}
    for channels in (4, 32):
        network = lively_network(changed(model={"channels": (channels, 6)}))
        n_values = 0

        def pack(tensor: Tensor) -> Tensor:
            nonlocal n_values
            n_values += tensor.numel()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            frame_output(network, clip(rng, 2000), None, piece_frames=100, context_frames=20)
        kept[channels] = n_values
    # Eight times the channels, and not a number more beside the input: (features, hidden, logits) of the clip.
    assert kept[32] == kept[4] <= 2 * 2000 * 16


@pytest.mark.parametrize("place", [0.02, 0.24, 0.25, 0.26, 0.5, 0.77, 0.98])
def test_a_tag_comes_from_wherever_its_event_is(place: float) -> None:
    network = lively_network()
    quiet = torch.full((1, 1000, 16), -9.0)
    event = quiet.clone()
    at = int(place * 1000)
    event[:, at - 10 : at + 10] = -3.0
    with torch.no_grad():
        before, after = (
            frame_output(network, features, None, piece_frames=250, context_frames=60) for features in (quiet, event)
        )
        whole = network(event)
    loudest = int((after.logits - before.logits).abs().amax(dim=2).argmax()) * 2
    assert abs(loudest - at) <= 20
    for name in ("max", "linear"):
        pool = pooling.create(name, n_classes=3)
        torch.testing.assert_close(pool(after.logits), pool(whole.logits), atol=1e-3, rtol=0)


def test_a_clip_that_fits_takes_the_direct_way_with_its_mask(rng: np.random.Generator) -> None:
    network = lively_network()
    passes = watched(network)
    features = clip(rng, 100).expand(2, -1, -1)
    mask = torch.ones(2, 50, dtype=torch.bool)
    mask[1, 30:] = False
    output = frame_output(network, features, mask, piece_frames=100, context_frames=20)
    assert passes == [100]
    assert output.mask is mask
    torch.testing.assert_close(output.logits, network(features, mask).logits)


# --- worked numbers ---


def test_which_frames_are_heard_and_which_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    # Ten frames, two under one output frame, in pieces of four with a context of two: heard 0-6, 2-10 and 6-10.
    network = lively_network()
    heard = []

    def forward(features: Tensor, mask: Tensor | None = None) -> FrameOutput:
        heard.append(features[0, :, 0].int().tolist())
        pairs = features[:, ::2, :3]
        return FrameOutput(pairs, pairs, mask)

    monkeypatch.setattr(network, "forward", forward)
    features = torch.arange(10.0)[None, :, None].expand(1, 10, 16)
    with torch.no_grad():
        output = frame_output(network, features, None, piece_frames=4, context_frames=2)
    assert heard == [list(range(0, 6)), list(range(2, 10)), list(range(6, 10))]
    assert output.logits[0, :, 0].tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


# --- wrong input ---


def test_a_long_clip_must_be_alone(rng: np.random.Generator) -> None:
    mask = torch.ones(2, 100, dtype=torch.bool)
    mask[1, 50:] = False
    features = clip(rng, 200).expand(2, -1, -1)
    with pytest.raises(
        ValueError, match=r"longer than a piece \(200 > 100 frames\) must be alone in its batch, unmasked"
    ):
        frame_output(lively_network(), features, mask, piece_frames=100, context_frames=20)


def test_memory_does_not_grow_with_the_clip() -> None:
    """Peak memory of forward and backward, in a process of its own, for 2 and for 12 minutes of sound."""
    code = (
        "import resource, sys, torch\n"
        "from earmark.config import Config\n"
        "from earmark.models.crnn import Network\n"
        "from earmark.training.long_clips import frame_output\n"
        "torch.manual_seed(0)\n"
        "torch.set_num_threads(1)\n"
        "network = Network(Config(), ['dog'])\n"
        "features = torch.randn(1, 50 * 60 * int(sys.argv[1]), 64)\n"
        "output = frame_output(network, features, None, piece_frames=1500, context_frames=100)\n"
        "network.pool(output.logits, None, output.hidden).sum().backward()\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    peaks = [
        int(subprocess.run([sys.executable, "-c", code, minutes], capture_output=True, text=True, check=True).stdout)
        for minutes in ("2", "12")
    ]
    # Ten minutes of features and hidden states are 23 MB; what a GRU keeps for its gradient would be 500.
    assert peaks[1] - peaks[0] < 120_000, peaks
