"""Every setting of a training run: its default, its unit and the reason for it stand here and nowhere else.

On disk a configuration is TOML with one table per dataclass below (earmark.config_file reads and writes it).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from earmark import checks
from earmark.config_mixed import QuotaConfig as QuotaConfig
from earmark.config_mixed import TeacherConfig as TeacherConfig
from earmark.config_network import FeatureConfig as FeatureConfig
from earmark.config_network import ModelConfig as ModelConfig
from earmark.config_network import unused_settings as unused_settings


@dataclass(frozen=True)
class PoolingConfig:
    """The pooling function; None leaves an option at that function's own default (see earmark.pooling.create)."""

    name: str = "power"
    axis: str | None = None
    initial: float | None = None
    penalty: float | None = None
    constraint: str | None = None
    shared: bool | None = None
    n_frames: int | None = None
    inner: str | None = None
    groups: tuple[int, ...] | None = None


@dataclass(frozen=True)
class TrainingConfig:
    """The loop."""

    epochs: int = 40
    batch_seconds: float = 160.0  # of audio, padding included, in one batch: the bound on memory; 16 clips of 10 s
    piece_seconds: float = 60.0  # longer clips pass through the network in pieces of this length, or batch_seconds
    context_seconds: float = 2.0  # heard on both sides of a piece and then thrown away
    balance: str = "classes"  # classes: rare classes are drawn as often as common ones | none: every clip once an epoch
    learning_rate: float = 1e-3
    pooling_learning_rate_factor: float = 1.0  # the pooling parameters learn this many times faster
    # cosine: a rise from 0 over warmup_epochs, then down along a cosine | ramp: up along exp(-5 (1 - t / T)^2), T being
    # teacher.ramp_epochs, then constant | plateau: constant after warmup_epochs, halved whenever more than
    # plateau_patience looks at the held-out clips in a row have not seen a lower loss
    schedule: str = "cosine"
    warmup_epochs: float = 0.5
    plateau_patience: int = 3
    gradient_clip: float = 5.0  # largest norm of the gradient; 0: off
    holdout_fraction: float = 0.15  # of the groups (or clips), when no column says what is held out
    validate_every_epochs: int = 1
    # auto: mean_teacher when there are recordings without labels | supervised | mean_teacher (section [teacher])
    method: str = "auto"
    # Longer recordings without labels are cut into clips of about this length; None: that of most labelled clips.
    unlabelled_seconds: float | None = None
    # f1: best held-out macro clip F1 (where no class can have one: as loss) | events: best macro event F1 of held-out
    # clips that are wholly labelled, decoded without tuning | loss: lowest held-out loss | last
    select: str = "f1"
    checkpoint_seconds: float = 60.0  # a checkpoint at least this often, besides the one after each epoch
    snapshot_epochs: tuple[int, ...] = ()  # epochs after which a copy is kept in snapshots/
    frame_weight: float = 1.0  # of the loss of frames against the loss of tags, where there are strong labels
    # Whether the tags of a clip count where all its moments are known too. The pooling function then learns from them
    # as well, and the tags of a model are trained on all there is; the recipe of 2019 does without.
    tags_of_strong: bool = True
    loss: str = "log"  # log: on log y^c and log(1 - y^c), no clamp | clamped: y^c clamped to [1e-7, 1 - 1e-7]
    seed: int = 0
    # Of a run that continues from a model: how much it counts that the network still says of the model's classes what
    # the model said, where the labels say nothing of them. 0: they fade (on made-up clips, from a mean event F1 of 0.64
    # to 0.09; with 3 they stay at 0.67, and the new class is learned as well).
    keep_weight: float = 3.0
    allow_similar_classes: bool = False  # a new class may be named almost like one that only the model has

    def __post_init__(self) -> None:
        checks.number("training.epochs", self.epochs, at_least=1, whole=True)
        for name in ("batch_seconds", "piece_seconds", "learning_rate", "pooling_learning_rate_factor"):
            checks.number(f"training.{name}", getattr(self, name), above=0)
        if self.unlabelled_seconds is not None:
            checks.number("training.unlabelled_seconds", self.unlabelled_seconds, above=0)
        checks.number("training.plateau_patience", self.plateau_patience, at_least=0, whole=True)
        checks.number("training.keep_weight", self.keep_weight, at_least=0)
        for name in ("context_seconds", "warmup_epochs", "gradient_clip", "checkpoint_seconds", "seed", "frame_weight"):
            checks.number(f"training.{name}", getattr(self, name), at_least=0)
        checks.number("training.holdout_fraction", self.holdout_fraction, at_least=0, at_most=0.9)
        checks.number("training.validate_every_epochs", self.validate_every_epochs, at_least=1, whole=True)
        for epoch in self.snapshot_epochs:
            checks.number("training.snapshot_epochs", epoch, at_least=1, at_most=self.epochs)
        checks.choice("training.balance", self.balance, ("classes", "none"))
        checks.choice("training.schedule", self.schedule, ("cosine", "ramp", "plateau"))
        checks.choice("training.method", self.method, ("auto", "supervised", "mean_teacher"))
        checks.choice("training.select", self.select, ("f1", "events", "loss", "last"))
        checks.choice("training.loss", self.loss, ("log", "clamped"))


@dataclass(frozen=True)
class AugmentConfig:
    """Changes to training clips, drawn anew each time. All are off unless set."""

    time_shift_seconds: float = 0.0  # standard deviation of a circular shift inside the clip
    mixup: float = 0.0  # alpha of the beta distribution that mixes two clips and their tags
    n_mel_masks: int = 0
    mel_mask_bands: int = 8  # a mask hides up to this many neighbouring bands
    n_time_masks: int = 0
    time_mask_seconds: float = 0.2  # keep it short: a mask that hides the only event makes the tag a lie
    gain_db: float = 0.0  # standard deviation of a change in loudness

    def __post_init__(self) -> None:
        for entry in dataclasses.fields(self):
            checks.number(f"augment.{entry.name}", getattr(self, entry.name), at_least=0)


@dataclass(frozen=True)
class DecodingConfig:
    """How frame probabilities become events (earmark.detection.decoding)."""

    # fixed: as it stands here | duration: median windows from mean_seconds | tuned: thresholds chosen on held-out clips
    mode: str = "fixed"
    threshold: float = 0.5  # an event holds a frame at least this probable; also for tags
    # ... and reaches as far as its frames are at least this probable; equal to threshold: no hysteresis. Training from
    # tags lifts frames above about half of the clip's probability, so the quieter parts of a true event stay below 0.5.
    low_threshold: float = 0.2
    median_seconds: float = 0.2
    max_gap_seconds: float = 0.3
    min_event_seconds: float = 0.1
    mean_seconds: tuple[float, ...] | None = None  # mode duration: how long events last, per class in sorted order

    def __post_init__(self) -> None:
        checks.choice("decoding.mode", self.mode, ("fixed", "duration", "tuned"))
        if self.mode == "duration" and self.mean_seconds is None:
            raise ValueError(
                "decoding.mean_seconds must be given when decoding.mode is 'duration', got none"
                " - how long do events last, in seconds, one number per class in sorted order?"
            )
        if self.mode != "duration" and self.mean_seconds is not None:
            raise ValueError(
                f"decoding.mean_seconds must be given only when decoding.mode is 'duration', got mode {self.mode!r}"
                " - set the mode, or leave the means out"
            )
        checks.number("decoding.threshold", self.threshold, above=0, at_most=1)
        hint = "lower both together, or set them equal for no hysteresis"
        checks.number("decoding.low_threshold", self.low_threshold, above=0, at_most=self.threshold, hint=hint)
        for name in ("median_seconds", "max_gap_seconds", "min_event_seconds"):
            checks.number(f"decoding.{name}", getattr(self, name), at_least=0)


@dataclass(frozen=True)
class Config:
    """All settings of a run, one TOML table each."""

    features: FeatureConfig = field(default_factory=FeatureConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    pooling: PoolingConfig = field(default_factory=PoolingConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    quotas: QuotaConfig = field(default_factory=QuotaConfig)
    teacher: TeacherConfig = field(default_factory=TeacherConfig)
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)

    @property
    def ramp_epochs(self) -> float:
        """Epochs in which the weight of the teacher, or the learning rate, rises."""
        return self.training.epochs / 2 if self.teacher.ramp_epochs is None else self.teacher.ramp_epochs

    def __post_init__(self) -> None:
        if self.features.is_embeddings:
            self._check_embeddings()
        frames, reduction = self.features.clip_frames, self.model.time_reduction
        if frames is not None and frames % reduction:
            raise ValueError(
                f"features.clip_frames must be a multiple of {reduction}, the product of model.pool_time, got {frames}"
                f" - the last frames would never be heard; take {-(-frames // reduction) * reduction}"
            )

    def _check_embeddings(self) -> None:
        """Raise ValueError for what is made for spectrograms."""
        if self.model.channels not in ((), ModelConfig.channels):  # the default gives way: for_embeddings
            raise ValueError(
                f"model.channels must be [] for embeddings, got {list(self.model.channels)} - their dims have no"
                " neighbours a convolution could look at; set model.pool_time and model.pool_mel to [] as well"
            )
        for name in ("gain_db", "mixup", "n_mel_masks"):
            if getattr(self.augment, name) > 0:
                raise ValueError(
                    f"augment.{name} must be 0 for embeddings, got {getattr(self.augment, name):g} - it changes the"
                    " energies of mel bands; augment.time_shift_seconds and n_time_masks work on embeddings too"
                )


_PROJECTION_UNITS = 128  # as many as the recurrent layer has per direction


def for_embeddings(config: Config, *, frames_per_second: float, n_dims: int) -> Config:
    """Return the configuration for embeddings of this rate and size: no convolutions, a projection in front.

    Example:
        >>> config = for_embeddings(Config(), frames_per_second=2.0, n_dims=768)
        >>> config.features.n_inputs, config.model.channels, config.model.projection_units
        (768, (), 128)
    """
    features = FeatureConfig(frames_per_second=frames_per_second, n_dims=n_dims)
    model = config.model
    if model.channels:
        model = dataclasses.replace(model, channels=(), pool_time=(), pool_mel=())
    if model.projection_units is None:
        model = dataclasses.replace(model, projection_units=_PROJECTION_UNITS)
    return dataclasses.replace(config, features=features, model=model)


def not_deployable(config: Config) -> str | None:
    """Return why a model with this configuration cannot be exported for detection, or None when it can.

    A deployed model must say the same about a moment whatever else the recording holds and wherever it begins.

    Example:
        >>> not_deployable(Config()) is None
        True
    """
    if config.features.dynamic_range_db is not None:
        return (
            "features.dynamic_range_db makes every frame depend on the loudest moment of the recording, which a"
            " deployed model must not - train without it to export"
        )
    half_window, frame = config.features.window_samples // 2, config.features.hop_samples * config.model.time_reduction
    if config.features.framing == "centred" and frame <= half_window:
        return (
            f"features.framing 'centred' mirrors {half_window} samples at both ends, more than the shortest recording"
            f" of one output frame ({frame} samples) holds - train with framing 'hop' to export"
        )
    if config.pooling.name == "hierarchical":
        return (
            "hierarchical pooling weighs a frame by its place in a clip of nominal length, so tags of other recordings"
            " are not defined - train with its inner function to export"
        )
    return None
