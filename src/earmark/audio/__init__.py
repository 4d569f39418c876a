"""Audio in: find the files, read them (whole, a span, or block by block), and say what could not be read."""

from earmark.audio.finding import AUDIO_SUFFIXES, find_audio, find_clip
from earmark.audio.reading import Audio, AudioInfo, blocks, probe_audio, read_audio

__all__ = ["AUDIO_SUFFIXES", "Audio", "AudioInfo", "blocks", "find_audio", "find_clip", "probe_audio", "read_audio"]
