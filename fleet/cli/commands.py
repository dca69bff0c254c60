"""The table of commands: name, where it lives, one line of help, and under which heading it stands.

`fleet --help` prints it without importing any of them; a command's module is imported when it is called.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """`target` is module:attribute, a function or a typer app."""

    name: str
    target: str
    help: str
    section: str


def _entries(section: str, *rows: tuple[str, str]) -> tuple[Entry, ...]:
    return tuple(
        Entry(name, f"fleet.cli.{_MODULES.get(name, name)}:{_ATTRIBUTES.get(name, name)}", text, section)
        for name, text in rows
    )


_MODULES = {
    "uncordon": "cordon",
    "give": "take",
    "unfreeze": "freeze",
    "stop": "freeze",
    "go": "freeze",
    "run": "run_loop",
}
_ATTRIBUTES = {"rollout": "app", "certificate": "app", "lab": "app", "trail": "app"}

COMMANDS: tuple[Entry, ...] = (
    *_entries(
        "See",
        ("status", "Pools, racks and phases, who eats the budget, and what needs you."),
        ("why", "Where a node or pool stands, what it waits for, and how it came to that."),
        ("plan", "What would be done now, and what is held and why. Changes nothing."),
        ("health", "Open cases with their evidence, remedy and next step."),
        ("drift", "Declared, applied and observed side by side (exit 3: drift)."),
        ("facts", "Which nodes carry which versions."),
        ("doctor", "Can this machine and account do what is asked; what is missing."),
    ),
    *_entries(
        "Change",
        ("upgrade", "Bring a pool to its declared release, node by node (--rolling)."),
        ("rollout", "List, show, pause, resume or abort rollouts."),
        ("approve", "Approve a plan or an order with an SSH key."),
        ("verify", "Prove nodes fit, without touching them (exit 3: one is not)."),
        ("run", "Make passes for ever: the loop as a service."),
    ),
    *_entries(
        "People",
        ("cordon", "Close nodes to new work, in your name."),
        ("uncordon", "Open nodes that were closed in your name."),
        ("take", "Take nodes into your hands: closed in your name until you give them back."),
        ("give", "Give nodes back: they return to service through verify."),
        ("freeze", "Planned work on nodes waits; repairs go on."),
        ("unfreeze", "Planned work may go on."),
        ("stop", "Nothing new starts, whatever the purpose."),
        ("go", "End a stop."),
        ("retire", "Retire nodes: wiped, revoked, off, with a signed certificate."),
    ),
    *_entries(
        "Check and prove",
        ("check", "Read an inventory and judge it, with file and line (exit 3: errors)."),
        ("draw", "Racks, feeds, loops and fabrics of an inventory as a picture."),
        ("trail", "The reason trail: show, verify, export."),
        ("certificate", "Certificates of retirement: show, verify."),
        ("read", "What a reader makes of a log or a tool's output."),
        ("simulate", "Play decision scenarios, or a whole inventory, in virtual time."),
        ("lab", "The small real fleet on one machine: up, down, status, break."),
    ),
)
BY_NAME = {entry.name: entry for entry in COMMANDS}
