"""`fleet doctor [NODES]`: can this machine and account do what is asked; what is missing, with what mends it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fleet.cli.options import Inventory, Json, SomeNodes, from_input
from fleet.errors import FleetError

if TYPE_CHECKING:
    from fleet.app import Fleet


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `mend` is what to type where it is not good."""

    what: str
    good: bool
    text: str
    mend: str = ""


def doctor(nodes: SomeNodes = None, json: Json = False, inventory: Inventory = None) -> None:
    """Can this machine and account do what is asked; what is missing, with the command that mends it.

    \b
    fleet doctor
    fleet doctor n03

    Exit code 1: something is missing.
    """
    from fleet.cli.say import as_json, out, width
    from fleet.render.text import Line, Span, line, table

    findings = list(look(inventory, from_input(nodes)))
    if json:
        listed = [{"what": f.what, "good": f.good, "text": f.text, "mend": f.mend} for f in findings]
        as_json("doctor", {"findings": listed})
    else:
        rows = [(Span("ok" if f.good else "MISSING", "good" if f.good else "bad"), f.what, f.text) for f in findings]
        lines: list[Line] = table(("", "", ""), rows, width(), indent=0)
        bad = [finding for finding in findings if not finding.good and finding.mend]
        lines += [line("")] if bad else []
        lines += [line(f"{finding.what}: ", Span(finding.mend, "bold")) for finding in bad]
        out(lines)
    raise typer.Exit(0 if all(finding.good for finding in findings) else 1)


def look(inventory: Path | None, texts: list[str]) -> Iterator[Finding]:
    """Everything that is asked of this machine, one thing after another; stops where nothing more can be seen."""
    from fleet import app

    yield from _programs()
    try:
        found = app.settings(inventory)
        yield Finding("inventory", True, str(found.inventory))
        fleet = app.open_fleet(inventory)
    except FleetError as error:
        yield _broken("inventory", error)
        return
    with fleet:
        yield from _ledger(fleet)
        yield from _access(fleet)
        yield from _nodes(fleet, texts)


def _programs() -> Iterator[Finding]:
    for name, package in (("ssh", "openssh-client"), ("ssh-keygen", "openssh-client"), ("git", "git")):
        place = shutil.which(name)
        yield Finding(name, place is not None, place or "not on PATH", f"apt-get install {package}")
    here = shutil.which("ansible-playbook") or str(Path(sys.executable).with_name("ansible-playbook"))
    yield Finding("ansible-playbook", Path(here).exists(), here, "make setup")
    pulumi = shutil.which("pulumi")
    yield Finding("pulumi", pulumi is not None, pulumi or "not on PATH", "make setup, then put .fleet/bin on PATH")


def _ledger(fleet: Fleet) -> Iterator[Finding]:
    seq, _ = fleet.store.head()
    records = fleet.store.records()
    text = f"{fleet.settings.ledger}, {seq} entries, {len(records.enrolled)} nodes enrolled"
    yield Finding("ledger", not records.observe_only, records.observe_only or text, "fleet trail verify")
    holder = fleet.store.holder()
    yield Finding("controller", True, f"{holder} acts" if holder else "none acts now")
    if fleet.settings.stop_file.exists():
        yield Finding("stop file", False, str(fleet.settings.stop_file), "fleet go --reason TEXT")


def _access(fleet: Fleet) -> Iterator[Finding]:
    from fleet.spec import load_access

    access = load_access(fleet.settings.inventory)
    key = access.ssh.key
    yield Finding("SSH key", os.access(key, os.R_OK), str(key), f"put the operator's key there: {key}")
    node = next(iter(fleet.declared().nodes), None)
    if node is not None:
        yield _tried("BMC password", lambda: "read" if access.bmc.password.read(node) else "empty")


def _nodes(fleet: Fleet, texts: list[str]) -> Iterator[Finding]:
    from fleet.spec.nodesets import fold, resolve

    declared = fleet.declared()
    chosen = resolve(texts, declared)
    _, observed = fleet.controller().look()
    enrolled = observed.records.enrolled
    strange = [node for node in chosen if node not in enrolled]
    if strange:
        yield Finding("enrolment", False, f"{fold(strange)} not enrolled", "pulumi up   (in the site's stack)")
    groups: dict[str, list[str]] = {}
    good = []
    for node in chosen:
        seen = observed.nodes.get(node)
        if seen is None:
            continue
        for gap in seen.gaps:
            groups.setdefault(f"{gap.what}: {gap.why}", []).append(node)
        if not seen.gaps:
            good.append(node)
    if good:
        yield Finding("nodes", True, f"{fold(good)}: SSH, scheduler and BMC answer")
    for text, names in groups.items():
        yield Finding("nodes", False, f"{fold(names)}: {text}", f"look at it: fleet why {fold(names)}")


def _tried(what: str, attempt: Callable[[], str]) -> Finding:
    try:
        return Finding(what, True, attempt())
    except FleetError as error:
        return _broken(what, error)


def _broken(what: str, error: FleetError) -> Finding:
    return Finding(what, False, f"{error.thing}: {error.cause}" if error.cause else error.thing, error.next_step)
