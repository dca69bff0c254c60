"""A stack for tests of the whole way: engine, language host, program, provider, ledger."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.provider.stack import Stack, pulumi_path


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """A stack that was never up. Copied, never used."""
    if shutil.which("pulumi", path=pulumi_path()) is None:
        pytest.skip("no Pulumi: run tools/setup-pulumi.sh")
    return Stack.make(tmp_path_factory.mktemp("fresh"))


@pytest.fixture(scope="session")
def up(fresh: Stack, tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """A stack that is up. Copied, never used."""
    made = fresh.copy(tmp_path_factory.mktemp("up"))
    made.up()
    return made


@pytest.fixture
def stack(fresh: Stack, tmp_path: Path) -> Stack:
    """Six machines, all off, and a stack that was never up."""
    return fresh.copy(tmp_path)


@pytest.fixture
def standing(up: Stack, tmp_path: Path) -> Stack:
    """A stack whose six nodes exist."""
    return up.copy(tmp_path)
