"""What a mean teacher costs: one step of the 2019 network at its batch of 24, with a teacher and without.

    python benchmarks/mean_teacher.py [--device cuda] [--threads 1]

Six tagged clips, six with events and twelve of which nothing is known. A step is forward, all losses, backward, the
optimiser and the teacher's move; both kinds are measured in turn.
"""

from __future__ import annotations

import argparse
import importlib.resources
import statistics
import time
from pathlib import Path

import torch

from earmark.config import Config
from earmark.config_file import read_config
from earmark.models.crnn import Network
from earmark.training.batch import Batch
from earmark.training.loop import new_optimiser
from earmark.training.mean_teacher import move_teacher, new_teacher
from earmark.training.terms import loss_terms

N_CLASSES, N_WEAK, N_STRONG, N_UNLABELLED = 10, 6, 6, 12
ROUNDS = 5


def main() -> None:
    """Print the seconds of both kinds of step, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    device = torch.device(options.device)
    with importlib.resources.as_file(importlib.resources.files("earmark.paper") / "dcase2019.toml") as recipe:
        config = read_config(Path(recipe))
    network = Network(config, [f"class {number}" for number in range(N_CLASSES)]).to(device)
    teacher, optimiser, batch = new_teacher(network), new_optimiser(network, config), mixed_batch(config).to(device)
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(ROUNDS + 1):
        for has_teacher in seconds:
            begin = time.perf_counter()
            _step(network, teacher if has_teacher else None, optimiser, batch, config)
            seconds[has_teacher].append(time.perf_counter() - begin)
    alone, taught = (statistics.median(taken[1:]) for taken in seconds.values())  # the first warms up
    print(f"torch {torch.__version__}, {device}, {torch.get_num_threads()} threads, median of {ROUNDS}")
    print(f"without {1e3 * alone:.1f} ms, with a mean teacher {1e3 * taught:.1f} ms: {taught / alone:.2f} times")


def mixed_batch(config: Config) -> Batch:
    """A batch of noise in which as much is known as in the recipe's."""
    n_clips = N_WEAK + N_STRONG + N_UNLABELLED
    assert config.features.clip_frames is not None
    n_output = config.features.clip_frames // config.model.time_reduction
    tags_known = torch.zeros(n_clips, N_CLASSES, dtype=torch.bool)
    frame_known = torch.zeros(n_clips, n_output, N_CLASSES, dtype=torch.bool)
    tags_known[:N_WEAK] = True
    frame_known[N_WEAK : N_WEAK + N_STRONG] = True
    return Batch(
        torch.randn(n_clips, config.features.clip_frames, config.features.n_mels),
        None,
        (torch.rand(n_clips, N_CLASSES) < 0.2).float(),
        tags_known,
        tuple(f"{number}.wav" for number in range(n_clips)),
        (torch.rand(n_clips, n_output, N_CLASSES) < 0.2).float(),
        frame_known,
    )


def _step(network: Network, teacher: Network | None, optimiser: torch.optim.Adam, batch: Batch, config: Config) -> None:
    """One step, until a GPU is done with it."""
    loss = torch.stack(list(loss_terms(network, batch, config, teacher=teacher, epochs_done=10.0).values())).sum()
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    if teacher is not None:
        move_teacher(teacher, network, config, step=1000, n_steps=42000)
    loss.item()


if __name__ == "__main__":
    main()
