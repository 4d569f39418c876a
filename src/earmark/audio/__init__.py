"""Audio in: find the files, read them (whole, a span, or block by block), and say what could not be read."""

from earmark.audio.finding import AUDIO_SUFFIXES, find_audio, find_clip, find_clips
from earmark.audio.reading import Audio, AudioInfo, blocks, check_samples, probe_audio, read_audio
from earmark.audio.spans import late_offset, late_onset

__all__ = [
    "AUDIO_SUFFIXES",
    "Audio",
    "AudioInfo",
    "blocks",
    "check_samples",
    "find_audio",
    "find_clip",
    "find_clips",
    "late_offset",
    "late_onset",
    "probe_audio",
    "read_audio",
]
