"""ROUTES, LADDER, PHASES and the properties of verbs: tables and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from fleet.model.ids import Phase, Purpose, Verb
from fleet.model.policy import DEFAULT_LADDER


@dataclass(frozen=True, slots=True)
class Traits:
    """What a verb does to the world: `mutates` the node, `disrupts` work on it, `costs` a slot of the budget."""

    mutates: bool
    disrupts: bool
    costs: bool


_LOOKS = Traits(mutates=False, disrupts=False, costs=False)
_CLOSES = Traits(mutates=False, disrupts=False, costs=True)
_WORKS = Traits(mutates=True, disrupts=True, costs=True)

VERBS: Mapping[Verb, Traits] = MappingProxyType(
    {
        Verb.STAGE: _LOOKS,
        Verb.CORDON: _CLOSES,
        Verb.DRAIN: _CLOSES,
        Verb.UNCORDON: _CLOSES,
        Verb.VERIFY: _CLOSES,
        Verb.CORRECT_LIVE: Traits(mutates=True, disrupts=False, costs=False),
        Verb.RESTART_SERVICE: Traits(mutates=True, disrupts=False, costs=True),
        Verb.CONVERGE: _WORKS,
        Verb.REVERT: _WORKS,
        Verb.RELOAD_DRIVER: _WORKS,
        Verb.RESET_GPU: _WORKS,
        Verb.REBOOT: _WORKS,
        Verb.POWER_CYCLE: _WORKS,
        Verb.FLASH: _WORKS,
        Verb.REIMAGE: _WORKS,
        Verb.RMA: _CLOSES,
        Verb.EXPORT: _CLOSES,
        Verb.WIPE: _WORKS,
        Verb.REVOKE: _WORKS,
        Verb.POWER_OFF: _WORKS,
        Verb.CREATE: _LOOKS,
        Verb.DELETE: _LOOKS,
    }
)

DISRUPTIVE = frozenset(verb for verb, traits in VERBS.items() if traits.disrupts)
BLINDING = frozenset(
    {
        Verb.RELOAD_DRIVER,
        Verb.RESET_GPU,
        Verb.REBOOT,
        Verb.POWER_CYCLE,
        Verb.FLASH,
        Verb.REIMAGE,
        Verb.WIPE,
        Verb.POWER_OFF,
    }
)
"""Verbs during which a node loses devices and says all sorts of things."""

AWAY = frozenset({Verb.REBOOT, Verb.POWER_CYCLE, Verb.POWER_OFF, Verb.FLASH, Verb.REIMAGE})
"""Verbs during which a node may well not answer."""

OVER_SSH = frozenset(
    {
        Verb.CONVERGE,
        Verb.REVERT,
        Verb.VERIFY,
        Verb.REBOOT,
        Verb.RESET_GPU,
        Verb.RELOAD_DRIVER,
        Verb.RESTART_SERVICE,
        Verb.REIMAGE,
        Verb.WIPE,
        Verb.REVOKE,
    }
)
"""Verbs that need the node's operating system to answer."""

MUTATING = frozenset(verb for verb, traits in VERBS.items() if traits.mutates)


class Stage(StrEnum):
    """One stretch of a route."""

    CORDON = "cordon"
    DRAIN = "drain"
    CONVERGE = "converge"  # the release's packages, then what it needs
    REMEDY = "remedy"  # the order's rung
    EXPORT = "export"
    WIPE = "wipe"
    REVOKE = "revoke"
    POWER_OFF = "power_off"
    VERIFY = "verify"
    SOAK = "soak"
    UNCORDON = "uncordon"


_TO_RELEASE = (Stage.CORDON, Stage.DRAIN, Stage.CONVERGE, Stage.VERIFY, Stage.SOAK, Stage.UNCORDON)

ROUTES: Mapping[Purpose, tuple[Stage, ...]] = MappingProxyType(
    {
        Purpose.SHED: (Stage.CORDON, Stage.DRAIN, Stage.POWER_OFF),
        Purpose.RETIRE: (
            Stage.CORDON,
            Stage.DRAIN,
            Stage.EXPORT,
            Stage.WIPE,
            Stage.REVOKE,
            Stage.POWER_OFF,
        ),
        Purpose.REPAIR: (Stage.CORDON, Stage.DRAIN, Stage.REMEDY, Stage.VERIFY, Stage.UNCORDON),
        Purpose.ENROL: _TO_RELEASE,
        Purpose.UPGRADE: _TO_RELEASE,
        Purpose.CORRECT: _TO_RELEASE,
    }
)

LADDER: tuple[Verb, ...] = DEFAULT_LADDER

PHASES: Mapping[Stage, Phase] = MappingProxyType(
    {
        Stage.CORDON: Phase.SERVING,
        Stage.DRAIN: Phase.CORDONED,
        Stage.CONVERGE: Phase.CONVERGING,
        Stage.REMEDY: Phase.REPAIRING,
        Stage.EXPORT: Phase.RETIRING,
        Stage.WIPE: Phase.RETIRING,
        Stage.REVOKE: Phase.RETIRING,
        Stage.POWER_OFF: Phase.RETIRING,
        Stage.VERIFY: Phase.VERIFYING,
        Stage.SOAK: Phase.SOAKING,
        Stage.UNCORDON: Phase.VERIFYING,
    }
)

EXPECTED_SECONDS: Mapping[Verb, float] = MappingProxyType(
    {
        Verb.CORDON: 1,
        Verb.DRAIN: 0,
        Verb.UNCORDON: 1,
        Verb.RESTART_SERVICE: 60,
        Verb.REVOKE: 60,
        Verb.POWER_OFF: 60,
        Verb.RESET_GPU: 120,
        Verb.RELOAD_DRIVER: 180,
        Verb.EXPORT: 300,
        Verb.REBOOT: 480,
        Verb.CONVERGE: 600,
        Verb.REVERT: 600,
        Verb.POWER_CYCLE: 600,
        Verb.FLASH: 900,
        Verb.VERIFY: 900,
        Verb.REIMAGE: 2400,
        Verb.WIPE: 7200,
    }
)
"""How long a verb takes where nothing better is known, in seconds."""
