"""`fleet verify NODES`: proves nodes fit without touching them: device count, running versions, errors, temperature."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import typer

from fleet.cli.options import Inventory, Json, SomeNodes, from_input
from fleet.cli.told import Told, text_of
from fleet.model.ids import NodeId, OrderId, Purpose, Verb
from fleet.model.order import Done, Failed, Outcome
from fleet.model.plan import Step

if TYPE_CHECKING:
    from fleet.app import Fleet


def verify(nodes: SomeNodes = None, inventory: Inventory = None, json: Json = False) -> None:
    """Prove nodes fit, without touching them, and print the figures. A node with an open order is left to it.

    \b
    fleet verify n01
    fleet verify @pool:train --json

    Exit code 3: one does not verify.
    """
    from fleet import app
    from fleet.cli.chosen import choose
    from fleet.cli.say import as_json, out, width
    from fleet.render.text import Span, table

    with app.open_fleet(inventory) as fleet:
        told = prove(fleet, choose(fleet, from_input(nodes)))
    bad = any(not isinstance(outcome, Done) for outcome in told.values())
    if json:
        facts = {
            node: {
                "verified": isinstance(outcome, Done),
                "text": text_of(outcome),
                "figures": dict(outcome.shown) if isinstance(outcome, Done) else {},
            }
            for node, outcome in told.items()
        }
        as_json("verify", {"nodes": facts})
    else:
        rows = [
            (node, Span(_word(o), "good" if isinstance(o, Done) else "bad"), _figures(o)) for node, o in told.items()
        ]
        out(table(("node", "", "figures"), rows, width(), indent=0))
    raise typer.Exit(3 if bad else 0)


def prove(fleet: Fleet, nodes: Sequence[NodeId]) -> Told:
    """The outcome of a quick verify for each node that is idle for us."""
    records, declared = fleet.store.records(), fleet.declared()
    told: Told = {}
    free: list[tuple[str, NodeId]] = []
    for node in nodes:
        order, enrolled = records.orders.get(node), records.enrolled.get(node)
        if order is not None:
            told[node] = Failed(f"order {order.id} is open on it, which verifies by itself")
        elif enrolled is None or enrolled.retired:
            told[node] = Failed("it is retired" if enrolled else "it is not enrolled: pulumi up")
        else:
            free.append((enrolled.applied or declared.target(declared.nodes[node]), node))
    for release, group in groupby(sorted(free), key=lambda pair: pair[0]):
        found = declared.releases.get(release)
        steps = [
            (Step(OrderId(f"verify-{node}"), node, Verb.VERIFY, Purpose.CORRECT), declared.nodes[node], 0)
            for _, node in group
        ]

        def ended(step: Step, outcome: Outcome) -> None:
            told[step.node] = outcome

        fleet.configure.run(Verb.VERIFY, steps, found, ended)
    return {node: told.get(node, Failed("it gave no result")) for node in nodes}


def _word(outcome: Outcome) -> str:
    return "verified" if isinstance(outcome, Done) else "NOT verified"


def _figures(outcome: Outcome) -> str:
    if not isinstance(outcome, Done):
        return outcome.why
    figures = ", ".join(f"{name} {value}" for name, value in outcome.shown.items())
    return "; ".join(part for part in (outcome.detail, figures) if part)
