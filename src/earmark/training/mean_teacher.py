"""The mean teacher: an average of the network's past selves says what clips without labels hold.

The network (the student) learns its labels, and to agree with the teacher about every frame and every clip of a batch,
labelled or not. Both get the same augmented and shifted batch, the teacher's with a little noise, and each its own
dropout. After every step the teacher's weights move a little towards the student's.

Reference:
    Tarvainen and Valpola, "Mean teachers are better role models", NeurIPS 2017.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import torch
from torch import Tensor

from earmark.config import Config
from earmark.models.crnn import FrameOutput, Network
from earmark.training.batch import Batch
from earmark.training.clips import ClipSet
from earmark.training.supervised import batch_output

_MOMENTUM = 0.999
_MEMORIES = 10  # that follow one another in a run


def has_teacher(config: Config, clips: ClipSet) -> bool:
    """Return whether training these clips takes a teacher.

    Example:
        >>> from earmark.config import TrainingConfig
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> rows = [WeakClip("a.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2")]
        >>> clips = clip_set(rows, ["dog"], holdout_fraction=0)
        >>> has_teacher(Config(), clips), has_teacher(Config(training=TrainingConfig(method="mean_teacher")), clips)
        (False, True)
    """
    method = config.training.method
    return method == "mean_teacher" or (method == "auto" and bool((clips.kinds == "unlabelled").any()))


def new_teacher(network: Network) -> Network:
    """Return a teacher that is a copy of the network: its weights never get a gradient.

    Example:
        >>> teacher = new_teacher(Network(Config(), ["dog"]))
        >>> any(weight.requires_grad for weight in teacher.parameters()), teacher.training
        (False, True)
    """
    return copy.deepcopy(network).requires_grad_(False).train()


@torch.no_grad()
def move_teacher(teacher: Network, network: Network, config: Config, *, step: int, n_steps: int) -> None:
    r"""Move the teacher's weights towards the network's, in place, after an optimiser step.

    .. math:: \theta' \leftarrow a \theta' + (1 - a) \theta, \quad a = \min(1 - 1 / (step + 1), momentum)

    Pooling parameters are weights like others. The statistics of batch normalisation are not averaged.

    Args:
        teacher, network: the two.
        config: momentum, and whose statistics the teacher has.
        step: optimiser steps done, this one included.
        n_steps: of the whole run; without a momentum in the configuration it is 1 - 10 / n_steps, at most 0.999.

    Example:
        >>> network = Network(Config(), ["dog"])
        >>> teacher = new_teacher(network)
        >>> _ = teacher.crnn.linear.bias.fill_(4.0), network.crnn.linear.bias.data.fill_(1.0)
        >>> move_teacher(teacher, network, Config(), step=2, n_steps=400)     # a is 2/3: 4 * 2/3 + 1 * 1/3
        >>> teacher.crnn.linear.bias
        Parameter containing:
        tensor([3.])
    """
    momentum = config.teacher.momentum
    if momentum is None:
        momentum = min(_MOMENTUM, max(0.0, 1.0 - _MEMORIES / n_steps))
    towards = 1.0 - min(1.0 - 1.0 / (step + 1), momentum)
    for average, weight in zip(teacher.parameters(), network.parameters(), strict=True):
        average.lerp_(weight, towards)
    if config.teacher.batch_norm == "student":
        for statistic, value in zip(teacher.buffers(), network.buffers(), strict=True):
            statistic.copy_(value)


def ramp(epochs_done: float, ramp_epochs: float) -> float:
    r"""Return how far a weight has risen: exp(-5 (1 - t / T)^2), 1 from T on.

    Example:
        >>> [round(ramp(epochs, 50), 4) for epochs in (0, 25, 50, 80)]     # e^-5, e^-1.25, 1, 1
        [0.0067, 0.2865, 1.0, 1.0]
    """
    return math.exp(-5.0 * (1.0 - min(1.0, epochs_done / ramp_epochs)) ** 2)


def consistency_terms(
    teacher: Network, output: FrameOutput, log_y: Tensor, batch: Batch, config: Config, *, epochs_done: float
) -> dict[str, Tensor]:
    """Return the terms of the loss of one batch that say how much the network disagrees with its teacher.

    ``consistency_frames`` and ``consistency_clips`` are the mean squared differences between the probabilities of the
    two, of real frames and of clips, of every clip of the batch, times the weight so far.

    Args:
        teacher: in training mode, without gradients.
        output: what the network says about the frames of the batch.
        log_y: log y^c, what it says about the clips, (batch, classes).
        batch: the clips, as the network heard them.
        config: weight, ramp and noise.
        epochs_done: whole and parts.

    Example:
        >>> network, no = Network(Config(), ["dog"]), torch.zeros(1, 1, dtype=torch.bool)
        >>> teacher = new_teacher(network)
        >>> for model, bias in ((network, 0.0), (teacher, 100.0)):     # one says 0.5 of everything, the other 1
        ...     _ = model.crnn.linear.weight.data.zero_(), model.crnn.linear.bias.data.fill_(bias)
        >>> batch = Batch(torch.zeros(1, 50, 64), None, torch.zeros(1, 1), no, ("a.wav",))     # unlabelled
        >>> output, half = batch_output(network, batch, Config()), torch.tensor([[0.5]]).log()
        >>> terms = consistency_terms(teacher, output, half, batch, Config(), epochs_done=40)     # 2 * 0.5 ** 2
        >>> {name: round(term.item(), 4) for name, term in terms.items()}
        {'consistency_frames': 0.5, 'consistency_clips': 0.5}
    """
    with torch.no_grad():
        heard = with_noise(batch, config.teacher.noise_db)
        taught = batch_output(teacher, heard, config)
        clip_probs = teacher.pool.log_probs(taught.logits, taught.mask, taught.hidden)[0].exp()
    weight = config.teacher.weight * ramp(epochs_done, config.ramp_epochs)
    frames = (torch.sigmoid(output.logits) - torch.sigmoid(taught.logits)).square()
    if batch.mask is not None:
        frames = frames[batch.mask]  # (real frames of all clips, classes)
    clips = (log_y.exp() - clip_probs).square()
    return {"consistency_frames": weight * frames.mean(), "consistency_clips": weight * clips.mean()}


def with_noise(batch: Batch, noise_db: float) -> Batch:
    """Return the batch with Gaussian noise on its features: per clip and mel band so much weaker than they are.

    What counts as the strength of a band is the mean square of its logarithms, as in the baseline of DCASE 2020. The
    random numbers are torch's own, which a step has seeded.

    Args:
        batch: log-mel features.
        noise_db: decibels between the two; 0 leaves the batch as it is.

    Example:
        >>> no = torch.zeros(1, 1, dtype=torch.bool)
        >>> batch = Batch(torch.full((1, 10_000, 1), -8.0), None, torch.zeros(1, 1), no, ("a.wav",))
        >>> round((with_noise(batch, 20.0).features - batch.features).std().item(), 1)     # a tenth of 8
        0.8
    """
    if noise_db == 0:
        return batch
    squares, n_frames = batch.features.square(), torch.tensor(batch.features.shape[1])
    if batch.mask is not None:
        reduction = batch.features.shape[1] // batch.mask.shape[1]
        is_real = batch.mask.repeat_interleave(reduction, dim=1)[:, :, None]
        squares, n_frames = torch.where(is_real, squares, 0.0), is_real.sum(dim=1, keepdim=True)
    deviation = (squares.sum(dim=1, keepdim=True) / n_frames).sqrt() * 10.0 ** (-noise_db / 20.0)  # (batch, 1, mels)
    return replace(batch, features=batch.features + deviation * torch.randn_like(batch.features))
