"""Names of accelerators: one board has several, in the facts, on price lists and in declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache

from fleet import facts
from fleet.model.topology import Declared

_MAKER = re.compile(r"^(nvidia|amd|instinct)[\s-]+", re.IGNORECASE)
_FORM = re.compile(r"^(sxm\d?|gpu|oam)$", re.IGNORECASE)  # how it is mounted; PCIe and NVL are other boards


@cache
def plain_name(name: str) -> str:
    """A board's name without its maker and its form, in capitals: `H100-SXM5` and `NVIDIA H100` are `H100`."""
    while (shorter := _MAKER.sub("", name.strip())) != name.strip():
        name = shorter
    parts = [part for part in re.split(r"[\s_-]+", name.strip().upper()) if part and not _FORM.match(part)]
    return "-".join(parts)


@cache
def known_boards() -> tuple[str, ...]:
    """Every board that a table of the facts names."""
    hardware, rocm, cuda = (facts.document(name) for name in ("hardware", "rocm_matrix", "cuda_matrix"))
    names = [row["name"] for row in (*hardware["accelerators"], *rocm["gpus"])]
    names += [row["gpu"] for row in cuda["gpus"]]
    for rows in facts.document("cloud_gpus")["instances"].values():
        names += [row["gpu"] for row in rows if isinstance(row, dict)]
    return tuple(dict.fromkeys(str(name) for name in names))


def is_known(name: str, declared: Declared) -> bool:
    """Whether the facts or the site itself know a board, or the family that it is of (`A100`)."""
    wanted = plain_name(name)
    return any(
        wanted == (known := plain_name(each)) or known.startswith(f"{wanted}-")
        for each in (*known_boards(), *declared.accelerators)
    )


def near(word: str, known: Iterable[str]) -> str:
    """A hint for a word that isn't known; empty where nothing is like it."""
    by_folded = {each.lower(): each for each in known}
    close = get_close_matches(word.lower(), list(by_folded), n=1, cutoff=0.6)
    return f"did you mean '{by_folded[close[0]]}'?" if close else ""


def near_board(name: str, declared: Declared) -> str:
    """A hint for a board that isn't known, in the words of the facts."""
    return near(name, (*declared.accelerators, *known_boards(), *(plain_name(each) for each in known_boards())))
