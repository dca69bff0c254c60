"""Live progress: a table that is drawn anew on a terminal, one line per change elsewhere. Always on stderr."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any

from fleet.cli.say import ansi, coloured, progress, width
from fleet.errors import FleetError
from fleet.execution.ending import OUT_OF_SIGHT
from fleet.model.ids import Because, NodeId
from fleet.model.observation import Observed
from fleet.model.order import Done, Outcome
from fleet.model.plan import Plan, Step
from fleet.model.topology import Declared, Domain, DomainKind
from fleet.planning.capacity import survey
from fleet.ports import Clock
from fleet.render.progress import changes, picture
from fleet.render.standing import Standing, standings
from fleet.render.text import Line, Span, line

Seen = Callable[[], tuple[Declared, Observed] | None]


class Progress:
    """Implements Watch. Follows passes: shows them, and keeps the figures that only who was there can know."""

    def __init__(
        self,
        clock: Clock,
        concerned: Callable[[], Collection[NodeId]],
        patience: float,
        pool: str,
        *,
        plain: bool = False,
    ) -> None:
        self._clock, self._concerned, self._patience, self._pool = clock, concerned, patience, pool
        self.seen: Seen = lambda: None
        self.began = clock.now()
        self._first_jobs: dict[NodeId, frozenset[str]] = {}
        self._unseen_since: dict[NodeId, float] = {}
        self._standings: dict[NodeId, Standing] = {}
        self._lock = threading.Lock()
        self._screen = _Screen() if coloured(sys.stderr) and not plain else None
        self.free_at: dict[NodeId, datetime] = {}
        self.lowest: int | None = None
        self.troubles: list[str] = []
        self.last: Plan | None = None
        self._note = ""

    # Watch

    def planned(self, plan: Plan) -> None:
        """A pass has decided."""
        both = self.seen()
        if both is None:
            return
        declared, observed = both
        with self._lock:
            self.last, self._note = plan, ""
            self._count(declared, observed, plan)
            found = standings(declared, observed, plan)
            told = changes(self._standings, found, self._concerned(), observed.at)
            self._standings = found
        self._show(told, observed)

    def ended(self, step: Step, outcome: Outcome) -> None:
        """A step has ended."""
        if isinstance(outcome, Done) or self._screen is not None:
            return
        told = line(f"{self._time()} {step.node}: ", Span(f"{step.verb} {_ended(outcome)}", "warn"))
        progress([told])

    def troubled(self, error: FleetError) -> None:
        """A pass could not be made."""
        text = str(error)
        if not self.troubles or self.troubles[-1] != text:
            self.troubles.append(text)
            self.note(f"trouble: {text}; it is tried again")

    def note(self, text: str) -> None:
        """Something that a person should know now."""
        if self._screen is None:
            progress([line(f"{self._time()} ", Span(text, "warn"))])
        else:
            self._note = text
            self._draw(self._clock.now())

    def out_of_sight(self) -> set[NodeId]:
        """Nodes that could not be seen, or reached, for longer than anybody's patience."""
        now, at = self._clock.monotonic(), self._clock.now()
        found = {node for node, since in self._unseen_since.items() if now - since > self._patience}
        for each in self._standings.values():  # tried again and again, or waited for, without any step that ended
            if each.order is not None and each.held is not None and each.since is not None:
                waits = each.held.reason in OUT_OF_SIGHT or each.held.reason is Because.PACING
                if waits and (at - each.since).total_seconds() > self._patience:
                    found.add(each.node)
        return found

    def close(self) -> None:
        """Leave the last picture standing."""
        if self._screen is not None:
            self._screen.close()

    # Inside

    def _count(self, declared: Declared, observed: Observed, plan: Plan) -> None:
        capacity = survey(declared, observed)
        pool = Domain(DomainKind.POOL, self._pool)
        serving = capacity.members.get(pool, 0) - len(capacity.out_in.get(pool, ()))
        self.lowest = serving if self.lowest is None else min(self.lowest, serving)
        for seen in observed.nodes.values():
            jobs = frozenset(job.id for job in seen.work)
            first = self._first_jobs.setdefault(seen.id, jobs)
            if seen.has_work is not None and not first & jobs:
                self.free_at.setdefault(seen.id, observed.at if first else self.began)
        orders = observed.records.orders
        hidden = {held.node for held in plan.held if held.reason in OUT_OF_SIGHT and held.node not in orders}
        now = self._clock.monotonic()
        self._unseen_since = {node: self._unseen_since.get(node, now) for node in hidden}

    def _show(self, told: list[Line], observed: Observed) -> None:
        if self._screen is not None:
            self._draw(observed.at)
        elif told:
            stamp = self._time()
            progress([line(f"{stamp} ", *each) for each in told])

    def _draw(self, at: datetime) -> None:
        assert self._screen is not None
        found = {node: each for node, each in self._standings.items() if node in set(self._concerned())}
        lines = picture(found, at, (at - self.began).total_seconds(), width(sys.stderr))
        self._screen.show([*lines, line(Span(self._note, "warn"))] if self._note else lines)

    def _time(self) -> str:
        return f"{self._clock.now().astimezone():%H:%M:%S}"


class _Screen:
    """A block of lines on a terminal that is replaced by the next one."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True, highlight=False)
        self._live: Any = Live(console=console, auto_refresh=False, vertical_overflow="ellipsis")
        self._live.start()

    def show(self, lines: list[Line]) -> None:
        """Draw these lines instead of the ones before."""
        from rich.text import Text

        self._live.update(Text.from_ansi(ansi(lines)), refresh=True)

    def close(self) -> None:
        """Give the terminal back."""
        self._live.stop()


def _ended(outcome: Outcome) -> str:
    name = type(outcome).__name__.lower()
    return f"{name}: {getattr(outcome, 'why', '')}"
