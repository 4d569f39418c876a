"""Which digits are in the bag, and which images are they? Every pooling function on bags of handwritten digits.

    python examples/digit_bags.py

Nothing here is about sound. A bag holds 10 to 40 images of single digits, and all that training may know about it is
which of three digits it contains at all: not where, not how often. A small network looks at one image at a time and
gives a logit per digit; the pooling function makes one probability per bag and digit out of them. The three digits
differ as sounds do: a 3 is rare where it occurs (one or two images, like a knock), 5s fill a quarter of their bag, and
8s half of it (like a vacuum cleaner).

What the table teaches:

- Bags and images are two questions. Attention tells well which bags hold a digit and badly which images it was: an
  image to which nobody attends may claim anything.
- Average and exponential pooling fail at bags: a rare 3 among forty images cannot make their mean large.
- Max pooling finds bags best. Functions that may push images down inside a positive bag, and still teach more than one
  image of it, find the images as well or better: linear, power, and the auto family once its alpha has grown.
- Power pooling learns for each digit its place between average (n = 0) and max (n large): above 1 for the rare 3, below
  1 for the frequent 5 and 8.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score, roc_auc_score
from torch import Tensor, nn

from earmark import pooling
from earmark.pooling import Pool

# The digits to find, and the least and greatest share of a bag's images that show them where they occur.
SHARES = {3: (0.0, 0.05), 5: (0.2, 0.3), 8: (0.5, 0.6)}
DIGITS = tuple(SHARES)
LEAST_IMAGES, MOST_IMAGES = 10, 40
N_FEATURES = 64
PENALTY = 1e-3  # where there is one, in power pooling and RAP; without it the parameter grows all through training
N_BAGS = 400
N_EPOCHS = 50
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Bags:
    """Bags of different size, padded to the largest."""

    images: Tensor  # (bags, images, pixels)
    mask: Tensor  # (bags, images), true where an image is real
    tags: Tensor  # (bags, digits), what training may know
    truth: Tensor  # (bags, images, digits), what only the evaluation knows


class Network(nn.Module):
    """One image in, one logit per digit out; and the features that attention pooling looks at."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, N_FEATURES), nn.ReLU(), nn.Linear(N_FEATURES, N_FEATURES), nn.ReLU())
        self.last = nn.Linear(N_FEATURES, len(DIGITS))

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """(bags, images, pixels) -> logits (bags, images, digits), features (bags, images, dims)."""
        features = self.body(images)
        return self.last(features), features


def load_halves(rng: np.random.Generator) -> list[tuple[NDArray[np.float32], NDArray[np.int64]]]:
    """Scikit-learn's 1797 digits, (images, pixels) from 0 to 1 and what they show, cut into training and test half."""
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    halves = np.array_split(order, 2)
    return [((digits.data[half] / 16).astype(np.float32), digits.target[half]) for half in halves]


def make_bags(images: NDArray[np.float32], shown: NDArray[np.int64], *, n_bags: int, rng: np.random.Generator) -> Bags:
    """Fill bags so that each contains each digit of DIGITS with probability 1/2, in that digit's share."""
    others = np.flatnonzero(~np.isin(shown, DIGITS))
    chosen = np.zeros((n_bags, MOST_IMAGES), dtype=np.int64)
    mask = np.zeros((n_bags, MOST_IMAGES), dtype=bool)
    for bag in range(n_bags):
        size = int(rng.integers(LEAST_IMAGES, MOST_IMAGES + 1))
        picked: list[int] = []
        for digit, (least, most) in SHARES.items():
            if rng.random() < 0.5:
                count = max(1, round(size * rng.uniform(least, most)))
                picked.extend(rng.choice(np.flatnonzero(shown == digit), count))
        picked.extend(rng.choice(others, max(0, size - len(picked))))
        chosen[bag, :size] = rng.permutation(picked)[:size]
        mask[bag, :size] = True
    truth = (shown[chosen][:, :, None] == np.array(DIGITS)) & mask[:, :, None]
    return Bags(
        images=torch.from_numpy(images[chosen]),
        mask=torch.from_numpy(mask),
        tags=torch.from_numpy(truth.any(axis=1)).float(),
        truth=torch.from_numpy(truth),
    )


def create_pool(name: str) -> Pool:
    """The pooling function with the options it needs; hierarchical: power pooling in groups of five, then the rest."""
    takes = pooling.takes(name)
    return pooling.create(
        name,
        n_classes=len(DIGITS),
        n_features=N_FEATURES if "n_features" in takes else None,
        n_frames=MOST_IMAGES if "n_frames" in takes else None,
        penalty=PENALTY if "penalty" in takes or name == "hierarchical" else None,
        inner="power" if name == "hierarchical" else None,
        groups=(5, 8) if name == "hierarchical" else None,
    )


def train(network: Network, pool: Pool, bags: Bags, *, n_epochs: int) -> None:
    """Train a network and its pooling function on tags alone."""
    # The pooling parameter has a longer way to go than any weight, so it walks faster.
    groups: list[dict[str, Any]] = [{"params": network.parameters()}, {"params": pool.parameters(), "lr": 2e-2}]
    optimiser = torch.optim.Adam(groups, lr=2e-3)
    for _ in range(n_epochs):
        for batch in torch.randperm(len(bags.tags)).split(32):
            logits, features = network(bags.images[batch])
            log_y, log_not_y = pool.log_probs(logits, bags.mask[batch], features)
            tags = bags.tags[batch]
            loss = -(tags * log_y + (1 - tags) * log_not_y).mean() + pool.penalty()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            pool.project_()


def evaluate(network: Network, pool: Pool, bags: Bags) -> list[float]:
    """Return F1 (at 0.5) and AUC of bags, by the pooling function, and of images, by their own probability."""
    with torch.no_grad():
        logits, features = network(bags.images)
        bag_probs = pool(logits, bags.mask, features)
        image_probs = torch.sigmoid(logits)[bags.mask]  # (all real images, digits)
    scores = []
    for truth, probs in ((bags.tags, bag_probs), (bags.truth[bags.mask], image_probs)):
        scores.append(float(f1_score(truth.int(), probs >= 0.5, average="macro", zero_division=0)))
        scores.append(float(roc_auc_score(truth.int(), probs)))
    return scores


def compare(names: Sequence[str], *, seeds: Sequence[int], n_bags: int, n_epochs: int) -> dict[str, list[float]]:
    """Return for every pooling function its four scores and its parameter of each digit, as means over the seeds."""
    rows: dict[str, list[list[float]]] = {name: [] for name in names}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        training_half, test_half = load_halves(rng)
        training_bags = make_bags(*training_half, n_bags=n_bags, rng=rng)
        test_bags = make_bags(*test_half, n_bags=n_bags, rng=rng)
        for name in names:
            torch.manual_seed(seed)
            network, pool = Network(), create_pool(name)
            train(network, pool, training_bags, n_epochs=n_epochs)
            values = pool.parameter_values()
            rows[name].append(evaluate(network, pool, test_bags) + ([] if values is None else values.tolist()))
    return {name: np.mean(runs, axis=0).tolist() for name, runs in rows.items()}


def main() -> None:
    """Train with every pooling function and print what each one finds."""
    started = time.perf_counter()
    header = "".join(f"{f'of {digit}':>7}" for digit in DIGITS)
    print(f"{'pooling':<14}{'bag F1':>9}{'bag AUC':>9}{'image F1':>10}{'image AUC':>11}   parameter{header}")
    for name, row in compare(pooling.names(), seeds=SEEDS, n_bags=N_BAGS, n_epochs=N_EPOCHS).items():
        bag_f1, bag_auc, image_f1, image_auc, *values = row
        parameter_name = create_pool(name).parameter_name
        print(
            f"{name:<14}{bag_f1:>9.3f}{bag_auc:>9.3f}{image_f1:>10.3f}{image_auc:>11.3f}"
            + (
                ""
                if parameter_name is None
                else f"   {parameter_name:<9}" + "".join(f"{value:>7.2f}" for value in values)
            )
        )
    print(f"{len(SEEDS)} runs each, {time.perf_counter() - started:.0f} s in all")


if __name__ == "__main__":
    main()
