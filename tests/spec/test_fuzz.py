"""Whatever stands in the files, loading ends in a Declared or in an InventoryError."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.errors import InventoryError
from fleet.model.topology import Declared
from fleet.spec import load
from tests.spec.sites import FILES, write

NAMES = st.sampled_from(sorted(FILES))
SCRAPS = st.sampled_from(
    [
        ":",
        "- ",
        "{",
        "}",
        "[",
        "]",
        "\t",
        "\n",
        "  ",
        "&a ",
        "*a",
        "!!int ",
        "|",
        ">",
        "'",
        '"',
        "#",
        "? ",
        "<<: ",
        "~",
        "%",
    ]
) | st.text(max_size=8)


def ends_well(site: Path) -> bool:
    """Whether the site is loaded, or refused with problems that name a file and say something."""
    try:
        return isinstance(load(site), Declared)
    except InventoryError as error:
        return bool(error.problems) and all(problem.file and problem.text for problem in error.problems)


@settings(max_examples=150, deadline=None)
@given(name=NAMES, place=st.floats(0, 1), cut=st.integers(0, 12), scrap=SCRAPS)
def test_a_spoiled_file_never_breaks_the_reader(name: str, place: float, cut: int, scrap: str) -> None:
    text = FILES[name]
    at = int(place * len(text))
    spoiled = text[:at] + scrap + text[at + cut :]
    with tempfile.TemporaryDirectory() as directory:
        site = write(Path(directory))
        (site / name).write_bytes(spoiled.encode(errors="surrogatepass"))
        assert ends_well(site)


@settings(max_examples=100, deadline=None)
@given(raw=st.binary(max_size=200))
def test_bytes_never_break_the_reader(raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        site = write(Path(directory))
        (site / "nodes.yaml").write_bytes(raw)
        assert ends_well(site)
