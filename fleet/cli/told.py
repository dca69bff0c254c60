"""What came of asking something for each node: a line per outcome, and an exit code."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.cli.say import as_json, out, width
from fleet.model.ids import NodeId
from fleet.model.order import Done, Outcome
from fleet.render.text import Span, table
from fleet.spec.nodesets import fold

Told = dict[NodeId, Outcome]


def tell(kind: str, told: Mapping[NodeId, Outcome], good: str, *, json: bool, bad_code: int = 1) -> int:
    """Prints the outcomes, equal ones together. 0 where all are done, else `bad_code`."""
    failed = any(not isinstance(outcome, Done) for outcome in told.values())
    if json:
        nodes = {node: {"done": isinstance(outcome, Done), "text": text_of(outcome)} for node, outcome in told.items()}
        as_json(kind, {"nodes": nodes})
        return bad_code if failed else 0
    groups: dict[tuple[bool, str], list[str]] = {}
    for node, outcome in told.items():
        done = isinstance(outcome, Done)
        groups.setdefault((done, (text_of(outcome) or good) if done else text_of(outcome)), []).append(node)
    rows = [(fold(nodes), Span(text, "good" if done else "bad")) for (done, text), nodes in groups.items()]
    out(table(("", ""), rows, width(), indent=0))
    return bad_code if failed else 0


def text_of(outcome: Outcome) -> str:
    """What an outcome says, in words."""
    return outcome.detail if isinstance(outcome, Done) else f"not done: {outcome.why}"
