"""NVIDIA driver lines: XID, "GPU at PCI", GPUs that are gone while the driver loads, adapters that do not
initialise.

A process chooses the 15 characters of its name, so the number is read at its place in the line and never searched
for, and the end of the name is found by the known beginnings of what follows it.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from fleet.readers.text import pci, printable

_HEAD = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?)\): ?")
_CODE = re.compile(r"(\d{1,9})(?=,|\s|$)(.*)", re.S)
_PID = re.compile(r"\s*,?\s*pid='?(<unknown>|\d+)'?")
_NAME = re.compile(r", name=")
_TAIL = re.compile(
    r", (?=Graphics |Ch [0-9a-fA-F]{8}|Channel ID |Class Error|Contained:|Uncontained:|NVLink:|GPU has fallen|"
    r"Row Remapper|"
    r"MMU Fault|GPU recovery action|DBE |Timeout |Ctx|errorString|L1:|"
    r"[A-Z][A-Z0-9_ ]{1,40} (?:Fatal|Nonfatal|Non-fatal) )"
)
_GPU_AT = re.compile(r"NVRM: GPU at (?:PCI:)?([0-9a-fA-F:.]+): (GPU-[0-9a-fA-F-]{36})")
_LOST = re.compile(
    r"NVRM: The NVIDIA GPU ([0-9a-fA-F:.]+)\s+(?:NVRM: )?\(PCI ID: ([0-9a-fA-F:]+)\).*fallen off the bus", re.S
)
_LOADED = re.compile(r"NVRM: loading NVIDIA UNIX .*?  (\d{3}\.[\d.]+)  ")
_OFF_THE_BUS = re.compile(r"NVRM: GPU ([0-9a-fA-F:.]+): GPU has fallen off the bus")
_INIT = re.compile(r"NVRM: GPU ([0-9a-fA-F:.]+): (RmInitAdapter|rm_init_adapter) failed[!,]?\s*(?:\((0x[^)]*)\))?")
_WARP = re.compile(r"\(GPC (\d+), TPC (\d+), SM (\d+)\)")
_LINK = re.compile(r"on link (\d+) ?\(([^)]*)\)")
_CAUSED_BY = re.compile(r"(?:caused by|due to) (?:previous )?Xid (\d+)", re.I)
_LAST_PARENTHESIS = re.compile(r"\(([^()]*)\)\s*$")
_FROM = re.compile(r"from 0x[0-9a-fA-F]+ \(([^()]*)\) to ")
_LONGEST = 4096
RECOVERY = {
    "None": ("info", "gpu", "none"),
    "GPU Reset Required": ("fault", "gpu", "reset_gpu"),
    "Node Reboot Required": ("fault", "node", "reboot"),
    "Drain P2P": ("fault", "gpu", "drain_p2p"),
    "Drain and Reset": ("fault", "gpu", "reset_gpu"),
}


@dataclass(frozen=True, slots=True)
class XidLine:
    """One XID line. `code` is None where no number stands; `device` None where no address stands."""

    device: str | None
    code: int | None
    tail: str = ""
    detail: dict[str, Any] = field(default_factory=dict)
    caused_by: int | None = None


def parse(text: str) -> XidLine | None:
    """The XID line in a kernel message, None if it is none."""
    if not text.startswith("NVRM: Xid"):
        return None
    head = _HEAD.match(text)
    if head is None:
        return XidLine(None, None)
    device = pci(head.group(1))
    code = _CODE.match(text[head.end() :])
    if code is None:
        return XidLine(device, None)
    detail: dict[str, Any] = {}
    rest = code.group(2)[:_LONGEST].replace("\n", " ")
    pid = _PID.match(rest)
    if pid:
        detail["pid"] = None if pid.group(1) == "<unknown>" else int(pid.group(1)[:12])
        detail["process"] = None
        rest = rest[pid.end() :]
        if name := _NAME.match(rest):
            rest = rest[name.end() :]
            tail = _TAIL.search(rest)
            end = tail.start() if tail else rest.find(", ") if ", " in rest else len(rest)
            detail["process"] = None if rest[:end] == "<unknown>" else printable(rest[:end])[:32]
            rest = rest[end:]
    tail_text = rest.lstrip(", ")
    number = int(code.group(1))
    detail.update(_detail(number, tail_text))
    by = _CAUSED_BY.search(tail_text) if number == 45 else None
    return XidLine(device, number, tail_text, detail, int(by.group(1)) if by else None)


def _detail(code: int, tail: str) -> dict[str, Any]:
    if code == 13 and (found := _WARP.search(tail)):
        return dict(zip(("gpc", "tpc", "sm"), map(int, found.groups()), strict=True))
    if code == 74 and (found := _LINK.search(tail)):
        words = re.findall(r"0x[0-9a-fA-F]{1,8}", found.group(2))
        registers = [int(word, 16) for word in words]
        return {"link": int(found.group(1)), "registers": registers, **_nvlink_hint(registers)}
    return {}


def _nvlink_hint(registers: list[int]) -> dict[str, str]:
    """What the first register of XID 74 names (see the row of 74 in xid.csv)."""
    first = registers[0] if registers else 0
    for bits, hint in (((4, 5), "ecc_parity"), ((21, 22), "signal_integrity"), ((0, 23, 30), "harmless")):
        if any(first >> bit & 1 for bit in bits):
            return {"hint": hint}
    return {}


def recovery(tail: str) -> tuple[str | None, str | None]:
    """From and to of an XID 154: the last parenthesis is the verdict, whatever stands before it."""
    to = _LAST_PARENTHESIS.search(tail)
    before = _FROM.search(tail)
    return before.group(1) if before else None, to.group(1).strip() if to and before else None


def identity(text: str) -> tuple[str, str] | None:
    """Address and UUID of a "GPU at PCI" line."""
    found = _GPU_AT.match(text)
    address = pci(found.group(1)) if found else None
    return (address, found.group(2)) if found and address else None


def driver_loaded(text: str) -> str | None:
    """The version of a driver that says that it is loading."""
    found = _LOADED.match(text)
    return found.group(1) if found else None


def off_the_bus(text: str) -> str | None:
    """The address of a GPU in the line that stands beside an XID 79, and sometimes alone."""
    found = _OFF_THE_BUS.match(text)
    return pci(found.group(1)) if found else None


def lost_at_load(text: str) -> tuple[str | None, str] | None:
    """Address and PCI id of a GPU that is gone while the driver loads, which is said without any XID."""
    found = _LOST.match(text)
    return (pci(found.group(1)), found.group(2).lower()) if found else None


def init_failed(text: str) -> tuple[str | None, bool, str | None] | None:
    """Address, whether this is the first message of the pair, and the code of an adapter that did not initialise."""
    found = _INIT.match(text)
    return (pci(found.group(1)), found.group(2) == "RmInitAdapter", found.group(3)) if found else None
