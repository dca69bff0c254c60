"""InfiniBand ports as counters, sysfs and events show them.

Counters are totals since somebody cleared them: one sample judges nothing. The netdev's speed is nominal, only
`ports/N/rate` in the kernel's own form counts. One cause often explains many ports.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Problem, Reading, Text
from fleet.readers.records import moment
from fleet.readers.text import decode, lines, mapping, number, parse_json, sequence

_COUNTER = re.compile(r"(\w+):\.+(\d+)\s*$")
# counter, name of its difference
RATES = (
    ("LinkDownedCounter", "link_downed"),
    ("PortXmitDiscards", "xmit_discards"),
    ("SymbolErrorCounter", "symbol_errors"),
    ("PortRcvErrors", "rcv_errors"),
    ("PortRcvSwitchRelayErrors", "switch_relay_errors"),
    ("LinkErrorRecoveryCounter", "link_recoveries"),
    ("LocalLinkIntegrityErrors", "local_link_integrity_errors"),
    ("PortXmitWait", "xmit_wait_ticks"),
)
_GROWING = (("link_downed", "link_went_down"), ("symbol_errors", "symbol_errors_growing"))
_SECONDARY = (
    ("link_recoveries", "link_recoveries_growing", "link", "inspect_cable"),
    ("local_link_integrity_errors", "link_integrity_errors_growing", "link", "inspect_cable"),
    ("rcv_errors", "rcv_errors_growing", "link", "inspect_cable"),
    ("xmit_discards", "discards_growing", "switch", "watch"),
)
_RATE = re.compile(r"(\d+(?:\.\d+)?) Gb/sec \((\d+)X ?\w*\)")


def _counters(text: str) -> dict[str, int]:
    found = (_COUNTER.match(line) for _, line in lines(text))
    return {hit.group(1): int(hit.group(2)[:20]) for hit in found if hit}


def read_perfquery(text: Text, context: Context, also: Sequence[Beside] = ()) -> Reading:
    """`perfquery -x` of one port, with the sample before it if there is one."""
    port = str(context.get("port", "the port"))
    counters = _counters(decode(text))
    more: dict[str, Any] = {"verdict": "not_judged", "counters": counters or None, "rates": None, "problems": []}
    if not counters:
        why = (
            "empty answer for a port that the fabric lists" if not decode(text).strip() else "no counters in the answer"
        )
        return Reading("perfquery_extended", gaps=(Gap(f"counters of {port}", "empty_output", why=why),), more=more)
    before = next((found for beside in also if (found := _counters(decode(beside.content)))), None)
    seconds = number(context.get("seconds_between"))
    if before is None or not seconds or seconds <= 0:
        gap = Gap(f"error rate of {port}", "not_measured", why="a single sample of lifetime totals")
        return Reading("perfquery_extended", gaps=(gap,), more=more)
    if any(counters[name] < before[name] for name in counters if name in before and "Select" not in name):
        why = "counters are lower than before: cleared or switch restarted"
        gap = Gap(f"rates of {port}", "not_measured", why=why)
        return Reading("perfquery_extended", gaps=(gap,), more={**more, "counters_reset": True})
    rates: dict[str, Any] = {
        name: counters[key] - before[key] for key, name in RATES if key in counters and key in before
    }
    for key, name in (("PortXmitData", "xmit_GBps"), ("PortRcvData", "rcv_GBps")):
        if key in counters and key in before:
            rates[name] = round((counters[key] - before[key]) * 4 / seconds / 1e9, 2)
    problems = [Problem(port, kind, "link", "inspect_cable") for key, kind in _GROWING if rates.get(key)]
    if not problems:
        problems = [Problem(port, kind, scope, action) for key, kind, scope, action in _SECONDARY if rates.get(key)]
    gaps = (
        [Gap("which end is bad", "not_reported", why="only the switch side was read")]
        if problems and context.get("peer")
        else []
    )
    verdict = "problem" if any(problem.action != "watch" for problem in problems) else "ok"
    more.update(verdict=verdict, rates=rates, problems=[problem.as_json() for problem in problems])
    return Reading("perfquery_extended", gaps=tuple(gaps), more=more)


def rate_gbps(text: str) -> tuple[float | None, str]:
    """A rate in the kernel's form, else None and why it is none."""
    found = _RATE.fullmatch(text.strip())
    if found:
        return float(found.group(1)), ""
    unit = re.match(r"[\d.]+\s*([A-Za-z]\S*)", text.strip())
    return None, f"unit {unit.group(1)} is not one the kernel prints" if unit else "no unit"


def read_sysfs(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """Files of sysfs as `{path: content}`. The PCI slot is the identity of a NIC, its name is not."""
    document = mapping(parse_json(decode(text)))
    ports: dict[str, dict[str, str]] = {}
    names: dict[str, str] = {}
    present: list[str] = []
    for path, content in document.items():
        for address in re.findall(r"/([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?=/)", str(path)):
            if address not in present:
                present.append(address)
        if found := re.search(r"/([0-9a-f]{4}:[0-9a-f:.]+)/infiniband/([^/]+)/(?:ports/(\d+)/)?(\w+)$", str(path)):
            address, device, port, key = found.groups()
            names.setdefault(address, device)
            if port:
                ports.setdefault(f"{device}:{port}", {})[key] = str(content).strip()
    if not document:
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading("sysfs_ib_dump", gaps=(Gap("InfiniBand ports", reason),), more={"problems": []})
    expected = mapping(context.get("expected"))
    problems: list[Problem] = []
    gaps: list[Gap] = []
    wanted, _ = rate_gbps(str(expected.get("rate", "")))
    shown = {port: _port(port, files, wanted, problems, gaps) for port, files in ports.items()}
    active = [port for port, files in ports.items() if files.get("state", "").endswith("ACTIVE")]
    rates = {one["rate_gbps"] for one in shown.values()}
    more: dict[str, Any] = {
        "ports": shown,
        "ports_active": len(active),
        "ports_not_active": sorted(set(ports) - set(active)),
        "ports_at_expected_rate": sum(one["rate_gbps"] == wanted for one in shown.values()) if wanted else None,
        "rate_gbps": rates.pop() if len(rates) == 1 else None,
        "pci_present": sorted(present),
    }
    naming = _names(mapping(expected.get("by_pci")), names, present)
    problems += naming
    if expected.get("by_pci"):
        more["by_pci"] = {
            address: names.get(address) for address in sorted(set(present) | set(mapping(expected["by_pci"])))
        }
        more["replace_hardware"] = any(problem.action == "hands" for problem in naming)
    total = expected.get("ports")
    if isinstance(total, int) and len(ports) < total and not naming:
        gaps.append(Gap(f"{total - len(ports)} of {total} ports", "missing_from_report", why="not in the dump"))
    causes = _causes(problems, shown, mapping(context.get("leaf_of")))
    more["problems"] = [problem.as_json() for problem in problems]
    more["common_causes"] = causes
    more["cases_to_open"] = len(problems) - sum(len(cause["members"]) for cause in causes) + len(causes)
    more["severity"] = "warning" if problems else "ok"
    return Reading("sysfs_ib_dump", gaps=tuple(gaps), more=more)


def _port(
    port: str, files: Mapping[str, str], wanted: float | None, problems: list[Problem], gaps: list[Gap]
) -> dict[str, Any]:
    """One port: state first, then rate."""
    state, physical = files.get("state", ""), files.get("phys_state", "")
    if not state:
        gaps.append(Gap(f"state of {port}", "not_reported", why="not in the dump"))
        return {"rate_gbps": None, "verdict": "not_judged"}
    rate, why = rate_gbps(files.get("rate", ""))
    if not state.endswith("ACTIVE"):
        problems.append(_not_active(port, state, physical))
        return {"rate_gbps": rate, "verdict": "problem"}
    if rate is None:
        gaps.append(
            Gap(
                f"rate of {port}",
                "not_a_number" if "rate" in files else "not_reported",
                why=why if "rate" in files else "not in the dump",
            )
        )
        return {"rate_gbps": None, "verdict": "not_judged"}
    if wanted is not None and rate < wanted:
        problems.append(Problem(port, "rate_below_expected", "link", "inspect_cable"))
        return {"rate_gbps": rate, "verdict": "problem"}
    return {"rate_gbps": rate, "verdict": "ok" if wanted is not None else "not_judged"}


def _not_active(port: str, state: str, physical: str) -> Problem:
    """LinkUp but not active is the subnet manager's; no link is the cable's; disabled was somebody."""
    if physical.endswith("LinkUp"):
        word = "logical_armed" if state.endswith("ARMED") else "logical_init"
        return Problem(port, word, "subnet_manager", "look_at_sm_or_switch")
    if physical.endswith("Disabled"):
        return Problem(port, "port_disabled", "config", "change_request")
    return Problem(port, "link_down", "link", "inspect_cable")


def _names(expected: Mapping[str, Any], names: Mapping[str, str], present: Sequence[str]) -> list[Problem]:
    problems: list[Problem] = []
    for address, wanted in expected.items():
        have = names.get(address)
        if have == wanted:
            continue
        if have is not None:
            kind = "name_swapped" if have in expected.values() else "name_unexpected"
            problems.append(Problem(address, kind, "config", "rebind_or_reboot"))
        elif address in present:
            problems.append(Problem(address, "no_rdma_device_bound", "node", "rebind_or_reboot"))
        else:
            problems.append(Problem(address, "nic_missing", "node", "hands"))
    return problems


def _causes(problems: Sequence[Problem], ports: Mapping[str, Any], leaf_of: Mapping[str, Any]) -> list[dict[str, Any]]:
    causes: list[dict[str, Any]] = []
    stuck = [problem.where for problem in problems if problem.scope == "subnet_manager"]
    if len(stuck) > 1:
        leaves = {leaf_of.get(port.partition(":")[0]) for port in stuck}
        shared = leaves.pop() if len(leaves) == 1 else None
        causes.append(
            {
                "cause": "port not configured by the subnet manager",
                "members": stuck,
                "shared": shared,
                "scope": "switch" if shared else "subnet_manager",
                "action": "look_at_sm_or_switch",
            }
        )
    slow = [problem.where for problem in problems if problem.kind == "rate_below_expected"]
    if len(slow) > 1 and len(slow) == len(ports) and len({ports[port]["rate_gbps"] for port in slow}) == 1:
        causes.append(
            {
                "cause": "one cable set, transceiver type or switch port profile",
                "members": slow,
                "scope": "config",
                "action": "change_request",
            }
        )
    named = [problem.where for problem in problems if problem.action == "rebind_or_reboot"]
    if len(named) > 1:
        causes.append(
            {
                "cause": "device naming or driver binding at boot",
                "members": named,
                "scope": "node",
                "action": "rebind_or_reboot",
            }
        )
    return causes


def read_port_events(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """Ports and their events: a flap stays until a person clears it, a recovered drop until the hold-off ends."""
    document = mapping(parse_json(decode(text)))
    ports = [mapping(port) for port in sequence(document.get("ports"))]
    if not ports:
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading("ib_port_events", gaps=(Gap("ports", reason),), more={"problems": []})
    limits = mapping(document.get("thresholds"))
    least, rate = int(number(limits.get("at_least_ports")) or 0), number(limits.get("at_least_rate")) or 0
    active = {
        _name(port)
        for port in ports
        if port.get("state") == "Active" and (number(port.get("rate_gb_sec")) or 0) >= rate
    }
    enough = len(active) >= least
    events = [mapping(event) for event in sequence(document.get("events"))]
    flaps, drops = _standing(events, "ib_port_flap", context), _standing(events, "ib_port_drop", context)
    dormant = [name for name in drops if name not in active] if enough else []
    problems = [Problem(name, "link_flapping", "link", "operator_clears") for name in flaps]
    problems += [Problem(name, "link_down", "link", "hold_off") for name in drops if name not in dormant]
    verdict = "problem" if problems or not enough else "ok"
    check = moment(context.get("check_at"))
    first: dict[str, Any] = {
        "time": _z(check) if check else context.get("check_at"),
        "verdict": verdict,
        "active_ports": len(active),
    }
    if not enough:
        first["because"] = f"{len(active)} of {least} ports active"
    if dormant:
        first["dormant_ports"] = sorted(_short(dormant))
    more: dict[str, Any] = {
        "at": [first, *_later(drops, flaps, context)],
        "problems": [problem.as_json() for problem in problems],
        "after_operator_clear": "ok" if enough and not (set(drops) - set(dormant)) else "problem",
        "unit_of_rate_gb_sec": "Gb/s",
    }
    if enough and dormant:
        note = f"then the drops of {_span(_short(dormant))} count too"
        more["if_one_required_port_drops"] = {"verdict": "problem", "active_ports": least - 1, "note": note}
    return Reading("ib_port_events", more=more)


def _name(port: Mapping[str, Any]) -> str:
    return f"{port.get('device')}:{port.get('port', 1)}"


def _short(names: Sequence[str]) -> list[str]:
    """Devices without their port where every device has one port."""
    devices = [name.partition(":")[0] for name in names]
    return devices if len(set(devices)) == len(devices) else list(names)


def _span(names: Sequence[str]) -> str:
    """`mlx5_8..11` for a run of numbers, else the names."""
    found = [re.fullmatch(r"(.*?)(\d{1,6})", name) for name in names]
    parts = [(hit.group(1), int(hit.group(2))) for hit in found if hit]
    numbers = sorted(at for _, at in parts)
    whole = len(parts) == len(names) > 2 and len({head for head, _ in parts}) == 1
    if whole and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        return f"{parts[0][0]}{numbers[0]}..{numbers[-1]}"
    return ", ".join(names)


def _standing(events: Sequence[Mapping[str, Any]], kind: str, context: Context) -> list[str]:
    """Ports with an event of a kind that no person has cleared since."""
    cleared = moment(context.get("cleared_by_operator_at"))
    names: list[str] = []
    for event in events:
        at = moment(event.get("Time"))
        old = (
            cleared is not None and at is not None and (at.tzinfo is None) == (cleared.tzinfo is None) and at <= cleared
        )
        name = _name(mapping(event.get("Port")))
        if event.get("EventType") == kind and not old and name not in names:
            names.append(name)
    return names


def _later(drops: Sequence[str], flaps: Sequence[str], context: Context) -> list[dict[str, Any]]:
    """How the same store is read once the ports are back: held, and free a second after the hold-off ends."""
    back, minutes = moment(context.get("all_ports_active_again_at")), number(context.get("hold_off_minutes"))
    if back is None or minutes is None or not drops:
        return []
    end = back + timedelta(minutes=minutes)
    held = {"verdict": "problem", "because": "hold_off"}
    after = {"verdict": "problem", "because": "link_flapping"} if flaps else {"verdict": "ok"}
    return [
        {"time": _z(back + timedelta(seconds=30)), **held},
        {"time": _z(end - timedelta(seconds=1)), **held},
        {"time": _z(end + timedelta(seconds=1)), **after},
    ]


def _z(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
