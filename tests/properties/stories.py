"""Random stories in the vocabulary of the decision scenarios: a small fleet, a policy, and what happens to it.

A story is plain data, so that a failing one is printed as a scenario that can be kept. Hypothesis shrinks it.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from fleet.sim.nevers import Nevers
from fleet.sim.scenario import Play, prepare

FAULTS = {"xid_79": "reboot", "row_remap": "reset_gpu", "fan_wear": "power_cycle", "disk_readonly": "reimage"}
VERBS = ("converge", "reboot", "verify", "reset_gpu", "power_cycle", "reload_driver")


def minutes(low: int = 0, high: int = 240) -> st.SearchStrategy[str]:
    """A moment or a duration, whole minutes."""
    return st.integers(low, high).map(lambda number: f"{number}m")


@st.composite
def policies(draw: st.DrawFn, count: int) -> dict[str, Any]:
    """A policy under which at least one node may be taken."""
    found: dict[str, Any] = {
        "budget": {"pool": draw(st.integers(1, max(1, count // 2)))},
        "first_rung": dict(FAULTS),
        "foreign_cordon": draw(st.sampled_from(["leave", "work"])),
        "attempts": {"converge": draw(st.integers(1, 3)), "reboot": draw(st.integers(1, 2))},
    }
    if draw(st.booleans()):
        found["budget"]["rack"] = draw(st.integers(1, 2))
    if draw(st.booleans()):
        found["floor"] = {"pool": draw(st.integers(1, count - 1))}
    if draw(st.booleans()):
        found["canary"] = {"nodes": 1, "soak": draw(st.sampled_from(["0s", "20m"]))}
    if draw(st.booleans()):
        found["waves"] = {"sizes": [draw(st.integers(1, 3)), "rest"], "order": "listed"}
    if draw(st.booleans()):
        found["drain"] = {"deadline": draw(minutes(10, 120)), "then": draw(st.sampled_from(["wait", "requeue"]))}
    if draw(st.booleans()):
        found["breaker"] = {"window": "10m", "share": "50%", "quiet": "20m"}
    if draw(st.booleans()):
        found["failure_limit"] = {"nodes": draw(st.integers(0, 3))}
    return found


@st.composite
def happenings(draw: st.DrawFn, names: list[str], racks: list[str]) -> list[dict[str, Any]]:
    """One thing that happens, or a pair that belongs together."""
    at, node = draw(minutes()), draw(st.sampled_from(names))
    kind = draw(st.sampled_from(KINDS))
    head: dict[str, Any] = {"at": at, "event": kind}
    match kind:
        case "signal":
            what = draw(st.sampled_from([*FAULTS, "odd_noise"]))
            severity = draw(st.sampled_from(["watch", "degraded", "fatal"]))
            return [{**head, "node": node, "what": what, "severity": severity, "spurious": draw(st.booleans())}]
        case "signal_ends":
            return [{**head, "node": node, "what": draw(st.sampled_from([*FAULTS, "odd_noise"]))}]
        case "cordon":
            return [{**head, "node": node, "by": draw(st.sampled_from(["alice", "bob"])), "reason": "looking"}]
        case "uncordon":
            return [{**head, "node": node, "by": draw(st.sampled_from(["alice", "bob"]))}]
        case "job":
            name = f"j{draw(st.integers(1, 99))}"
            runs, queued = draw(minutes(5, 400)), draw(st.booleans())
            return [{**head, "id": name, "node": node, "runs": runs, "checkpoint_age": "5m", "queued": queued}]
        case "holder":
            return [{**head, "node": node, "what": "notebook", "kind": "user", "ends": draw(minutes(5, 200))}]
        case "unreachable" | "power_lost":
            where = {"node": node} if draw(st.booleans()) or kind == "unreachable" else {"rack": draw(_one(racks))}
            return [{**head, **where, "lasts": draw(minutes(2, 90))}]
        case "scheduler":
            return [{**head, "says": "no answer", "lasts": draw(minutes(1, 20))}]
        case "drift":
            return [{**head, "node": node, "part": "driver", "to": "999"}]
        case "answer":
            verb, says = draw(st.sampled_from(VERBS)), draw(st.sampled_from(["failed", "lost", "exit_143", "in_use"]))
            really = draw(st.sampled_from(["done", "nothing"])) if says in ("lost", "exit_143") else "nothing"
            takes = draw(minutes(1, 30))
            rule = {**head, "node": node, "verb": verb, "with": says, "really": really, "takes": takes}
            return [{**rule, "times": draw(st.integers(1, 2)), "why": "so"}]
        case "edit":
            path = draw(st.sampled_from(["policy.budget.pool", f"disposition.{node}"]))
            value: object = draw(st.integers(1, 3)) if path.endswith("pool") else "parked"
            return [{**head, "set": {path: value}, "by": "alice"}]
        case "clock_jump":
            by = draw(st.sampled_from(["3h", "-3h", "90s", "-90s"]))
            return [{**head, "by": by}]
        case "controller_killed":
            return [head, {"at": f"{int(at[:-1]) + draw(st.integers(0, 30))}m", "event": "controller_started"}]
        case "worker_killed":
            leaves = {"leaves": "nothing"} if draw(st.booleans()) else {"leaves": "running", "until": "300m"}
            return [{**head, "node": node, "verb": draw(st.sampled_from(VERBS)), **leaves}]
        case "hands":
            return [{**head, "node": node, "did": "mended", "by": "carol"}]
        case "stop":
            back = {"at": f"{int(at[:-1]) + draw(st.integers(1, 60))}m", "event": "go", "by": "alice"}
            return [{**head, "by": "alice", "reason": "looking"}, back]
        case _:
            return [{**head, "by": "alice"}]


KINDS = (
    "signal",
    "signal_ends",
    "cordon",
    "uncordon",
    "job",
    "holder",
    "unreachable",
    "power_lost",
    "scheduler",
    "drift",
    "answer",
    "edit",
    "clock_jump",
    "controller_killed",
    "worker_killed",
    "hands",
    "stop",
    "resume",
)


def _one(names: list[str]) -> st.SearchStrategy[str]:
    return st.sampled_from(names)


def moment(event: dict[str, Any]) -> int:
    """The minute of an event."""
    return int(str(event["at"])[:-1])


@st.composite
def stories(draw: st.DrawFn, autonomy: bool = False) -> dict[str, Any]:
    """A whole story: a roll, and what comes between."""
    count, racks = draw(st.integers(3, 8)), draw(st.sampled_from([["a1"], ["a1", "a2"], ["a1", "a2", "a3"]]))
    names = [f"n{index + 1:02d}" for index in range(count)]
    policy = draw(policies(count))
    if autonomy:
        levels = st.sampled_from(["observe", "propose", "act"])
        policy["autonomy"] = {why: draw(levels) for why in ("REPAIR", "UPGRADE", "CORRECT")}
    needs = draw(st.sampled_from([["reboot"], ["reload_driver"], ["flash"], ["flash", "reboot"], []]))
    events = [each for group in draw(st.lists(happenings(names, racks), max_size=10)) for each in group]
    events.append({"at": draw(minutes(0, 60)), "event": "rollout", "to": "r42", "pool": "train"})
    events.sort(key=moment)
    wanted = {"driver": "2"} | ({"nic_firmware": "2"} if "flash" in needs else {})
    before = {"driver": "1"} | ({"nic_firmware": "1"} if "flash" in needs else {})
    return {
        "title": "a random story",
        "declared": {
            "pools": {"train": {"accelerator": "H100", "nodes": {"count": count, "racks": racks}}},
            "release": {"from": {"id": "r41", **before}, "to": {"id": "r42", **wanted, "needs": needs}},
            "policy": policy,
        },
        "timeline": [*events, {"at": "720m", "event": "end"}],
        "expect": [],
    }


def crash_points() -> st.SearchStrategy[dict[int, float]]:
    """After which durable writes the controller dies: at once, or some time later in the middle of what it began."""
    return st.dictionaries(st.integers(1, 200), st.sampled_from([0.0, 0.0, 30.0, 200.0, 400.0]), max_size=5)


def told(raw: dict[str, Any], crashes: dict[int, float]) -> tuple[Play, Nevers]:
    """Play a story to its end under crashes."""
    made = prepare(raw, "random")
    made.stage.simulation.crash_at = dict(crashes)
    made.stage.simulation.tick_seconds = 180.0  # events wake the loop anyway; three times as many stories in the time
    made.run()
    return made, made.nevers
