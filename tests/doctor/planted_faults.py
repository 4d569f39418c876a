"""Every fault a recording, a row or an event can have: what it does to a data set, and what must be found.

Rows 0 to 499 are those of the clean data set: row i is "bark", "chirp", "knock" or none (i % 4), and ten rows in turn
are one patient. Every fault has rows of its own.
"""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Callable

import numpy as np
import soundfile
from doctor_cases import RATE, Made, noise, row

# Code and place of each finding, without the folder.
Found = set[tuple[str, str]]


def text_called_wav(made: Made) -> Found:
    made.file(0).write_text("not a sound\n")
    return {("audio-unreadable", row(0))}


def no_byte(made: Made) -> Found:
    made.file(1).write_bytes(b"")
    return {("audio-empty", row(1))}


def header_alone(made: Made) -> Found:
    made.put(2, noise(2)[:0])
    return {("audio-empty", row(2))}


def cut_off(made: Made) -> Found:
    data = bytearray(made.file(3).read_bytes())
    data[40:44] = (RATE * 2 * 10).to_bytes(4, "little")  # the header says 10 s
    made.file(3).write_bytes(data)
    return {("audio-incomplete", row(3))}


def zeros(made: Made) -> Found:
    made.put(4, np.zeros(1600, np.float32))
    return {("audio-silent", row(4))}


def too_quiet(made: Made) -> Found:
    made.put(5, noise(5) * 5e-5, subtype="FLOAT")
    return {("audio-silent", row(5))}


def partly_silent(made: Made) -> Found:
    samples = noise(6)
    samples[400:1500] = 0
    made.put(6, samples)
    return {("audio-long-silence", row(6))}


def clipped(made: Made) -> Found:
    made.put(7, np.clip(2 * np.sin(np.arange(1600) / 5), -1, 1).astype(np.float32))
    return {("audio-clipped", row(7))}


def not_a_number(made: Made) -> Found:
    samples = noise(8)
    samples[700] = np.nan
    made.put(8, samples, subtype="FLOAT")
    return {("audio-not-finite", row(8))}


def infinite(made: Made) -> Found:
    samples = noise(9)
    samples[700] = np.inf
    made.put(9, samples, subtype="FLOAT")
    return {("audio-not-finite", row(9))}


def integers_as_floats(made: Made) -> Found:
    made.put(10, noise(10) * 32768, subtype="FLOAT")
    return {("audio-scale", row(10))}


def too_long(made: Made) -> Found:
    made.put(11, noise(11, seconds=0.5))
    return {("audio-length", row(11))}


def too_short(made: Made) -> Found:
    made.put(13, noise(13, seconds=0.09))
    made.drop_events(13)
    return {("audio-length", row(13))}


def around_another_zero(made: Made) -> Found:
    made.put(14, noise(14) + np.float32(0.2))
    return {("audio-dc-offset", row(14))}


def other_sample_rate(made: Made) -> Found:
    made.put(15, noise(15, rate=16000), rate=16000)
    return {("mixed-sample-rates", "weak.tsv")}


def two_channels(made: Made) -> Found:
    made.put(16, np.stack([noise(16), noise(17)], axis=1))
    return {("mixed-channels", "weak.tsv")}


def unplugged(made: Made) -> Found:
    made.put(12, np.full(1600, 0.25, np.float32))
    return {("audio-silent", row(12))}


def one_channel_of_two(made: Made) -> Found:
    made.put(17, np.stack([noise(17), np.zeros(1600, np.float32)], axis=1))
    at = np.arange(1600)
    clipped = np.where(at % 400 < 20, np.where(at < 800, 1, -1), noise(18)).astype(np.float32)
    made.put(18, np.stack([noise(19), clipped], axis=1))
    return {("audio-dead-channel", row(17)), ("audio-clipped", row(18))}


def same_file(made: Made) -> Found:
    shutil.copy(made.file(20), made.file(24))
    return {("duplicate-audio", row(24))}


def same_sound_as_flac(made: Made) -> Found:
    soundfile.write(made.audio / "025.flac", soundfile.read(made.file(21))[0], RATE)
    made.file(25).unlink()
    made.rows[25]["filename"] = "025.flac"
    made.drop_events(25)
    return {("duplicate-audio", row(25))}


def same_sound_in_both_splits(made: Made) -> Found:
    shutil.copy(made.file(30), made.file(42))
    return {("duplicate-across-splits", row(42))}


def same_sound_of_two_patients(made: Made) -> Found:
    shutil.copy(made.file(32), made.file(52))
    return {("source-in-two-groups", row(52))}


def no_recording(made: Made) -> Found:
    made.file(55).unlink()
    return {("label-without-audio", row(55))}


def no_row(made: Made) -> Found:
    soundfile.write(made.audio / "more.wav", noise(1000), RATE)
    return {("audio-without-labels", "audio/more.wav")}


def other_case(made: Made) -> Found:
    made.file(57).rename(made.audio / "057.WAV")
    return {("filename-case", row(57))}


def other_ending(made: Made) -> Found:
    soundfile.write(made.audio / "058.flac", noise(58), RATE)
    made.file(58).unlink()
    return {("filename-ending", row(58))}


def other_unicode(made: Made) -> Found:
    name = "K\u00e4fer.wav"
    made.file(59).rename(made.audio / unicodedata.normalize("NFD", name))
    made.rows[59]["filename"] = name
    made.drop_events(59)
    return {("filename-unicode", row(59))}


def folder_called_wav(made: Made) -> Found:
    made.file(60).unlink()
    made.file(60).mkdir()
    return {("audio-unreadable", row(60))}


def link_to_nowhere(made: Made) -> Found:
    made.file(61).unlink()
    made.file(61).symlink_to(made.file(61))
    return {("audio-unreadable", row(61))}


def name_of_two_lines(made: Made) -> Found:
    soundfile.write(made.audio / "two\nlines.wav", noise(1001), RATE)
    return {("filename-unusable", "audio")}


def broken_row(made: Made) -> Found:
    made.rows[64]["event_labels"] = "bark,,chirp"
    made.drop_events(64)
    return {("row-broken", row(64)), ("audio-without-labels", "audio/064.wav")}


def broken_event(made: Made) -> Found:
    index = len(made.events)
    made.add_event(68, 0.15, 0.05, "bark")
    return {("row-broken", f"strong.tsv:{index + 2}")}


def typing_error(made: Made) -> Found:
    made.rows[65]["event_labels"] = "chrip"
    made.drop_events(65)
    return {("class-similar", row(65))}


def name_as_label(made: Made) -> Found:
    made.rows[66]["event_labels"] = "066.wav"
    made.drop_events(66)
    return {("labels-in-wrong-column", row(66)), ("class-few-clips", row(66))}


def swapped_cells(made: Made) -> Found:
    made.rows[69] |= {"event_labels": "train", "split": "chirp"}
    made.drop_events(69)
    # The split "chirp" cuts the patient, and lacks the other classes.
    return {
        ("labels-in-wrong-column", row(69)),
        ("class-few-clips", row(69)),
        ("group-cut-by-split", row(69)),
    }


def class_of_two_clips(made: Made) -> Found:
    for index in (71, 79):
        made.rows[index]["event_labels"] = "thunder"
        made.drop_events(index)
    # In one split only, and 60 times as rare as another class.
    return {("class-few-clips", row(71)), ("class-not-in-split", "weak.tsv"), ("class-imbalance", "weak.tsv")}


def class_of_one_patient(made: Made) -> Found:
    for index in (81, 83, 87, 89):
        made.rows[index]["event_labels"] = "siren"
        made.drop_events(index)
    return {("class-in-one-group", row(81)), ("class-few-clips", row(81))}


def patient_in_both_splits(made: Made) -> Found:
    made.rows[157]["split"] = "test"
    return {("group-cut-by-split", row(157))}


def no_patient(made: Made) -> Found:
    made.rows[102]["patient"] = ""
    return {("group-empty", row(102))}


def spans(made: Made) -> Found:
    made.rows[111] |= {"onset": "0", "offset": "0.1"}
    made.drop_events(111)
    split = made.add_row(111, onset="0.1", offset="0.2", split="test", patient="p14")
    late = made.add_row(111, onset="0.1", offset="0.4")
    inside = made.add_row(111, onset="0.02", offset="0.04", event_labels="bark")
    return {
        ("file-cut-by-split", split),
        ("source-in-two-groups", split),
        ("span-beyond-end", late),
        ("tags-contradict", inside),
    }


def late_events(made: Made) -> Found:
    return {
        ("event-beyond-end", made.add_event(120, 0.16, 0.6, "bark")),
        ("event-beyond-end", made.add_event(124, 5.0, 6.0, "bark")),
    }


def empty_event(made: Made) -> Found:
    return {("event-zero-length", made.add_event(128, 0.17, 0.17, "bark"))}


def events_over_each_other(made: Made) -> Found:
    return {
        ("event-overlap", made.add_event(132, 0.1, 0.18, "bark")),
        ("event-twice", made.add_event(136, 0.05, 0.15, "bark")),
    }


def event_of_no_class(made: Made) -> Found:
    return {("event-unknown-class", made.add_event(140, 0.1, 0.18, "meow"))}


def event_of_no_tag(made: Made) -> Found:
    return {("event-without-tag", made.add_event(144, 0.1, 0.18, "chirp"))}


def tag_of_no_event(made: Made) -> Found:
    made.rows[148]["event_labels"] = "bark,chirp"
    return {("tag-without-event", row(148))}


def event_of_no_recording(made: Made) -> Found:
    return {("event-without-audio", made.add_event(900, 0.1, 0.18, "bark"))}


PLANTED: tuple[Callable[[Made], Found], ...] = (
    text_called_wav, no_byte, header_alone, cut_off, zeros, too_quiet, partly_silent, clipped, not_a_number, infinite,
    integers_as_floats, too_long, too_short, around_another_zero, other_sample_rate, two_channels, unplugged,
    one_channel_of_two, same_file,
    same_sound_as_flac, same_sound_in_both_splits, same_sound_of_two_patients, no_recording, no_row, other_case,
    other_ending, other_unicode, folder_called_wav, link_to_nowhere, name_of_two_lines, broken_row, broken_event,
    typing_error, name_as_label, swapped_cells, class_of_two_clips, class_of_one_patient, patient_in_both_splits,
    no_patient, spans, late_events, empty_event, events_over_each_other, event_of_no_class, event_of_no_tag,
    tag_of_no_event, event_of_no_recording,
)  # fmt: skip
