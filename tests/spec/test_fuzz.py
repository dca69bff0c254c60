"""Whatever stands in the files, loading ends in a Declared or in an InventoryError."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.errors import InventoryError
from fleet.feasibility import judge
from fleet.model.topology import Declared
from fleet.spec import load
from tests.spec.sites import FILES, write
from tests.spec.test_blocks import MODELS, NODES, RACKS

RICH = {**FILES, "racks.yaml": RACKS, "nodes.yaml": NODES, "models.yaml": MODELS}
NAMES = st.sampled_from(sorted(RICH))
WORDS = st.sampled_from(
    [
        "n[1-5]",
        "n[1-99999]",
        "-1",
        "0",
        "1e400 W",
        "nan",
        "~",
        "[]",
        "{}",
        "10.0.0.255+",
        "{i}",
        "999 kW",
        "inf",
        "n01",
        "2N",
    ]
)
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
    """Whether the site is loaded and judged, or refused with problems that name a file and say something."""
    try:
        found = load(site)
        return isinstance(found, Declared) and all(problem.what and problem.source for problem in judge(found))
    except InventoryError as error:
        return bool(error.problems) and all(problem.file and problem.text for problem in error.problems)


@settings(max_examples=150, deadline=None)
@given(name=NAMES, place=st.floats(0, 1), cut=st.integers(0, 12), scrap=SCRAPS)
def test_a_spoiled_file_never_breaks_the_reader(name: str, place: float, cut: int, scrap: str) -> None:
    text = RICH[name]
    at = int(place * len(text))
    spoiled = text[:at] + scrap + text[at + cut :]
    with tempfile.TemporaryDirectory() as directory:
        site = write(Path(directory), RICH)
        (site / name).write_bytes(spoiled.encode(errors="surrogatepass"))
        assert ends_well(site)


@settings(max_examples=150, deadline=None)
@given(name=NAMES, place=st.floats(0, 1), word=WORDS)
def test_a_value_that_means_something_else_never_breaks_the_judge(name: str, place: float, word: str) -> None:
    values = [match.span(1) for match in re.finditer(r":\s+([^\s,{}\[\]]+)", RICH[name])]
    start, end = values[min(int(place * len(values)), len(values) - 1)]
    with tempfile.TemporaryDirectory() as directory:
        site = write(Path(directory), RICH)
        (site / name).write_text(RICH[name][:start] + word + RICH[name][end:])
        assert ends_well(site)


@settings(max_examples=100, deadline=None)
@given(raw=st.binary(max_size=200))
def test_bytes_never_break_the_reader(raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        site = write(Path(directory))
        (site / "nodes.yaml").write_bytes(raw)
        assert ends_well(site)
