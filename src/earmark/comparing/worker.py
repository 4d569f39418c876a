"""One run of a comparison, in a process of its own: ``python -m earmark.comparing.worker JOB.json``.

Train (or go on where it stopped), look at the clips it never learned from, and measure. Each step leaves a file, and
what is there already is not done again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark.files import write_atomic
from earmark.training.sources import Sources, Split

if TYPE_CHECKING:
    from earmark.comparing.measuring import Truth
    from earmark.comparing.scoring import ClipScores
    from earmark.config import Config
    from earmark.training.clips import ClipSet

LEARN_TABLE, TEST_TABLE = "learn.tsv", "test.tsv"
SPLIT = Split("part", "held-out")  # of the first of them
SCORES, FIGURES, ABOUT_FIGURES = "scores.npz", "figures.npz", "figures.json"


@dataclass(frozen=True)
class Job:
    """What a worker is told.

    Args:
        comparison: the folder of the comparison.
        run: the folder of this run; its settings stand beside it in ``NAME.toml``.
        audio: the folder of the recordings; None where embeddings take their place.
        strong: table of events that figures are measured by, or None.
        learn_strong: table of events of clips to learn from that runs learn from as well, or None.
        device: ``"cpu"``, ``"cuda"`` ...
        parent: the process to end with; 0 for none.
        embeddings: the folder of arrays that are learned from instead of recordings, or None.

    Example:
        >>> Job("out", "out/runs/power-seed-0", "audio", None, None, "cpu", 0).settings.name
        'power-seed-0.toml'
    """

    comparison: str
    run: str
    audio: str | None
    strong: str | None
    learn_strong: str | None
    device: str
    parent: int
    embeddings: str | None = None

    @property
    def sources(self) -> Sources:
        """What the run learns from."""
        return Sources(
            Path(self.comparison, LEARN_TABLE),
            audio=_path(self.audio),
            strong=_path(self.learn_strong),
            embeddings=_path(self.embeddings),
        )

    @property
    def settings(self) -> Path:
        """The file with the settings of the run."""
        run = Path(self.run)
        return run.with_name(f"{run.name}.toml")

    def write(self, path: Path) -> None:
        """Leave the job where the worker reads it."""
        write_atomic(path, json.dumps(asdict(self), indent=2) + "\n")


def carry_out(job: Job) -> None:
    """Do what is not done yet of a run."""
    from earmark.comparing.measuring import measure, write_measured
    from earmark.comparing.scoring import read_scores
    from earmark.config_file import read_config
    from earmark.training.run import Watch, train

    run, comparison = Path(job.run), Path(job.comparison)
    config = read_config(job.settings)
    if not (run / "metrics.json").exists():

        def on_row(row: dict[str, Any]) -> None:
            _end_with(job.parent)

        sources = job.sources
        train(
            sources.labels, audio=sources.audio, embeddings=sources.embeddings, strong=sources.strong,
            out=run, config=config, split=SPLIT, device=job.device, resume=True, watch=Watch(on_row=on_row),
            cache=None if sources.embeddings is not None else comparison / "cache" / "learn",
        )  # fmt: skip
    _end_with(job.parent)
    with_frames = job.strong is not None
    scores = read_scores(run / SCORES) if (run / SCORES).exists() else {}
    if not scores or (with_frames and scores["test"].frames is None):
        scores = _score(job, run, comparison, with_frames=with_frames)
    _end_with(job.parent)
    held_out, test = read_truths(comparison, config, _path(job.strong))
    about = digest(held_out, test)
    if (run / ABOUT_FIGURES).exists() and json.loads((run / ABOUT_FIGURES).read_text(encoding="utf-8")) == about:
        return
    measured = measure(held_out, scores["held-out"], test, scores["test"], config)
    write_measured(run / FIGURES, measured)
    write_atomic(run / ABOUT_FIGURES, json.dumps(about) + "\n")  # last: it says that the figures are whole


def is_done(run: Path, about: dict[str, str]) -> bool:
    """Whether a run is trained and measured against just this truth.

    Example:
        >>> is_done(Path("no-such-run"), {})
        False
    """
    if not (run / "metrics.json").exists() or not (run / ABOUT_FIGURES).exists():
        return False
    found: dict[str, str] = json.loads((run / ABOUT_FIGURES).read_text(encoding="utf-8"))
    return found == about


def digest(held_out: Truth, test: Truth) -> dict[str, str]:
    """What figures were measured against, in a few letters: another truth makes other ones."""
    import earmark
    from earmark.comparing.measuring import N_RESAMPLES, N_RESAMPLES_PSDS

    content = [
        (truth.names(), truth.clips.tags.tolist(), truth.clips.known.tolist(), truth.clips.groups, truth.events)
        for truth in (held_out, test)
    ]
    text = repr((content, N_RESAMPLES, N_RESAMPLES_PSDS))
    return {"version": earmark.__version__, "truth": hashlib.sha256(text.encode()).hexdigest()}


def read_truths(comparison: Path, config: Config, strong: Path | None) -> tuple[Truth, Truth]:
    """What the held-out and the test clips hold, as the comparison's tables and the events have it."""
    import numpy as np

    from earmark.comparing.measuring import Truth, events_of_clips
    from earmark.labels.strong import read_strong

    learn = read_learn_clips(comparison, config)
    parts = (learn.only(np.flatnonzero(learn.held_out)), read_test_clips(comparison, learn.classes))
    events = {} if strong is None else read_strong(strong)
    held_out, test = (Truth(clips, events_of_clips(clips.clips, events)) for clips in parts)
    return held_out, test


def read_learn_clips(comparison: Path, config: Config) -> ClipSet:
    """The clips to learn from and to choose by, as their tags have them."""
    from earmark.training.joining import join

    return join(Sources(comparison / LEARN_TABLE, comparison), config, SPLIT).clips


def read_test_clips(comparison: Path, classes: tuple[str, ...]) -> ClipSet:
    """The clips of the test part, with their groups."""
    from earmark.labels.weak import read_weak
    from earmark.training.clips import clip_set

    return clip_set(read_weak(comparison / TEST_TABLE), classes, holdout_fraction=0, group_column="group")


def _score(job: Job, run: Path, comparison: Path, *, with_frames: bool) -> dict[str, ClipScores]:
    """What the best epoch's network says about the held-out and the test clips."""
    import shutil

    import numpy as np

    from earmark.comparing.scoring import score_clips, write_scores
    from earmark.training.checkpoint import load_checkpoint
    from earmark.training.device import choose_device
    from earmark.training.reading import read_features

    network = load_checkpoint(run / "best.safetensors").network.to(choose_device(job.device))
    config = network.config
    is_shared = job.embeddings is None  # embeddings are copied by each run for itself
    caches = (comparison if is_shared else run) / "cache"
    learn = read_learn_clips(comparison, config)
    test = read_test_clips(comparison, learn.classes)
    found = {}
    for part, clips, cache, indices in (
        ("held-out", learn, "learn", np.flatnonzero(learn.held_out)),
        ("test", test, "test", np.arange(len(test.clips))),
    ):
        store = read_features(
            caches / cache, clips.clips, job.sources, config, on_clip=lambda done: None, read_only=is_shared
        )
        found[part] = score_clips(network, clips, store, indices, config, with_frames=with_frames)
    if not is_shared:
        shutil.rmtree(caches)
    write_scores(run / SCORES, found)
    return found


def _path(text: str | None) -> Path | None:
    """A path that may be missing."""
    return None if text is None else Path(text)


def _end_with(parent: int) -> None:
    """End this process when the one that started it is no more: nobody would be there to stop it."""
    if parent and os.getppid() != parent:
        raise SystemExit(1)


def main() -> None:
    """Carry out the job that the command line names; say in one line why it cannot be done."""
    job = Job(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    try:
        carry_out(job)
    except (ValueError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
