"""`fleet retire NODES`: emptied, wiped and read back, revoked, off; then a signed certificate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from fleet.cli.options import As, Inventory, Json, Nodes, Yes, from_input, person
from fleet.cli.say import as_json, ask, ask_text, out, progress, width
from fleet.errors import Misuse
from fleet.model.ids import NodeId
from fleet.model.topology import Disposition

if TYPE_CHECKING:
    from fleet.app import Fleet
    from fleet.model.plan import Held


def retire(
    nodes: Nodes,
    declare: Annotated[bool, typer.Option("--declare", help="Make the edit in nodes.yaml that declares it.")] = False,
    confirm: Annotated[
        str | None, typer.Option("--confirm", metavar="TEXT", help="The serial, or the count of a set.")
    ] = None,
    yes: Yes = False,
    json: Json = False,
    inventory: Inventory = None,
    by: As = None,
) -> None:
    """Retire nodes: emptied, wiped and read back, access revoked, off; proven by a signed certificate.

    Git must declare them retired (the edit is shown; --declare makes it), and a person types the serial.

    \b
    fleet retire n04 --declare
    fleet retire n[10-13] --declare --confirm 4 --yes

    Exit codes: 0 retired and certified; 4 something is left held; 130 interrupted.
    """
    from fleet import app
    from fleet.spec.nodesets import resolve

    who = person(by)
    with app.open_fleet(inventory) as fleet:
        chosen = resolve(from_input(nodes), fleet.declared())
        _declare(fleet, chosen, declare=declare, yes=yes)
        _confirm(fleet, chosen, confirm, who)
        result, held = _carry_out(fleet, chosen)
        certificates = {
            node: enrolled.certificate
            for node, enrolled in fleet.store.records().enrolled.items()
            if node in chosen and enrolled.retired
        }
        _say(result, chosen, certificates, held, json=json)
    raise typer.Exit({"done": 0, "held": 4, "interrupted": 130}[result])


def _declare(fleet: Fleet, chosen: Sequence[NodeId], *, declare: bool, yes: bool) -> None:
    from fleet.render.text import line
    from fleet.spec.edit import set_on_nodes

    open_ones = [n for n in chosen if fleet.declared().nodes[n].disposition is not Disposition.RETIRED]
    if not open_ones:
        return
    edits = set_on_nodes(fleet.settings.inventory, open_ones, "disposition", Disposition.RETIRED.value)
    progress([line(part) for edit in edits for part in edit.diff(fleet.settings.root).splitlines()])
    if not declare:
        next_step = "make the edit above and commit it, or let --declare make it"
        raise Misuse(f"retire {', '.join(open_ones)}", "git does not declare it retired", next_step)
    if not ask("Make this edit?", yes=yes):
        raise Misuse("nothing was edited", "you said no", "make the edit by hand")
    for edit in edits:
        edit.write()
        progress([line(f"edited {edit.path}; commit it: git is the audit log")])


def _confirm(fleet: Fleet, chosen: Sequence[NodeId], given: str | None, who: str) -> None:
    """A person types the serial, or the count: a file alone wipes nothing."""
    records, declared = fleet.store.records(), fleet.declared()
    missing = [
        node
        for node in chosen
        if declared.pools[declared.nodes[node].pool].policy.confirm_retire
        and not declared.nodes[node].confirmed_by
        and node not in records.confirmations
        and not (node in records.enrolled and records.enrolled[node].retired)
    ]
    if not missing:
        return
    if len(missing) == 1:
        wanted = declared.nodes[missing[0]].serial
        question = f"The data of {missing[0]} will be destroyed. Type its serial to confirm:"
    else:
        wanted = str(len(missing))
        question = f"The data of {len(missing)} nodes will be destroyed. Type their count to confirm:"
    typed = ask_text(question, given, "--confirm TEXT")
    if typed != wanted:
        what = "serial" if len(missing) == 1 else "count"
        raise Misuse(f"{typed!r} was typed", f"it is not the {what} of what you named", "nothing was begun")
    for node in missing:
        fleet.store.confirm(node, who, fleet.clock.now())


def _carry_out(fleet: Fleet, chosen: Sequence[NodeId]) -> tuple[str, Sequence[Held]]:
    from fleet.cli.live import Progress
    from fleet.cli.passes import make_passes
    from fleet.execution.ending import retirement
    from fleet.model.observation import Observed
    from fleet.model.plan import Plan

    pool = fleet.declared().nodes[chosen[0]].pool if chosen else ""
    view = Progress(fleet.clock, lambda: chosen, fleet.settings.patience, pool)
    endings: list[str] = []

    def over(plan: Plan, observed: Observed) -> bool:
        found = retirement(plan, observed, chosen, view.out_of_sight())
        if found is not None:
            endings.append(str(found))
        return found is not None

    try:
        whole = make_passes(fleet, view, over)
    except KeyboardInterrupt:
        whole = False
        fleet.engine.stop()
    finally:
        view.close()
    held = [each for each in view.last.held if each.node in set(chosen)] if view.last is not None else []
    return (endings[-1] if whole and endings else "interrupted"), held


def _say(
    result: str, chosen: Sequence[NodeId], certificates: dict[NodeId, str], held: Sequence[Held], *, json: bool
) -> None:
    from fleet.render.rollout import held_lines
    from fleet.render.status import of_held
    from fleet.render.text import Span, line

    if json:
        facts = {"result": result, "certificates": certificates, "held": [of_held(each) for each in held]}
        as_json("retire", facts)
        return
    for node in chosen:
        if node in certificates:
            place = certificates[node] or "it has no certificate"
            out([line(Span(f"{node} is retired", "good"), f"; certificate: {place}")])
    if result != "done":
        out([line(Span(f"{result}; to go on: fleet retire {' '.join(chosen)}", "warn"))])
        out(held_lines(held, width()))
