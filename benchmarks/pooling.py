"""How long each pooling function takes, forward and backward, beside average pooling and beside its naive formula.

    python benchmarks/pooling.py

The loss is the one of training: cross-entropy on both logarithms. The naive formula is the one on paper, on
probabilities, without masks, followed by a clamped cross-entropy: fast, and NaN as soon as a clip is silent.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from earmark import pooling
from earmark.pooling import Pool
from earmark.pooling.attention import Attention

# (batch, frames, classes): the paper's recipe for 2019, the one for 2017, and eight recordings of some minutes.
SHAPES = [(24, 152, 10), (100, 100, 17), (8, 3000, 50)]
N_FEATURES = 128
SECONDS_PER_ROW = 0.7


def main() -> None:
    """Print one table per shape."""
    torch.manual_seed(0)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, forward and backward, median")
    for shape in SHAPES:
        print(f"\n{shape}\n{'pooling':<14}{'ms':>9}{'x average':>12}{'x naive':>10}")
        logits = torch.randn(shape, requires_grad=True)
        features = torch.randn(*shape[:2], N_FEATURES)
        labels = (torch.rand(shape[0], shape[2]) < 0.2).float()
        average_seconds = _median_seconds(_our_loss, _create("average", shape), logits, features, labels)
        for name in pooling.names():
            pool = _create(name, shape)
            seconds = _median_seconds(_our_loss, pool, logits, features, labels)
            row = f"{name:<14}{1000 * seconds:>9.2f}{seconds / average_seconds:>12.2f}"
            if name != "hierarchical":
                row += f"{seconds / _median_seconds(_naive_loss, pool, logits, features, labels):>10.2f}"
            print(row)


def _create(name: str, shape: tuple[int, int, int]) -> Pool:
    """The pooling function, power inside the hierarchical one."""
    n_classes, takes = shape[2], pooling.takes(name)
    if name == "hierarchical":
        return pooling.create(name, n_classes=n_classes, inner="power", groups=(5, 5, 4))
    return pooling.create(
        name,
        n_classes=n_classes,
        n_features=N_FEATURES if "n_features" in takes else None,
        n_frames=shape[1] if "n_frames" in takes else None,
        penalty=1e-3 if "penalty" in takes else None,
        initial=2.5 if "initial" in takes else None,
    )


def _our_loss(pool: Pool, logits: Tensor, features: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy without a clamp."""
    log_y, log_not_y = pool.log_probs(logits, None, features)
    return -(labels * log_y + (1 - labels) * log_not_y).mean()


def _naive_loss(pool: Pool, logits: Tensor, features: Tensor, labels: Tensor) -> Tensor:
    """The formula on paper and a clamped cross-entropy."""
    y = torch.sigmoid(logits)
    if pool.name == "max":
        clip_probs = y.amax(dim=1)
    else:
        weights = _naive_weights(pool, y, features)
        clip_probs = (y * weights).sum(dim=1) / weights.sum(dim=1)
    return functional.binary_cross_entropy(clip_probs.clamp(1e-7, 1 - 1e-7), labels)


def _naive_weights(pool: Pool, y: Tensor, features: Tensor) -> Tensor:
    """What every frame counts, (batch, frames, classes)."""
    if isinstance(pool, Attention):
        return torch.exp(pool.linear(features))
    parameters = list(pool.parameters())
    formulas: dict[str, Callable[[], Tensor]] = {
        "average": lambda: torch.ones_like(y),
        "linear": lambda: y,
        "exponential": lambda: torch.exp(y),
        "power": lambda: y ** parameters[0],
    }
    return formulas[pool.name]() if pool.name in formulas else torch.exp(parameters[0] * y)


def _median_seconds(
    loss: Callable[[Pool, Tensor, Tensor, Tensor], Tensor], pool: Pool, logits: Tensor, features: Tensor, labels: Tensor
) -> float:
    """One step, repeated for a while after a first one that warms the caches."""
    seconds: list[float] = []
    while sum(seconds) < SECONDS_PER_ROW or len(seconds) < 6:
        logits.grad = None
        started = time.perf_counter()
        loss(pool, logits, features, labels).backward()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:])


if __name__ == "__main__":
    main()
