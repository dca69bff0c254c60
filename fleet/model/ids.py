"""Names of things, and the closed vocabularies: purposes, verbs, phases, reasons."""

from __future__ import annotations

from enum import StrEnum
from typing import NewType

NodeId = NewType("NodeId", str)
PoolId = NewType("PoolId", str)
ReleaseId = NewType("ReleaseId", str)
OrderId = NewType("OrderId", str)
RolloutId = NewType("RolloutId", str)
CaseId = NewType("CaseId", str)

FLEET = "fleet"
"""The owner under which our own cordons stand."""


class Purpose(StrEnum):
    """Why we work on a node. Declared in the order in which they share the budget."""

    SHED = "SHED"
    RETIRE = "RETIRE"
    REPAIR = "REPAIR"
    ENROL = "ENROL"
    UPGRADE = "UPGRADE"
    CORRECT = "CORRECT"


PRECEDENCE: dict[Purpose, int] = {purpose: rank for rank, purpose in enumerate(Purpose)}


class Phase(StrEnum):
    """Where a node is on its way."""

    ENROLLING = "enrolling"
    SERVING = "serving"
    CORDONED = "cordoned"
    DRAINED = "drained"
    CONVERGING = "converging"
    REPAIRING = "repairing"
    VERIFYING = "verifying"
    SOAKING = "soaking"
    AWAITING_HANDS = "awaiting_hands"
    RETIRING = "retiring"
    RETIRED = "retired"


class Verb(StrEnum):
    """What may be done to a node. Their properties are the table `lifecycle.table.VERBS`."""

    STAGE = "stage"
    CORDON = "cordon"
    DRAIN = "drain"
    UNCORDON = "uncordon"
    VERIFY = "verify"
    CORRECT_LIVE = "correct_live"
    RESTART_SERVICE = "restart_service"
    CONVERGE = "converge"
    REVERT = "revert"
    RELOAD_DRIVER = "reload_driver"
    RESET_GPU = "reset_gpu"
    REBOOT = "reboot"
    POWER_CYCLE = "power_cycle"
    FLASH = "flash"
    REIMAGE = "reimage"
    RMA = "rma"
    EXPORT = "export"
    WIPE = "wipe"
    REVOKE = "revoke"
    POWER_OFF = "power_off"
    CREATE = "create"
    DELETE = "delete"


class Autonomy(StrEnum):
    """How far fleet may go by itself, per pool and purpose."""

    OBSERVE = "observe"
    PROPOSE = "propose"
    ACT = "act"


class Because(StrEnum):
    """Why a node that wants work may not have it in this pass."""

    BUDGET_FULL = "budget_full"
    FLOOR = "floor"
    BREAKER_TRIPPED = "breaker_tripped"
    PACING = "pacing"
    FOREIGN_CORDON = "foreign_cordon"
    PARKED = "parked"
    WINDOW_CLOSED = "window_closed"
    GAP = "gap"
    OUT_OF_REACH = "out_of_reach"
    DOMAIN_DOWN = "domain_down"
    DRAIN_WAITING = "drain_waiting"
    CHECKPOINT_WAITING = "checkpoint_waiting"
    CANARY_PENDING = "canary_pending"
    SOAKING = "soaking"
    GATE_FAILED = "gate_failed"
    ROLLOUT_HALTED = "rollout_halted"
    ROLLOUT_PAUSED = "rollout_paused"
    ORDER_OPEN = "order_open"
    LOCK_BUSY = "lock_busy"
    AWAITING_HANDS = "awaiting_hands"
    INCOMPATIBLE = "incompatible"
    NO_EFFECT = "no_effect"
    IRREVERSIBLE = "irreversible"
    WIPE_UNPROVEN = "wipe_unproven"
    NO_CAPACITY = "no_capacity"
    APPROVAL_MISSING = "approval_missing"
    APPROVAL_STALE = "approval_stale"
    CLOCK_JUMP = "clock_jump"
    STOPPED = "stopped"
    FROZEN = "frozen"
    OBSERVE_ONLY = "observe_only"
    UNTRUSTED = "untrusted"
    CONFIRMATION_MISSING = "confirmation_missing"
