"""The cases and fact tables here are copies: byte for byte those of the set they come from, where that is at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ORIGIN = ROOT.parent / "shared"
PAIRS = (("cases", ROOT / "tests" / "cases"), ("facts", ROOT / "fleet" / "facts"))


@pytest.mark.parametrize(("name", "copy"), PAIRS, ids=[name for name, _ in PAIRS])
def test_copy(name: str, copy: Path) -> None:
    origin = ORIGIN / name
    if not origin.is_dir():
        pytest.skip(f"{origin.name} to compare with is not beside the repository")
    files = {path.relative_to(origin) for path in origin.rglob("*") if path.is_file()}
    assert files, "nothing to compare"
    missing = [str(path) for path in files if not (copy / path).is_file()]
    assert not missing
    different = [str(path) for path in files if (copy / path).read_bytes() != (origin / path).read_bytes()]
    assert not different
