"""The shape of one policy in policy.yaml. What is not named does not limit."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from fleet.model.ids import Autonomy, Purpose, Verb
from fleet.model.policy import DEFAULT_LADDER, Amount, AtDeadline, Emptying, ForeignCordon
from fleet.spec.units import amount, duration
from fleet.spec.words import Short

STRICT = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

Duration = Annotated[
    timedelta,
    BeforeValidator(duration),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"const": 0}], "description": "a length of time, as 30s, 90m, 2d"}),
]
_NUMBER = {"type": "integer", "minimum": 0}
_WORD = {"type": "string"}
_SOME = {"anyOf": [_NUMBER, {"type": "array", "items": _WORD}]}
Nodes = Annotated[
    Amount,
    BeforeValidator(amount),
    WithJsonSchema({"anyOf": [_NUMBER, _WORD], "description": "a number of nodes, or a percentage, as 25%"}),
]


def _named_nodes(value: Any) -> Any:
    """`canary: 1` is short for `canary: {nodes: 1}`."""
    return value if isinstance(value, dict) else {"nodes": value}


def _for_all(value: Any) -> Any:
    """`autonomy: act` is short for the same for each purpose."""
    return {purpose.value: value for purpose in Purpose} if isinstance(value, str) else value


def _by_name(value: Any) -> Any:
    return value if isinstance(value, dict) else {"": value}


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _of_role(value: Any) -> Any:
    """`rollout: admin` is short for `rollout: {role: [admin]}`."""
    found = value if isinstance(value, dict) else {"role": value}
    return {**found, "role": _listed(found["role"])} if "role" in found else found


PoolAmount = Annotated[dict[str, Nodes], Short(_by_name, {"anyOf": [_NUMBER, _WORD]})]
"""An amount for each pool (under ""), or amounts by the pool's name."""


class BudgetFile(BaseModel):
    """Most nodes that may be out, by kind of domain."""

    model_config = STRICT
    pool: PoolAmount = {}
    rack: Nodes | None = None
    feed: Nodes | None = None
    loop: Nodes | None = None
    leaf: Nodes | None = None
    nvlink: Nodes | None = None
    site: Nodes | None = None
    domains_out: dict[Literal["rack", "feed", "loop", "leaf", "nvlink"], Annotated[int, Field(ge=1)]] = {}


class FloorFile(BaseModel):
    """Fewest nodes that must be in, by kind of domain."""

    model_config = STRICT
    pool: PoolAmount = {}
    rack: Nodes | None = None
    feed: Nodes | None = None
    loop: Nodes | None = None
    leaf: Nodes | None = None
    nvlink: Nodes | None = None
    site: Nodes | None = None


class GateFile(BaseModel):
    """The figure that may drop so far at most."""

    model_config = STRICT
    figure: str
    worst_drop: Nodes


class CanaryFile(BaseModel):
    """The first nodes: how many, or which; how long they are watched; what they must show."""

    model_config = STRICT
    nodes: Annotated[int, Field(ge=0)] | list[str] = 0
    soak: Duration | None = None
    gate: GateFile | None = None


class WavesFile(BaseModel):
    """Sizes of the waves behind the canary, `rest` at the end, and their order."""

    model_config = STRICT
    sizes: list[Annotated[int, Field(ge=1)] | Literal["rest"]] = []
    order: Literal["planner", "listed"] = "planner"


class FailuresFile(BaseModel):
    """How many may fail; one more halts the roll."""

    model_config = STRICT
    nodes: Nodes | None = None
    share: Nodes | None = None


class DrainFile(BaseModel):
    """How work leaves, and what happens when it doesn't."""

    model_config = STRICT
    how: Emptying = Emptying.NOW
    deadline: Duration | None = None
    then: AtDeadline = AtDeadline.WAIT
    ask_checkpoint: bool = False
    checkpoint_wait: Duration | None = None
    stop_services: list[str] = []


class RampFile(BaseModel):
    """How fast work begins again after the breaker cleared."""

    model_config = STRICT
    nodes: int = Field(ge=1)
    per: Duration


class BreakerFile(BaseModel):
    """When new work stops, and when it goes on."""

    model_config = STRICT
    window: Duration
    share: Nodes | None = None
    nodes: Nodes | None = None
    quiet: Duration
    ramp: RampFile | None = None
    once_per: Literal["", "rack", "feed", "loop", "leaf", "nvlink"] = ""


class WithinFile(BaseModel):
    """A length of time within which tries add up."""

    model_config = STRICT
    within: Duration


class VerifyFile(BaseModel):
    """How fitness is proved."""

    model_config = STRICT
    tests: list[str] = []
    after_relapse: list[str] = []
    load: Duration | None = None
    unit: str = ""


class WindowFile(BaseModel):
    """When planned work may begin; `every` repeats it."""

    model_config = ConfigDict(**STRICT, populate_by_name=True)
    opens: AwareDatetime = Field(alias="from")
    closes: AwareDatetime = Field(alias="to")
    every: Duration | None = None


class WipeFile(BaseModel):
    """How the data of a retiring node goes."""

    model_config = STRICT
    grade: Literal["clear", "purge", "destroy"] = "clear"
    deadline: Duration | None = None


class BurstFile(BaseModel):
    """What a rented node may be."""

    model_config = STRICT
    lifetime: Duration | None = None
    boot_deadline: Duration | None = None
    types: list[str] = []


class RetireFile(BaseModel):
    """What a person types before a node is wiped; `no` asks for nothing."""

    model_config = STRICT
    confirm: Literal["serial", "no"] = "serial"


class ApprovalFile(BaseModel):
    """Who approves a matter: so many different people of one of the roles."""

    model_config = STRICT
    role: list[str] = []
    people: int = Field(1, ge=1, le=9)


Approvers = Annotated[ApprovalFile, Short(_of_role, {"anyOf": [_WORD, {"type": "array", "items": _WORD}]})]


class ApprovalsFile(BaseModel):
    """Which matters need whose word; the roles stand in policy.yaml under `roles`."""

    model_config = STRICT
    rollout: Approvers | None = None
    beyond_budget: Approvers | None = None
    irreversible: Approvers | None = None
    override: Approvers | None = None
    expires: Duration | None = None


class PolicyFile(BaseModel):
    """One policy."""

    model_config = STRICT
    budget: BudgetFile = BudgetFile()
    floor: FloorFile = FloorFile()
    at_least_one: bool | list[str] = False
    waves: WavesFile = WavesFile()
    canary: Annotated[CanaryFile, Short(_named_nodes, {"anyOf": [_NUMBER, {"type": "array", "items": _WORD}]})] = (
        CanaryFile()
    )
    soak: Duration | None = None
    gate: GateFile | None = None
    failure_limit: FailuresFile | None = None
    attempts: dict[Verb, Annotated[int, Field(ge=1, le=100)]] = {}
    ladder: list[Verb] = list(DEFAULT_LADDER)
    first_rung: dict[str, Verb] = {}
    skip: dict[str, Annotated[list[Verb], Short(_listed, _WORD)]] = {}
    probation: Duration = timedelta(0)
    repeat: WithinFile | None = None
    recover: dict[str, Duration] = {}
    verify: VerifyFile = VerifyFile()
    drain: DrainFile = DrainFile()
    breaker: BreakerFile | None = None
    foreign_cordon: ForeignCordon = ForeignCordon.LEAVE
    override: Literal["no", "until_new_evidence"] = "no"
    windows: list[WindowFile] = []
    approval: Literal["none", "required"] = "none"
    approvals: ApprovalsFile = ApprovalsFile()
    autonomy: Annotated[dict[Purpose, Autonomy], Short(_for_all, _WORD)] = {}
    heartbeat: Duration = timedelta(minutes=2)
    step_deadline: Duration = timedelta(hours=1)
    stuck_after: Duration | None = None
    reserve_for_repair: int = Field(0, ge=0)
    wipe: WipeFile = WipeFile()
    burst: BurstFile | None = None
    retire: RetireFile = RetireFile()
