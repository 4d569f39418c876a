"""The loss of one batch, term by term: of its labels, of the mean teacher, and of the model that a run continues."""

from __future__ import annotations

from torch import Tensor

from earmark.config import Config
from earmark.models.crnn import Network
from earmark.training.batch import Batch
from earmark.training.keeping import kept_terms
from earmark.training.mean_teacher import consistency_terms
from earmark.training.supervised import batch_output, label_terms


def loss_terms(
    network: Network,
    batch: Batch,
    config: Config,
    *,
    teacher: Network | None = None,
    old: Network | None = None,
    epochs_done: float = 0.0,
) -> dict[str, Tensor]:
    """Return the terms of the loss of one batch, by name; their sum is what training minimises.

    The network hears the batch once, whatever is asked about what it says.

    Args:
        network: that learns.
        batch: the clips.
        config: all settings.
        teacher: of the mean teacher, if the run has one.
        old: the model the run continues, if it does, in evaluation mode.
        epochs_done: whole and parts; the weight of the teacher rises with them.

    Example:
        >>> import torch
        >>> network, yes = Network(Config(), ["dog"]), torch.ones(1, 1, dtype=torch.bool)
        >>> _ = network.crnn.linear.weight.data.zero_()     # untrained: it says 0.5 of everything
        >>> batch = Batch(torch.zeros(1, 50, 64), None, torch.ones(1, 1), yes, ("a.wav",))     # 1 s with a dog
        >>> terms = loss_terms(network, batch, Config())
        >>> {name: round(term.item(), 4) for name, term in terms.items()}     # -log 0.5
        {'tags': 0.6931, 'penalty': 0.0}
    """
    output = batch_output(network, batch, config)
    log_probs = network.pool.log_probs(output.logits, output.mask, output.hidden)
    terms = label_terms(network, output, log_probs, batch, config)
    if teacher is not None:
        terms |= consistency_terms(teacher, output, log_probs[0], batch, config, epochs_done=epochs_done)
    if old is not None:
        terms |= kept_terms(old, output, batch, config)
    return terms
