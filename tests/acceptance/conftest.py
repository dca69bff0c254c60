"""The acceptance tests' lab: one for the whole session, put back to how it began before each test, gone afterwards.

A lab that is up already (of `make demo`, say) is taken down first: there is one per machine. Each test gets a trial of
its own (inventory, ledger, Pulumi state) in which the lab's nodes are enrolled.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.lab.home import Home
from fleet.lab.layout import layout
from tests.acceptance.small_fleet import Lab, lab_command
from tools.containers import why_not
from tools.trial import ROOT, Trial

SHORT_SOAK = ("soak: 10s", "soak: 3s")


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """Six nodes, up for the whole session."""
    reason = why_not()
    if reason:
        if os.environ.get("CI"):
            pytest.fail(f"no containers here: {reason}")
        pytest.skip(reason)
    lab_command("down")
    made = lab_command("up")
    assert made.code == 0, made.all
    yield Lab(Home(ROOT / ".fleet" / "lab"), layout(6))
    lab_command("down")


@pytest.fixture
def trial(lab: Lab) -> Trial:
    """A fresh trial on a lab as new, its nodes enrolled by `pulumi up` (done once)."""
    if lab.spoilt:
        assert lab_command("down").code == 0
        assert lab_command("up").code == 0
        lab.spoilt, lab.template = False, None
    elif lab.template is not None:
        lab.reset()
    if lab.template is None:
        first = Trial.begin("enrolled")
        enrolled = first.enrol()
        assert enrolled.code == 0, enrolled.all
        lab.template = first.home
    fresh = Trial.begin("acceptance")
    for path in lab.template.iterdir():
        if path.name in ("inventory", "env", "pulumi"):
            continue
        (shutil.copytree if path.is_dir() else shutil.copy2)(path, fresh.home / path.name)
    fresh.edit("policy.yaml", *SHORT_SOAK)
    return fresh


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs the lab, and time."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.acceptance)
            item.add_marker(pytest.mark.timeout(600))  # real jobs and reboots, and the lab's coming up besides
