"""Settings of training from clips of which different things are known: who makes a batch, and the mean teacher.

They belong to the configuration in config.py, as its sections ``[quotas]`` and ``[teacher]``.
"""

from __future__ import annotations

from dataclasses import dataclass

from earmark import checks


@dataclass(frozen=True)
class QuotaConfig:
    """Clips of each kind in every batch; an epoch ends when the first kind is used up.

    All 0: an automatic mix. Batches then hold as many clips as training.batch_seconds says, half of them unlabelled
    where there are such, and strongly labelled ones are drawn more often, up to four times, until they are a quarter of
    the labelled ones; an epoch draws as many clips as are labelled.
    """

    weak: int = 0  # with tags alone
    strong: int = 0  # with strong labels
    unlabelled: int = 0

    def __post_init__(self) -> None:
        for name in vars(self):
            checks.number(f"quotas.{name}", getattr(self, name), at_least=0, whole=True)

    @property
    def are_given(self) -> bool:
        """Whether batches are made by them."""
        return any(vars(self).values())


@dataclass(frozen=True)
class TeacherConfig:
    """The mean teacher: an average of the network's past selves, with which it must agree on every clip."""

    weight: float = 2.0  # of the disagreement, on frames and on clips, once it has risen
    ramp_epochs: float | None = None  # it rises along exp(-5 (1 - t / T)^2) this long; None: half of training.epochs
    momentum: float = 0.999  # of the average; in its first steps 1 - 1 / (step + 1), so that it soon forgets the start
    noise_db: float = 30.0  # what the teacher hears is this much louder than the noise in it; 0: no noise
    batch_norm: str = (
        "own"  # own: the teacher's statistics are those of what it heard | student: copied after each step
    )
    deploy: str = "teacher"  # teacher | student: which one selects the epoch, is exported and detects

    def __post_init__(self) -> None:
        checks.number("teacher.weight", self.weight, at_least=0)
        if self.ramp_epochs is not None:
            checks.number("teacher.ramp_epochs", self.ramp_epochs, above=0)
        checks.number("teacher.momentum", self.momentum, at_least=0, at_most=1)
        checks.number("teacher.noise_db", self.noise_db, at_least=0)
        checks.choice("teacher.batch_norm", self.batch_norm, ("own", "student"))
        checks.choice("teacher.deploy", self.deploy, ("teacher", "student"))
