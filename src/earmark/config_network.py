"""The settings of what the network hears and of the network itself: sections [features] and [model] of a run's."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

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
    # 0: none, so that a frame hears no farther than its convolutions reach. From tags alone a recurrent layer may say
    # of every frame what it remembers of the clip, which makes right tags and no events.
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
        for name in ("kernel_size", "rnn_units"):
            checks.number(f"model.{name}", getattr(self, name), at_least=1, whole=True)
        checks.number("model.rnn_layers", self.rnn_layers, at_least=0, whole=True)
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
