"""Lung sounds from tags alone: how near a detector comes to one that was told when everything happened.

    python benchmarks/lung_sounds.py prepare --data SPRSOUND --out OUT
    python benchmarks/lung_sounds.py ceiling --out OUT
    python benchmarks/lung_sounds.py run     --data SPRSOUND --out OUT --jobs 10 --device cuda
    python benchmarks/lung_sounds.py held-out --out OUT
    python benchmarks/lung_sounds.py table   --data SPRSOUND --out OUT --docs docs
    python benchmarks/lung_sounds.py summary --out OUT

SPRSOUND is a folder with files.tsv, events.tsv and audio/. `run` goes on where it was cut off: every run that has
ended lies in OUT/results. docs/lung-sounds.md says what came out.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

from lung_sounds_data import read_recordings, write_tables
from lung_sounds_systems import SYSTEMS, Job, config_of, jobs, system_of, teacher_of


def main() -> None:
    """Do one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    for name in ("prepare", "ceiling", "run", "held-out", "table", "summary"):
        step = steps.add_parser(name)
        step.add_argument("--out", type=Path, required=True)
        if name in ("prepare", "run", "table"):
            step.add_argument("--data", type=Path, required=True)
        if name == "run":
            step.add_argument("--systems", default=",".join(SYSTEMS), help="which, separated by commas")
            step.add_argument("--seeds", default="0,1,2")
            step.add_argument("--jobs", type=int, default=1, help="runs side by side")
            step.add_argument("--threads", type=int, default=1, help="of each run")
            step.add_argument("--device", default="cpu")
            step.add_argument("--epochs", type=int, help="another number for all, to try things out")
        if name == "table":
            step.add_argument("--docs", type=Path, required=True, help="where tables and pictures go")
    options = parser.parse_args()
    if options.step == "prepare":
        write_tables(read_recordings(options.data), options.out)
    elif options.step == "ceiling":
        from lung_sounds_table import print_ceilings

        print_ceilings(options.out)
    elif options.step == "summary":
        from lung_sounds_summary import print_summary

        print_summary(options.out)
    elif options.step == "held-out":
        from lung_sounds_table import print_held_out

        print_held_out(options.out)
    elif options.step == "run":
        _run_all(options)
    else:
        from lung_sounds_pictures import draw
        from lung_sounds_table import write_table

        write_table(options.out, options.docs)
        draw(options.out, options.data / "audio", options.docs)


def _run_all(options: argparse.Namespace) -> None:
    """All runs that have not ended yet, `jobs` at a time, in order of importance."""
    from lung_sounds_training import make_features, run

    names = options.systems.split(",")
    for name in names:
        system_of(name)
    began = time.monotonic()
    audio = options.data / "audio"
    ended = {path.stem for path in (options.out / "results").glob("*.npz")}
    open_jobs = [job for job in jobs(names, [int(seed) for seed in options.seeds.split(",")]) if job.name not in ended]
    make_features(options.out, audio, config_of(Job(names[0], 0)))
    print(f"{time.monotonic() - began:6.0f} s  features; {len(open_jobs)} runs to do", flush=True)
    # Processes that are spawned, because CUDA does not survive a fork.
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as workers:
        running: dict[Future[float], Job] = {}
        while open_jobs or running:
            for job in _ready(open_jobs, ended)[: options.jobs - len(running)]:
                settings = {"epochs": options.epochs, "device": options.device, "threads": options.threads}
                running[workers.submit(run, job, out=options.out, audio=audio, **settings)] = job
                open_jobs.remove(job)
            if not running:
                raise ValueError(f"--systems lacks the teachers of {', '.join(job.name for job in open_jobs)}")
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job = running.pop(future)
                seconds = future.result()
                ended.add(job.name)
                print(f"{time.monotonic() - began:6.0f} s  {job.name} took {seconds:.0f} s", flush=True)


def _ready(waiting: list[Job], ended: set[str]) -> list[Job]:
    """The runs whose teacher, if they have one, has ended."""
    teachers = {job: teacher_of(job) for job in waiting}
    return [job for job, teacher in teachers.items() if teacher is None or teacher.name in ended]


if __name__ == "__main__":
    main()
