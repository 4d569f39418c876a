"""How long a training step takes, and what it costs when clips of a batch differ in length.

    python benchmarks/training.py [--device cuda]

A step is forward, power pooling, loss and backward of 16 clips of 10 s. "few frames" cuts a tenth of a second off one
clip, as recordings do that were cut by hand; "half" makes every second clip half as long. Each is given beside the
step without a mask, measured in turn.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor

from earmark.config import Config
from earmark.models.crnn import Network
from earmark.training.losses import tag_loss

N_CLIPS, N_FRAMES, N_CLASSES = 16, 250, 10  # output frames of 40 ms
ROUNDS = 7


def main() -> None:
    """Print one row per kind of batch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    device = torch.device(options.device)
    config = Config()
    network = Network(config, [f"class {number}" for number in range(N_CLASSES)]).to(device)
    features = torch.randn(N_CLIPS, N_FRAMES * config.model.time_reduction, config.features.n_mels, device=device)
    tags = (torch.rand(N_CLIPS, N_CLASSES, device=device) < 0.2).float()
    lengths = {
        "none": None,
        "few frames": [N_FRAMES - 3, *[N_FRAMES] * (N_CLIPS - 1)],
        "half": [N_FRAMES, N_FRAMES // 2] * (N_CLIPS // 2),
    }
    masks = {name: None if frames is None else _mask(frames).to(device) for name, frames in lengths.items()}
    seconds: dict[str, list[float]] = {name: [] for name in masks}
    for _ in range(ROUNDS):
        for name, mask in masks.items():
            seconds[name].append(_seconds(functools.partial(_step, network, features, mask, tags), device))
    print(f"torch {torch.__version__}, {device}, {torch.get_num_threads()} threads, median of {ROUNDS}")
    print(f"{'padding':<12}{'ms':>9}{'clips/s':>10}{'x none':>9}")
    unmasked = statistics.median(seconds["none"][1:])
    for name, taken in seconds.items():
        median = statistics.median(taken[1:])  # the first warms up
        print(f"{name:<12}{1e3 * median:>9.1f}{N_CLIPS / median:>10.1f}{median / unmasked:>9.2f}")


def _mask(lengths: list[int]) -> Tensor:
    """True for the first frames of each clip, (clips, frames)."""
    return torch.arange(N_FRAMES) < torch.tensor(lengths)[:, None]


def _step(network: Network, features: Tensor, mask: Tensor | None, tags: Tensor) -> None:
    """Forward and backward."""
    output = network(features, mask)
    log_y, log_not_y = network.pool.log_probs(output.logits, output.mask, output.hidden)
    network.zero_grad(set_to_none=True)
    tag_loss(log_y, log_not_y, tags, torch.ones_like(tags, dtype=torch.bool)).backward()


def _seconds(step: Callable[[], None], device: torch.device) -> float:
    """Of one step, on a GPU until it is done."""
    begin = time.perf_counter()
    step()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
