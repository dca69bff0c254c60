"""What policy allows: amounts, waves, drains, remedies, autonomy. What is not named does not limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from fleet.model.ids import Autonomy, NodeId, Purpose, Verb


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of nodes, or a percentage of the declared nodes that are not retired. Exactly one is set."""

    nodes: int | None = None
    percent: float | None = None

    def as_budget(self, members: int, *, at_least_one: bool = False) -> int:
        """Most nodes that may be out: a percentage rounds down, to at least 1 only where policy says so."""
        if self.nodes is not None:
            return self.nodes
        found = int(members * (self.percent or 0) / 100 + 1e-9)
        return max(found, 1) if at_least_one and members else found

    def as_floor(self, members: int) -> int:
        """Fewest nodes that must be in: a percentage rounds up."""
        if self.nodes is not None:
            return self.nodes
        return -int(-(members * (self.percent or 0) / 100 - 1e-9) // 1)

    def __str__(self) -> str:
        return f"{self.nodes}" if self.nodes is not None else f"{self.percent:g}%"


class Emptying(StrEnum):
    """How a node is freed of work."""

    NOW = "now"
    IDLE = "idle"
    RESERVE = "reserve"


class AtDeadline(StrEnum):
    """What happens when a drain's deadline has passed."""

    WAIT = "wait"
    REQUEUE = "requeue"
    GIVE_UP = "give_up"


@dataclass(frozen=True, slots=True)
class DrainPolicy:
    """How work leaves a node, and what happens when it doesn't."""

    how: Emptying = Emptying.NOW
    deadline: timedelta | None = None
    then: AtDeadline = AtDeadline.WAIT
    ask_checkpoint: bool = False
    checkpoint_wait: timedelta | None = None
    stop_services: tuple[str, ...] = ()


class ForeignCordon(StrEnum):
    """What we do with a node that somebody else closed: leave it alone, or work on it and never open it."""

    LEAVE = "leave"
    WORK = "work"


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """Trips when that many nodes are newly quarantined within `window`; clears after `quiet`.

    Then, for as long as `quiet`, at most `ramp` new orders begin in each `ramp_per` (without it: in the whole `quiet`).
    """

    window: timedelta
    share: Amount
    quiet: timedelta
    ramp: int | None = None
    once_per: str = ""
    ramp_per: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """The figure of the canaries that may drop by `worst_drop` at most before the roll goes on."""

    figure: str
    worst_drop: Amount


@dataclass(frozen=True, slots=True)
class VerifyPolicy:
    """How fitness is proved: which tests, which after a relapse, how long the load test runs, on how much at once."""

    tests: tuple[str, ...] = ()
    after_relapse: tuple[str, ...] = ()
    load: timedelta | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Window:
    """When planned work may begin: from `opens` to `closes`, again after each `every` where it is set."""

    opens: datetime
    closes: datetime
    every: timedelta | None = None

    def open_at(self, at: datetime) -> bool:
        """Whether work may begin at this moment; `closes` is excluded."""
        since = at - self.opens
        if self.every is not None and since > timedelta(0):
            since %= self.every
        return timedelta(0) <= since < self.closes - self.opens


@dataclass(frozen=True, slots=True)
class WipePolicy:
    """How the data of a retiring node goes, and by when."""

    grade: str = "clear"  # clear, purge, destroy
    deadline: timedelta | None = None


@dataclass(frozen=True, slots=True)
class BurstPolicy:
    """What a rented node may be and how long it may live; `types` in the order in which they are tried."""

    lifetime: timedelta | None = None
    boot_deadline: timedelta | None = None
    types: tuple[str, ...] = ()


class Matter(StrEnum):
    """What may need a person's word before it is done."""

    ROLLOUT = "rollout"  # a release on its way to the pool
    BEYOND_BUDGET = "beyond_budget"  # more out at once than the budget allows
    IRREVERSIBLE = "irreversible"  # firmware that can't go back
    OVERRIDE = "override"  # work on what is held


@dataclass(frozen=True, slots=True)
class Approval:
    """Who approves a matter: so many different people of one of the roles."""

    roles: tuple[str, ...] = ()
    people: int = 1


@dataclass(frozen=True, slots=True)
class ApprovalPolicy:
    """Which matters need whose word. `roles` are names of people as allowed_signers has them; `expires`: for how long.

    A matter that is not named needs nobody; a rollout does too where the policy says `approval: required`.
    """

    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    matters: Mapping[Matter, Approval] = field(default_factory=dict)
    expires: timedelta | None = None

    def people(self, matter: Matter) -> tuple[str, ...] | None:
        """Who may approve it, each once; None where no role is named, so that any approver may."""
        needed = self.matters.get(matter)
        if needed is None or not needed.roles:
            return None
        return tuple(dict.fromkeys(person for role in needed.roles for person in self.roles.get(role, ())))


DEFAULT_LADDER: tuple[Verb, ...] = (
    Verb.RESTART_SERVICE,
    Verb.RESET_GPU,
    Verb.RELOAD_DRIVER,
    Verb.REBOOT,
    Verb.POWER_CYCLE,
    Verb.FLASH,
    Verb.REIMAGE,
    Verb.RMA,
)


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one pool. Keys of `budget` and `floor` are kinds of domain (`pool`, `rack`, ...)."""

    name: str = "default"
    budget: Mapping[str, Amount] = field(default_factory=dict)
    floor: Mapping[str, Amount] = field(default_factory=dict)
    domains_out: Mapping[str, int] = field(default_factory=dict)
    at_least_one: bool = False
    wave_sizes: tuple[int, ...] = ()  # after the canary; 0: all others; empty: as slots free
    listed_order: bool = False
    canary: int = 0
    soak: timedelta = timedelta(0)
    failure_limit: Amount | None = None
    attempts: Mapping[Verb, int] = field(default_factory=dict)
    ladder: tuple[Verb, ...] = DEFAULT_LADDER
    first_rung: Mapping[str, Verb] = field(default_factory=dict)
    skip: Mapping[str, tuple[Verb, ...]] = field(default_factory=dict)
    probation: timedelta = timedelta(0)
    drain: DrainPolicy = field(default_factory=DrainPolicy)
    breaker: BreakerPolicy | None = None
    foreign_cordon: ForeignCordon = ForeignCordon.LEAVE
    autonomy: Mapping[Purpose, Autonomy] = field(default_factory=dict)
    approval_required: bool = False
    confirm_retire: bool = True
    heartbeat: timedelta = timedelta(minutes=2)
    step_deadline: timedelta = timedelta(hours=1)
    reserve_for_repair: int = 0
    canary_nodes: tuple[NodeId, ...] = ()  # canaries by name; `canary` is then their number
    gate: Gate | None = None
    repeat: timedelta = timedelta(0)  # tries of a rung within it add up
    recover: Mapping[str, timedelta] = field(default_factory=dict)  # faults that are over when gone for so long
    verify: VerifyPolicy = field(default_factory=VerifyPolicy)
    override_until_new_evidence: bool = False  # who opens a quarantined node is obeyed until something new comes
    windows: tuple[Window, ...] = ()  # empty: always
    stuck_after: timedelta | None = None
    wipe: WipePolicy = field(default_factory=WipePolicy)
    burst: BurstPolicy | None = None
    approvals: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    places: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)  # file:line of what is written

    def place(self, *keys: str) -> str:
        """`file:line` of what is written under these keys, or of the nearest above them; empty where it's unknown."""
        for last in range(len(keys), -1, -1):
            found = self.places.get(".".join(keys[:last]))
            if found:
                return found
        return ""

    def may(self, purpose: Purpose) -> Autonomy:
        """The autonomy for one purpose; `act` where nothing is said."""
        return self.autonomy.get(purpose, Autonomy.ACT)

    def tries(self, verb: Verb) -> int:
        """How often a verb may be tried in one order before it has failed."""
        return self.attempts.get(verb, 2 if verb is Verb.CONVERGE else 1)
