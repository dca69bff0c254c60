"""lspci: what is there, on which address, on what link. An address without its domain is not an address.

Sticky correctable bits are history without a time. A narrow link is judged against what is declared for the device,
not against the word "downgraded". ACS matters only on the bridges above a GPU or NIC of a declared pair, and only
where it redirects.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Problem, Reading, Text
from fleet.readers.text import decode, lines, mapping, number, sequence

_NN = re.compile(
    r"((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (.*?) \[([0-9a-f]{4})\]: (.*) \[([0-9a-f]{4}):([0-9a-f]{4})\]"
)
_V = re.compile(r"((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([^:]+): (.*)")
_STATUS = re.compile(r"LnkSta:\s+Speed ([\d.]+)GT/s(?: \(\w+\))?, Width x(\d+)")
_NAMED = re.compile(r"Device ([0-9a-f]{4})\b")
_GENERATIONS = {"2.5": "Gen1", "5": "Gen2", "8": "Gen3", "16": "Gen4", "32": "Gen5", "64": "Gen6"}
_REDIRECTS = ("ReqRedir", "CmpltRedir")


@dataclass(slots=True)
class Device:
    """One device as printed."""

    address: str
    kind: str
    name: str
    ident: str | None = None
    speed: str | None = None
    width: int | None = None
    secondary: str | None = None
    redirects: bool = False
    validates: bool = False
    """ACS checks sources here, which redirects nothing"""
    downgraded: bool = False
    embedded: bool = False
    noted: set[str] = field(default_factory=set)


def _group(device: Device) -> str | None:
    """The group that a device is counted in."""
    nvidia = "NVIDIA" in device.name or (device.ident or "").startswith("10de:")
    amd_gpu = (device.ident or "").startswith("1002:") or "Instinct" in device.name
    kind = device.kind.lower()
    if (nvidia or amd_gpu) and (
        "3d controller" in kind or "processing accelerators" in kind or "display" in kind or "vga" in kind
    ):
        return "gpu"
    if nvidia and kind == "bridge":
        return "nvswitch"
    if "infiniband" in kind:
        return "ib_vf" if "Virtual Function" in device.name else "nic"
    if "ethernet" in kind:
        if "Virtual Function" in device.name:
            return "vf"
        return "nic" if "Mellanox" in device.name and not device.embedded else "onboard_nic"
    return "nvme" if "non-volatile memory" in kind else None


def _empty(kind: str, context: Context) -> Reading:
    why = f"empty answer with exit status {context.get('exit_status', 'unknown')}"
    gap = Gap(f"PCI devices of {context.get('node', 'the node')}", "empty_output", why=why)
    return Reading(kind, gaps=(gap,), more={"counts": None, "complete": "unknown"})


def read_nn(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`lspci -nn`."""
    devices: list[Device] = []
    gaps: list[Gap] = []
    for at, line in lines(decode(text)):
        if found := _NN.match(line):
            address, kind, _, name, vendor, ident = found.groups()
            devices.append(Device(address, kind, name, f"{vendor}:{ident}"))
        elif line.strip():
            gaps.append(Gap(f"line {at}", "unparseable_line", line=at))
    if not devices:
        return _empty("lspci_nn", context)
    more, findings = _counted(devices, context)
    if "complete" not in more:
        more["complete"] = "unknown"
    more["unique_bdfs"] = len({device.address for device in devices})
    return Reading("lspci_nn", tuple(findings), tuple(gaps), more=more)


def read_vvv(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`lspci -vvv`."""
    devices: list[Device] = []
    for _, line in lines(decode(text)):
        if line[:1] not in ("\t", " ", ""):
            found = _V.match(line)
            if found:
                devices.append(Device(found.group(1), found.group(2), found.group(3)))
                named = _NAMED.search(found.group(3))
                if named and "NVIDIA" in found.group(3):
                    devices[-1].ident = f"10de:{named.group(1)}"
        elif devices:
            _take(devices[-1], line.strip())
    if not devices:
        return _empty("lspci_vvv", context)
    more, findings = _counted(devices, context)
    groups = {device.address: _group(device) for device in devices}
    more["links"] = {
        device.address: f"{device.speed}GT/s x{device.width}"
        for device in devices
        if groups[device.address] and device.speed is not None
    }
    findings += _links(devices, groups, context)
    harmful = _acs(devices, groups, context)
    more["not_findings"] = _normal(devices, groups, {problem.where for problem in harmful})
    findings += harmful
    return Reading("lspci_vvv", tuple(findings), more=more)


def _take(device: Device, line: str) -> None:
    if found := _STATUS.match(line):
        device.speed, device.width = found.group(1), int(found.group(2)[:4])
        device.downgraded = "downgraded" in line
    elif line.startswith("ACSCtl:"):
        device.redirects = any(f"{word}+" in line for word in _REDIRECTS)
        device.validates = "SrcValid+" in line
    elif found := re.search(r"secondary=([0-9a-f]{2})", line):
        device.secondary = found.group(1)
    elif line.startswith("DeviceName:") and re.search(r"Embedded|Onboard|LOM", line, re.I):
        device.embedded = True
    elif line.startswith(("CESta:", "LaneErrStat:")) and re.search(r"\w\+|lane: \d", line):
        device.noted.add("correctable")
    elif line.startswith("CEMsk:") and "-" not in line:
        device.noted.add("masked")


def _counted(devices: Sequence[Device], context: Context) -> tuple[dict[str, Any], list[Problem]]:
    """Devices by group and, where identities are declared, whether all are there."""
    groups: dict[str, list[str]] = {}
    for device in devices:
        if group := _group(device):
            groups.setdefault(group, []).append(device.address)
    more: dict[str, Any] = {"devices": groups, "counts": {group: len(found) for group, found in groups.items()}}
    findings: list[Problem] = []
    expected = mapping(context.get("expected"))
    for name, wanted in expected.items():
        have = sum(device.ident == name or (":" not in str(name) and str(name) in device.name) for device in devices)
        if isinstance(wanted, int) and have < wanted:
            detail = {"found": have, "expected": wanted}
            findings.append(Problem(str(name), "devices_missing", "node", "look", detail))
    if expected:
        more["complete"] = not findings
    return more, findings


def _links(devices: Sequence[Device], groups: Mapping[str, str | None], context: Context) -> list[Problem]:
    declared = mapping(context.get("expected_gpu_link"))
    speed, width = number(declared.get("speed_gts")), number(declared.get("width"))
    findings: list[Problem] = []
    for device in devices:
        if groups[device.address] != "gpu" or device.width is None or device.speed is None:
            continue
        if width is not None and device.width < width:
            detail = {"found": device.width, "expected": width}
            findings.append(Problem(device.address, "link_width_below_expected", "node", "hands", detail))
        if speed is not None and float(device.speed) < speed:
            detail = {"found": float(device.speed), "expected": speed}
            findings.append(Problem(device.address, "link_speed_below_expected", "node", "hands", detail))
    return findings


def _acs(devices: Sequence[Device], groups: Mapping[str, str | None], context: Context) -> list[Problem]:
    """Bridges right above a GPU or NIC whose ACS redirects what peers send to each other."""
    pairs = [str(address) for pair in sequence(context.get("gpu_nic_pairs")) for address in sequence(pair)]
    wanted = pairs or [address for address, group in groups.items() if group in ("gpu", "nic")]
    buses = {address.rpartition(":")[0].rpartition(":")[2] for address in wanted}
    return [
        Problem(device.address, "acs_redirects_peer_traffic", "config", "change_request")
        for device in devices
        if device.redirects and device.secondary in buses
    ]


def _normal(devices: Sequence[Device], groups: Mapping[str, str | None], harmful: set[str]) -> list[dict[str, str]]:
    """What looks bad and is not: said, so that nobody has to find out again."""
    out: list[dict[str, str]] = []
    gpus = [device for device in devices if groups[device.address] == "gpu"]
    noted = [device for device in gpus if "correctable" in device.noted]
    if noted:
        where = "all GPUs" if len(noted) == len(gpus) else ", ".join(device.address for device in noted)
        everywhere = ", set on every GPU of the type" if len(noted) == len(gpus) else ""
        masked = ", masked by CEMsk" if all("masked" in device.noted for device in noted) else ""
        out.append({"where": where, "what": f"CESta and LaneErrStat bits: sticky{masked}{everywhere}"})
    for device in devices:
        if device.downgraded and groups[device.address] == "onboard_nic":
            out.append({"where": device.address, "what": f"x{device.width} (downgraded): normal for this onboard NIC"})
    switches = [device for device in devices if groups[device.address] == "nvswitch" and device.width is not None]
    if switches and all(not device.downgraded for device in switches):
        generation = _GENERATIONS.get(switches[0].speed or "", f"{switches[0].speed}GT/s")
        where = f"{switches[0].address.partition(':')[0]}..{switches[-1].address}"
        out.append({"where": where, "what": f"{generation} x{switches[0].width} is the capability of the part"})
    nvswitch_buses = {device.address.rpartition(":")[0].rpartition(":")[2] for device in switches}
    above_switches = [d for d in devices if d.redirects and d.address not in harmful and d.secondary in nvswitch_buses]
    for device in devices:
        if device.validates and not device.redirects:
            out.append({"where": device.address, "what": "SrcValid alone redirects nothing"})
    if above_switches:
        where = ", ".join(device.address for device in above_switches)
        out.append({"where": where, "what": "ACS above an NVSwitch is on no GPU-NIC path"})
    return out
