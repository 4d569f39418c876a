"""Every fault a data set can have, planted in one of 500 recordings: all must be found, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from doctor_cases import Made, findings, make
from planted_faults import PLANTED, Found

from earmark.doctor import Finding


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("clean"))


def copied(made: Made, folder: Path) -> Made:
    """The same data set elsewhere, to be spoilt."""
    shutil.copytree(made.folder, folder, dirs_exist_ok=True)
    return Made(folder, [dict(row) for row in made.rows], [dict(event) for event in made.events])


def places(found: tuple[Finding, ...], folder: Path) -> Found:
    """Code and place of each, without the folder."""
    return {(finding.code, finding.where.replace(f"{folder.as_posix()}/", "")) for finding in found}


# Laws


def test_nothing_is_found_in_a_clean_data_set(clean: Made) -> None:
    assert findings(clean) == ()


def test_every_planted_fault_is_found_and_nothing_else(clean: Made, tmp_path: Path) -> None:
    made = copied(clean, tmp_path)
    planted: Found = set().union(*(fault(made) for fault in PLANTED))
    made.write()
    assert places(findings(made), tmp_path) == planted
