"""Every setting of a training run: its default, its unit and the reason for it stand here and nowhere else.

On disk a configuration is TOML with one table per dataclass below (earmark.config_file reads and writes it).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from earmark import checks
from earmark.timeline import Timeline


@dataclass(frozen=True)
class FeatureConfig:
    """Log-mel spectrogram; or, with `frames_per_second`, embeddings: what another network made of the audio."""

    sample_rate: int = 16000
    n_mels: int = 64
    window_samples: int = 1024  # 64 ms; also the length of the FFT, so a power of two is fast
    hop_samples: int = 320  # 20 ms
    min_hz: float = 0.0
    max_hz: float | None = None  # None: half the sample rate
    window: str = "hann"  # hann | hamming
    spectrum: str = "power"  # power | magnitude
    mel_scale: str = "slaney"  # slaney | htk; the filters' peaks are 1 in both
    # Of the mel energies, before the logarithm; fixed, so that a frame never depends on the clip. 1e-7 is what noise at
    # -96 dB below full scale gives: about the rounding of 16-bit files, and of a float32 FFT of a loud tone.
    floor: float = 1e-7
    # Nothing below is for deployed models; the DCASE recipes need it.
    framing: str = (
        "hop"  # hop: frame i is centred in its hop | centred: frame i is centred on sample i * hop, reflected
    )
    dynamic_range_db: float | None = None  # clip everything this far below the clip's own maximum
    clip_frames: int | None = None  # pad or cut every clip to this many frames and never mask the padding
    # Of embeddings, which have no other setting than these two; None: log-mel features, computed from the audio.
    frames_per_second: float | None = None
    n_dims: int | None = None  # numbers per frame; None: as many as the arrays have

    def __post_init__(self) -> None:
        self._check_embeddings()
        hint = "is it in kHz? 16 kHz is 16000"
        checks.number("features.sample_rate", self.sample_rate, at_least=100, whole=True, hint=hint)
        for name in ("n_mels", "window_samples", "hop_samples"):
            checks.number(f"features.{name}", getattr(self, name), at_least=1, whole=True)
        checks.number("features.floor", self.floor, above=0)
        if self.dynamic_range_db is not None:
            checks.number("features.dynamic_range_db", self.dynamic_range_db, above=0, hint="80 is usual")
        if self.clip_frames is not None:
            checks.number("features.clip_frames", self.clip_frames, at_least=1)
        checks.choice("features.window", self.window, ("hann", "hamming"))
        checks.choice("features.spectrum", self.spectrum, ("power", "magnitude"))
        checks.choice("features.mel_scale", self.mel_scale, ("slaney", "htk"))
        checks.choice("features.framing", self.framing, ("hop", "centred"))
        if self.hop_samples > self.window_samples:
            raise ValueError(
                f"features.hop_samples must be at most window_samples = {self.window_samples}, got {self.hop_samples}"
                " - samples between the windows would never be heard"
            )
        top = self.top_hz
        if not 0 <= self.min_hz < top <= self.sample_rate / 2:
            raise ValueError(
                f"features.min_hz and max_hz must satisfy 0 <= min_hz < max_hz <= sample_rate / 2 ="
                f" {self.sample_rate / 2:g}, got {self.min_hz:g} and {top:g}"
            )

    def _check_embeddings(self) -> None:
        """Raise ValueError for settings of the one kind of features given to the other."""
        if self.n_dims is not None:
            checks.number("features.n_dims", self.n_dims, at_least=1, whole=True)
            if self.frames_per_second is None:
                raise ValueError(
                    f"features.frames_per_second must be given with features.n_dims = {self.n_dims}, got none"
                    " - how many frames of the embeddings make a second?"
                )
        if self.frames_per_second is None:
            return
        hint = "frames of 0.5 s are 2 per second"
        checks.number("features.frames_per_second", self.frames_per_second, above=1 / 3600, at_most=1e5, hint=hint)
        reason = f"features.frames_per_second = {self.frames_per_second:g} says that these are embeddings"
        _refuse_unused("features", self, f"a setting of log-mel features, and {reason}")

    @property
    def is_embeddings(self) -> bool:
        """Whether the features come from elsewhere, ready-made."""
        return self.frames_per_second is not None

    @property
    def n_inputs(self) -> int:
        """Numbers per frame: mel bands, or dims of embeddings, which the arrays themselves must have told by now."""
        if not self.is_embeddings:
            return self.n_mels
        if self.n_dims is None:
            raise ValueError("features.n_dims must be known by now, got none - how many numbers has each frame?")
        return self.n_dims

    @property
    def timeline(self) -> Timeline:
        """The grid of the feature frames."""
        if self.frames_per_second is not None:
            return Timeline.of_frame_rate(self.frames_per_second)
        return Timeline(self.sample_rate, self.hop_samples)

    @property
    def top_hz(self) -> float:
        """The upper edge of the highest filter."""
        return self.sample_rate / 2 if self.max_hz is None else self.max_hz


@dataclass(frozen=True)
class ModelConfig:
    """Convolutions over the spectrogram, then a recurrent layer over time, then one logit per class and frame."""

    # Of each convolution block; with rnn_units 128 about 0.4 M weights. [] with pool_time [] and pool_mel []: none, as
    # for embeddings, whose dims have no neighbours.
    channels: tuple[int, ...] = (16, 32, 64, 128)
    kernel_size: int = 3
    pool_time: tuple[int, ...] = (2, 1, 1, 1)  # of each block; 20 ms frames become 40 ms
    pool_mel: tuple[int, ...] = (2, 2, 2, 4)
    pool: str = "max"  # max | average
    activation: str = "relu"  # relu | glu | context_gating
    conv_bias: bool = False  # batch normalisation removes it again; the paper's code keeps it
    batch_norm_eps: float = 1e-5
    batch_norm_momentum: float = 0.1
    conv_dropout: float = 0.0  # after each block's activation
    # Of a linear layer with a rectifier in front of the recurrent one. Without it a recurrent layer on embeddings tags
    # clips but hardly finds moments: event F1 0.2 instead of 0.85 on made-up ones. 0: no such layer; None: none behind
    # convolutions, 128 for embeddings.
    projection_units: int | None = None
    rnn_layers: int = 1
    rnn_units: int = 128  # per direction
    rnn_dropout: float = 0.0  # after the recurrent layers
    init: str = "xavier"  # xavier | baseline2019

    def __post_init__(self) -> None:
        for name in ("pool_time", "pool_mel"):
            if len(getattr(self, name)) != len(self.channels):
                raise ValueError(
                    f"model.{name} must have one entry per block, {len(self.channels)} as model.channels has,"
                    f" got {len(getattr(self, name))}"
                )
        for name in ("channels", "pool_time", "pool_mel"):
            for value in getattr(self, name):
                checks.number(f"model.{name}", value, at_least=1, whole=True)
        if self.kernel_size % 2 == 0:
            raise ValueError(f"model.kernel_size must be odd, got {self.kernel_size} - else frames would shift in time")
        for name in ("kernel_size", "rnn_layers", "rnn_units"):
            checks.number(f"model.{name}", getattr(self, name), at_least=1, whole=True)
        checks.number("model.batch_norm_eps", self.batch_norm_eps, above=0)
        checks.number("model.batch_norm_momentum", self.batch_norm_momentum, above=0, at_most=1)
        for name in ("conv_dropout", "rnn_dropout"):
            checks.number(f"model.{name}", getattr(self, name), at_least=0, at_most=0.99)
        checks.choice("model.pool", self.pool, ("max", "average"))
        checks.choice("model.activation", self.activation, ("relu", "glu", "context_gating"))
        checks.choice("model.init", self.init, ("xavier", "baseline2019"))
        if self.projection_units is not None:
            checks.number("model.projection_units", self.projection_units, at_least=0, whole=True)
        _refuse_unused("model", self, "a setting of the convolutions, and model.channels = [] says that there are none")

    @property
    def time_reduction(self) -> int:
        """Feature frames per output frame."""
        reduction = 1
        for factor in self.pool_time:
            reduction *= factor
        return reduction


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
    warmup_epochs: float = 0.5  # the learning rate rises from 0, then falls along a cosine
    gradient_clip: float = 5.0  # largest norm of the gradient; 0: off
    holdout_fraction: float = 0.15  # of the groups (or clips), when no column says what is held out
    validate_every_epochs: int = 1
    # f1: best held-out macro clip F1 (where no class can have one: as loss) | loss: lowest held-out loss | last
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
        for name in (
            "context_seconds",
            "warmup_epochs",
            "gradient_clip",
            "checkpoint_seconds",
            "seed",
            "frame_weight",
            "keep_weight",
        ):
            checks.number(f"training.{name}", getattr(self, name), at_least=0)
        checks.number("training.holdout_fraction", self.holdout_fraction, at_least=0, at_most=0.9)
        checks.number("training.validate_every_epochs", self.validate_every_epochs, at_least=1, whole=True)
        for epoch in self.snapshot_epochs:
            checks.number("training.snapshot_epochs", epoch, at_least=1, at_most=self.epochs)
        checks.choice("training.balance", self.balance, ("classes", "none"))
        checks.choice("training.select", self.select, ("f1", "loss", "last"))
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
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)

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
_OF_CONVOLUTIONS = (
    "kernel_size", "pool", "activation", "conv_bias", "batch_norm_eps", "batch_norm_momentum", "conv_dropout",
)  # fmt: skip


def unused_settings(section: object) -> frozenset[str]:
    """Return the settings of a section that nothing looks at, because of its other settings.

    Example:
        >>> sorted(unused_settings(ModelConfig(channels=(), pool_time=(), pool_mel=())))[:3]
        ['activation', 'batch_norm_eps', 'batch_norm_momentum']
        >>> "n_mels" in unused_settings(FeatureConfig(frames_per_second=2.0))
        True
    """
    if isinstance(section, FeatureConfig) and section.is_embeddings:
        return frozenset(entry.name for entry in dataclasses.fields(section)) - {"frames_per_second", "n_dims"}
    if isinstance(section, ModelConfig) and not section.channels:
        return frozenset(_OF_CONVOLUTIONS)
    return frozenset()


def _refuse_unused(name: str, section: FeatureConfig | ModelConfig, reason: str) -> None:
    """Raise ValueError for a setting away from its default that nothing would look at."""
    for entry in dataclasses.fields(section):
        value = getattr(section, entry.name)
        if entry.name in unused_settings(section) and value != entry.default:
            raise ValueError(f"{name}.{entry.name} = {value!r} is {reason} - leave one of the two out")


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
