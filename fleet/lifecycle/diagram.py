"""The tables as Mermaid, so that the picture in the README is drawn from what the code does."""

from __future__ import annotations

from fleet.lifecycle.table import PHASES, ROUTES, Stage
from fleet.model.ids import Purpose


def mermaid() -> str:
    """One line per purpose: the stages of its way, with the phase that a node is in."""
    lines = ["flowchart LR"]
    for purpose, route in ROUTES.items():
        lines.append(f"  subgraph {purpose}")
        lines.append("    " + " --> ".join(_box(purpose, stage) for stage in route))
        lines.append("  end")
    return "\n".join(lines) + "\n"


def _box(purpose: Purpose, stage: Stage) -> str:
    return f'{purpose[:3].lower()}_{stage}["{stage}<br/>{PHASES[stage]}"]'
