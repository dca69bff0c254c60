"""What a stack declares: the inventory that its configuration names, and which of its nodes the ledger shows retired.

A mistake in the inventory ends the program before anything is registered: every problem with file and line, no
traceback. The ledger is read only where git declares a node retired, and never made.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import pulumi

from fleet.errors import FleetError, InventoryError
from fleet.feasibility import judge
from fleet.feasibility.policies import policies
from fleet.feasibility.problem import Level
from fleet.model.ids import NodeId
from fleet.model.topology import Declared, DeclaredNode, Disposition
from fleet.provider.settings import CONFIG_KEYS, Settings

TOLD = 32
"""The exit code by which a program says to the language host that the user knows already."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """A site as declared; how each BMC's secret is referred to; and of the nodes declared retired, those whose
    retirement is certified, and those that were never enrolled and so never come to exist."""

    declared: Declared
    bmc_secrets: Mapping[NodeId, str] = field(default_factory=dict)
    retired: frozenset[NodeId] = frozenset()
    absent: frozenset[NodeId] = frozenset()

    def nodes(self) -> tuple[DeclaredNode, ...]:
        """The nodes that shall exist."""
        return tuple(node for node in self.declared.nodes.values() if node.id not in self.absent)


def settings() -> Settings:
    """The stack's configuration, as the provider gets it, too."""
    config = pulumi.Config("fleet")
    said = {key: value for key in CONFIG_KEYS if (value := config.get(key)) is not None}
    return Settings.of(said, os.environ, Path.cwd())


def load(where: Settings | None = None) -> Inventory:
    """The inventory of this stack. Tells what is wrong with it and ends the program where it can't be read."""
    from fleet.spec import load as load_declared
    from fleet.spec import load_access

    try:
        where = where or settings()
        declared = load_declared(where.inventory)
        stop_where_it_cannot_work(declared)
        access = load_access(where.inventory)
        secret = access.bmc.password.reference
        secrets = {node: secret.replace("{node}", node) for node in declared.nodes}
        retired, absent = look_up_retired(declared, where.ledger(access.root))
        return Inventory(declared, secrets, retired, absent)
    except InventoryError as error:
        end([str(problem) for problem in error.problems], error.next_step)
    except FleetError as error:
        end([str(error)], error.next_step)
    except ValueError as error:  # a setting of the stack
        end([str(error)], "correct it with `pulumi config set` or in the environment")


def stop_where_it_cannot_work(declared: Declared) -> None:
    """Tells what feasibility has found; an error ends the program, a warning doesn't.

    A policy under which no node could be taken is an error to planned work, and no reason why nodes may not exist.
    """
    about_work = frozenset(policies(declared))
    errors: list[str] = []
    warnings: list[str] = []
    for each in judge(declared):
        kind = errors if each.level is Level.ERROR and each not in about_work else warnings
        kind.append(f"{each.place}: {each.what} ({each.instead})")
    if errors:
        end(errors, "correct the lines named and run `fleet check`")
    for line in warnings:
        pulumi.log.warn(line)


def look_up_retired(declared: Declared, ledger: Path) -> tuple[frozenset[NodeId], frozenset[NodeId]]:
    """Of the nodes that git declares retired: those that the ledger certifies so, and those that it doesn't know."""
    asked = [node.id for node in declared.nodes.values() if node.disposition is Disposition.RETIRED]
    if not asked or not ledger.exists():
        return frozenset(), frozenset(asked)
    from fleet.adapters.ledger_sql import open_ledger

    with open_ledger(ledger, read_only=True) as opened:
        found = {node: opened.enrolment(node) for node in asked}
    known = {node: each for node, each in found.items() if each is not None}
    certified = frozenset(node for node, each in known.items() if each.retired and each.certificate)
    return certified, frozenset(found) - frozenset(known)


def end(problems: list[str], next_step: str) -> NoReturn:
    """Tells the problems in Pulumi's own way, and ends the program."""
    for problem in problems:
        pulumi.log.error(problem)
    if next_step:
        pulumi.log.error(f"next: {next_step}")
    raise SystemExit(TOLD)
