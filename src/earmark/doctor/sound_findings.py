"""What is wrong with recordings: each by itself, and some beside all the others."""

from __future__ import annotations

import filecmp
from collections import Counter
from pathlib import Path

import numpy as np

from earmark.doctor.data_set import DataSet
from earmark.doctor.findings import NOTE, Finding, some
from earmark.doctor.listening import SILENT_PEAK, Sound

# A few clipped samples are in every loud recording.
_CLIPPED_NOTE, _CLIPPED_WARNING = 0.001, 0.01
_LARGE_OFFSET = 0.02  # -34 dB below full scale
_LONG_SILENCE_SECONDS, _LONG_SILENCE_SHARE = 1.0, 0.5

# Clips were cut to one length when most lie so near their median; then half or twice as long is odd. Lengths of
# recordings that were not cut vary by themselves: ten times as long as most is odd then.
_ONE_LENGTH_SHARE, _ONE_LENGTH_TOLERANCE, _ODD_FACTOR, _ODD_FACTOR_OF_MANY = 0.8, 0.1, 2.0, 10.0
_FEWEST_LENGTHS = 10  # below that nothing is usual


def sound_findings(data: DataSet) -> list[Finding]:
    """Return what is wrong with the recordings of a data set."""
    places = data.places
    is_tagged = {clip.filename for clip in data.clips if clip.labels}
    findings = []
    for name, sound in data.sounds.items():
        findings += [
            Finding(code, places[name], name, found, severity)
            for code, found, severity in _of_one(sound, is_tagged=name in is_tagged)
        ]
    return findings + _lengths(data) + _mixed(data) + _duplicates(data)


def _of_one(sound: Sound, *, is_tagged: bool) -> list[tuple[str, str, str]]:
    """Code, sentence and severity (empty for the usual one) of what is wrong with a recording by itself."""
    if sound.problem_code:
        return [(sound.problem_code, sound.problem, "")]
    found = []
    if sound.note:
        found.append(("audio-incomplete", sound.note, ""))
    if sound.is_silent:
        level = "only zeros" if sound.peak == 0 else f"nothing above {20 * np.log10(sound.peak):.0f} dB"
        if sound.peak >= SILENT_PEAK:
            level = f"all its samples lie at {sound.mean:+.3f}"
        found.append(("audio-silent", f"{sound.seconds:.2f} s, and {level}", "" if is_tagged else NOTE))
        return found
    if sound.silent_seconds >= min(_LONG_SILENCE_SECONDS, _LONG_SILENCE_SHARE * sound.seconds):
        silent = f"digital silence for {sound.silent_seconds:.2f} of {sound.seconds:.2f} s at a stretch"
        found.append(("audio-long-silence", silent, ""))
    if sound.clipped_share >= _CLIPPED_NOTE:
        severity = "" if sound.clipped_share >= _CLIPPED_WARNING else NOTE
        found.append(("audio-clipped", f"{100 * sound.clipped_share:.1f} % of its samples are at full scale", severity))
    if sound.dead_channels:
        which = f"channel{'s' * (len(sound.dead_channels) > 1)} {some([str(number) for number in sound.dead_channels])}"
        found.append(("audio-dead-channel", f"nothing is heard in {which} of {sound.n_channels}", ""))
    if abs(sound.mean) >= _LARGE_OFFSET:
        found.append(("audio-dc-offset", f"its samples lie around {sound.mean:+.3f} instead of 0", ""))
    if sound.band_edge_hertz:
        found.append(
            (
                "audio-band-limited",
                f"nothing above {sound.band_edge_hertz / 1000:g} kHz, at {sound.sample_rate} Hz"
                f" - was it recorded or sent at {2 * sound.band_edge_hertz:g} Hz?",
                "",
            )
        )
    return found


def _lengths(data: DataSet) -> list[Finding]:
    """Recordings far shorter or longer than the others."""
    heard, places = data.heard, data.places
    if len(heard) < _FEWEST_LENGTHS:
        return []
    seconds = np.array([sound.seconds for sound in heard.values()])
    low, median, high = np.quantile(seconds, (0.25, 0.5, 0.75))
    near = np.abs(seconds - median) <= _ONE_LENGTH_TOLERANCE * median
    if near.mean() >= _ONE_LENGTH_SHARE:
        low, high, usual = median / _ODD_FACTOR, median * _ODD_FACTOR, f"most have {median:.2f} s"
    else:
        usual = f"half of them have {low:.2f} to {high:.2f} s"
        low, high = low / _ODD_FACTOR_OF_MANY, high * _ODD_FACTOR_OF_MANY
    return [
        Finding("audio-length", places[name], name, f"{sound.seconds:.2f} s long, while {usual}")
        for name, sound in heard.items()
        if not low <= sound.seconds <= high
    ]


def _mixed(data: DataSet) -> list[Finding]:
    """More than one sample rate, more than one number of channels."""
    findings = []
    rates = Counter(sound.sample_rate for sound in data.heard.values())
    channels = Counter(sound.n_channels for sound in data.heard.values())
    for code, counts, unit in (("mixed-sample-rates", rates, " Hz"), ("mixed-channels", channels, " channels")):
        if len(counts) > 1:
            listed = some([f"{value}{unit}: {n:,}" for value, n in counts.most_common()], 5)
            findings.append(
                Finding(code, data.labels, "", f"recordings with {listed.replace('1 channels', '1 channel')}")
            )
    return findings


def _duplicates(data: DataSet) -> list[Finding]:
    """Recordings of the same samples, whatever their format; worst when a split lies between them."""
    copies: dict[bytes, list[str]] = {}
    for name, sound in data.heard.items():
        if not sound.is_silent:
            copies.setdefault(sound.digest, []).append(name)
    splits, groups = data.sides_of(data.splits), data.sides_of(data.groups)
    tags: dict[str, set[str]] = {}
    for clip in data.clips:
        tags.setdefault(clip.filename, set()).update(clip.labels)
    places = data.places
    findings = []
    for names in copies.values():
        for i, name in enumerate(names[1:], start=1):
            # The first of those from which something divides it.
            others = names[:i]
            across = [other for other in others if _differ(splits, name, other)]
            grouped = [other for other in others if _differ(groups, name, other)]
            other = [*across, *grouped, *others][0]
            kind = "the same file as" if _is_same_file(data.paths[name], data.paths[other]) else "sounds the same as"
            said = f"{kind} {other} ({places[other]})"
            if across:
                code, said = (
                    "duplicate-across-splits",
                    f"{said}, which is in {splits[other][0]!r}, not {splits[name][0]!r}",
                )
            elif grouped:
                code, said = (
                    "source-in-two-groups",
                    f"{said}, which is in {groups[other][0]!r}, not {groups[name][0]!r}",
                )
            else:
                code = "duplicate-audio"
            if tags.get(name) != tags.get(other):
                said += "; their tags differ"
            findings.append(Finding(code, places[name], name, said))
    return findings


def _differ(sides: dict[str, list[str]], name: str, other: str) -> bool:
    """Whether both recordings stand somewhere, and not in the same places."""
    first, second = set(sides.get(name, ())), set(sides.get(other, ()))
    return bool(first and second) and first != second


def _is_same_file(first: Path, second: Path) -> bool:
    """Whether two files hold the same bytes."""
    try:
        return filecmp.cmp(first, second, shallow=False)
    except OSError:
        return False
