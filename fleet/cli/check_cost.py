"""`fleet check --cost` and `fleet check --what-if DIR`: what a declaration costs, and two of them side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fleet.errors import Misuse

if TYPE_CHECKING:
    from fleet.model.topology import Declared

Read = tuple[Path, "Declared"]
"""A site that could be read, and where."""


def tell_cost(sites: Sequence[Read], *, json: bool) -> None:
    """The cost of each site's pools, owned and hired."""
    from fleet.cli.say import as_json, out, width
    from fleet.feasibility.cost import cost
    from fleet.render.cost import cost_facts, cost_lines
    from fleet.render.text import line, title

    found = [(place, declared, cost(declared)) for place, declared in sites]
    if json:
        facts = [{"inventory": str(place), **cost_facts(declared, costs)} for place, declared, costs in found]
        as_json("cost", facts[0] if len(facts) == 1 else {"sites": facts})
        return
    for place, declared, costs in found:
        head = [title(f"{place}: site {declared.site}"), line()] if len(found) > 1 else []
        out([*head, *cost_lines(declared, costs, width())])


def tell_what_if(sites: Sequence[Read], others: Sequence[Read], *, json: bool) -> bool:
    """Each site beside the one that might be, several paired by their directories' names. Whether errors are new."""
    from fleet.cli.say import as_json, out, width
    from fleet.feasibility import Level, judge
    from fleet.feasibility.what_if import what_if
    from fleet.render.cost import what_if_facts, what_if_lines

    found = [
        (now[0], then[0], what_if(now[1], then[1], judge(now[1]), judge(then[1])))
        for now, then in _pairs(sites, others)
    ]
    if json:
        facts = [{"inventory": str(now), "other": str(then), **what_if_facts(each)} for now, then, each in found]
        as_json("what_if", facts[0] if len(facts) == 1 else {"sites": facts})
    else:
        for now, then, each in found:
            out(what_if_lines(each, str(now), str(then), width()))
    return any(one.level is Level.ERROR for _, _, each in found for one in each.new)


def _pairs(sites: Sequence[Read], others: Sequence[Read]) -> list[tuple[Read, Read]]:
    if len(sites) == len(others) == 1:
        return [(sites[0], others[0])]
    by_name = {one[0].name: one for one in others}
    alone = [one[0].name for one in sites if one[0].name not in by_name]
    if alone or len(sites) != len(others):
        told = ", ".join(alone) or "more sites than here"
        raise Misuse(
            "--what-if", f"both must hold the same sites: {told}", "name the directory of one site on each side"
        )
    return [(one, by_name[one[0].name]) for one in sites]
