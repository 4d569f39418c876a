"""The training loop, to be read from top to bottom.

What a step sees is a function of the seed, the epoch and the step alone (drawing.py). So a run that is killed and
resumed ends with the same weights, bit for bit (on a CPU with the same number of threads).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from earmark.config import Config
from earmark.files import write_atomic
from earmark.models.crnn import Network
from earmark.pooling.base import CERTAIN_LOGIT
from earmark.training.batch import Batch
from earmark.training.checkpoint import Progress, save_checkpoint
from earmark.training.drawing import TrainingData, drawn_batch, epoch_plan
from earmark.training.epochs import epoch_row, set_learning_rate
from earmark.training.log import RunLog, pooling_table
from earmark.training.mean_teacher import move_teacher
from earmark.training.supervised import batch_output
from earmark.training.terms import loss_terms


def train_network(
    network: Network,
    optimiser: torch.optim.Adam,
    data: TrainingData,
    config: Config,
    *,
    folder: Path,
    progress: Progress,
    card: dict[str, object],
    on_row: Callable[[dict[str, Any]], None],
    old: Network | None = None,
    teacher: Network | None = None,
) -> Progress:
    """Train `network` in place from where `progress` stands to the last epoch, and return where it stands then.

    Leaves in `folder`: log.jsonl, pooling.tsv, last.safetensors (to resume from), best.safetensors (by held-out
    figure) and snapshots/.

    Args:
        network: on its device.
        optimiser: from `new_optimiser`, restored when resuming.
        data: clips and features.
        config: everything else.
        folder: the run's.
        progress: where to begin.
        card: travels in the checkpoints.
        on_row: told every row of the log, for progress bars.
        old: the model the run continues, on the same device, which the network should not forget.
        teacher: of the mean teacher, trained in place too.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> from earmark.config import ModelConfig, TrainingConfig
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> from earmark.training.feature_store import FeatureStore
        >>> rows = [WeakClip(name, frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for name in "abcd"]
        >>> clips = clip_set(rows, ["dog"], holdout_fraction=0.25)
        >>> store = FeatureStore(np.zeros((200, 64), np.float16), np.arange(0, 201, 50), (0, 1, 2, 3), (), ())
        >>> small = ModelConfig(channels=(1,), pool_time=(2,), pool_mel=(64,), rnn_units=1)
        >>> config = Config(model=small, training=TrainingConfig(epochs=2, batch_seconds=2.0))
        >>> network = Network(config, clips.classes)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     progress = train_network(
        ...         network, new_optimiser(network, config), TrainingData(clips, store), config,
        ...         folder=Path(folder), progress=Progress(), card={}, on_row=lambda row: None,
        ...     )
        >>> progress.epoch, progress.step     # of three clips in batches of two at most
        (2, 4)
    """
    log = RunLog(folder / "log.jsonl", resume_step=progress.step, resume_epoch=progress.epoch)
    largest_norm = config.training.gradient_clip if config.training.gradient_clip > 0 else math.inf
    saved_at = time.monotonic()
    n_steps = config.training.epochs * len(epoch_plan(data, config, epoch=1))  # about; epochs differ a little

    def save(name: str, optimiser: torch.optim.Adam | None, progress: Progress) -> None:
        save_checkpoint(folder / name, network, optimiser=optimiser, progress=progress, card=card, teacher=teacher)

    network.train()
    for epoch in range(progress.epoch + 1, config.training.epochs + 1):
        plan = epoch_plan(data, config, epoch)
        for index in range(progress.step_in_epoch, len(plan)):
            step = progress.step + 1
            batch = drawn_batch(network, data, plan[index], config, step)
            epochs_done = epoch - 1 + index / len(plan)
            set_learning_rate(optimiser, config, epochs_done, halvings=progress.halvings)
            terms = loss_terms(network, batch, config, teacher=teacher, old=old, epochs_done=epochs_done)
            loss = torch.stack(list(terms.values())).sum()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(network.parameters(), largest_norm)
            _stop_if_not_finite(loss, norm, terms, batch, step, folder)
            optimiser.step()
            network.pool.project_()
            if teacher is not None:
                move_teacher(teacher, network, config, step=step, n_steps=n_steps)

            progress = replace(progress, step=step, step_in_epoch=index + 1)
            row = {"kind": "step", "step": step, "epoch": epoch, "of_epoch": round((index + 1) / len(plan), 4)}
            row |= {"loss": loss.item(), **{name: term.item() for name, term in terms.items()}}
            row |= {"gradient_norm": norm.item(), "learning_rate": optimiser.param_groups[0]["lr"]}
            log.append(row)
            on_row(row)
            if time.monotonic() - saved_at > config.training.checkpoint_seconds:
                _stop_if_lost(network, terms, batch, config, step, folder)
                save("last.safetensors", optimiser, progress)
                saved_at = time.monotonic()

            if index + 1 == len(plan):
                _stop_if_lost(network, terms, batch, config, step, folder)

        progress = replace(progress, epoch=epoch, step_in_epoch=0)
        row, progress = epoch_row(network, teacher, data, config, progress)
        log.append(row)
        if network.pool.parameter_name is not None:
            table = pooling_table(log.rows, network.classes, network.pool.parameter_name)
            write_atomic(folder / "pooling.tsv", table)
        if progress.best_epoch == epoch:
            save("best.safetensors", None, progress)
        if epoch in config.training.snapshot_epochs:
            save(f"snapshots/epoch-{epoch:04d}.safetensors", None, progress)
        # Last, because it is what a resumed run believes: everything it says must already be on disk.
        save("last.safetensors", optimiser, progress)
        saved_at = time.monotonic()
        on_row(row)
    return progress


def new_optimiser(network: Network, config: Config) -> torch.optim.Adam:
    """Return Adam over the network, with the pooling parameters in a group that has its own learning rate.

    Example:
        >>> from earmark.config import TrainingConfig
        >>> config = Config(training=TrainingConfig(learning_rate=0.01, pooling_learning_rate_factor=5.0))
        >>> others, pooling = new_optimiser(Network(config, ["dog"]), config).param_groups
        >>> others["factor"], pooling["factor"], len(pooling["params"])     # power pooling learns one n per class
        (1.0, 5.0, 1)
    """
    pooling = list(network.pool.parameters())
    pooling_ids = {id(parameter) for parameter in pooling}
    others = [parameter for parameter in network.parameters() if id(parameter) not in pooling_ids]
    rate, factor = config.training.learning_rate, config.training.pooling_learning_rate_factor
    groups = [{"params": others, "factor": 1.0}]
    if pooling:
        groups.append({"params": pooling, "factor": factor})
    return torch.optim.Adam(groups, lr=rate)


def _stop_if_not_finite(
    loss: Tensor, norm: Tensor, terms: dict[str, Tensor], batch: Batch, step: int, folder: Path
) -> None:
    """Stop before a NaN reaches the weights."""
    if torch.isfinite(loss) and torch.isfinite(norm):
        return
    what = "loss" if not torch.isfinite(loss) else "gradient"
    raise ValueError(
        f"the {what} is no longer a finite number at step {step} ({_in_words(terms)}, gradient norm"
        f" {norm.item():g})"
        f" on the clips {', '.join(batch.filenames)}; {_what_is_kept(folder)}"
    )


def _stop_if_lost(
    network: Network, terms: dict[str, Tensor], batch: Batch, config: Config, step: int, folder: Path
) -> None:
    """Stop before a checkpoint is written of weights that say nothing any more, finite as they may be themselves."""
    network.eval()
    with torch.no_grad():
        output = batch_output(network, batch, config)
    network.train()
    largest = output.logits.abs().max().item()
    if not largest < CERTAIN_LOGIT:  # NaN is not below it either
        raise ValueError(
            f"after step {step} (before it: {_in_words(terms)}) the network says {largest:g} where +-10 is nearly"
            f" certain, on the clips {', '.join(batch.filenames)}; {_what_is_kept(folder)}"
        )


def _in_words(terms: dict[str, Tensor]) -> str:
    """The terms of the loss with their names."""
    return ", ".join(f"{name} {term.item():g}" for name, term in terms.items())


def _what_is_kept(folder: Path) -> str:
    """Where the last good weights are, and what to do."""
    last = folder / "last.safetensors"
    saved = f"the last good checkpoint is {last}" if last.exists() else "no checkpoint had been written yet"
    return f"{saved} - begin another run with a lower training.learning_rate, or look at these clips"
