"""NIC lines (mlx5) and PCIe AER lines. An address is a NIC only if the kernel says that an mlx5 driver owns it."""

import re
from collections.abc import Mapping
from typing import Any

from fleet.readers.log_parts import Log
from fleet.readers.records import Record
from fleet.readers.text import mapping, pci

Verdict = tuple[str, str, str]
_LOST: Verdict = ("fault", "nic", "isolate")
_WATCH: Verdict = ("warn", "nic", "none")
_MLX5 = re.compile(r"mlx5_core(?: ([0-9a-fA-F]{4}:[0-9a-fA-F:.]+))?(?: \w+)?: ", re.A)
_WATCHDOG = re.compile(r"NETDEV WATCHDOG: (?P<netdev>\S+) \(mlx5_core\): transmit queue (?P<queue>\d+) timed out")
# pattern, code, verdict; named groups become details (digits as numbers)
MESSAGES: tuple[tuple[re.Pattern[str], str, Verdict], ...] = (
    (re.compile(r"wait_func\S*:.*timeout\. Will cause a leak of a command resource"), "cmd_exec_timeout", _LOST),
    (re.compile(r"device's health compromised - reached miss count"), "health_poll_failed", _LOST),
    (re.compile(r"unrecoverable hardware error"), "unrecoverable_hw_error", _LOST),
    (re.compile(r"Detected insufficient power on the PCIe slot \((?P<watts>\d+)W\)"), "slot_power_low", _WATCH),
    (
        re.compile(r"Port module event\[error\]: module (?P<module>\d+), Cable error, High Temp"),
        "module_high_temperature",
        _WATCH,
    ),
    (re.compile(r"Port module event\[error\]: module (?P<module>\d+), Cable error"), "module_cable_error", _WATCH),
    (re.compile(r"Port module event: module (?P<module>\d+), Cable unplugged"), "module_unplugged", _WATCH),
    (re.compile(r"[Hh]igh temperature on sensors"), "high_temperature", _WATCH),
    (re.compile(r"available PCIe bandwidth, limited by"), "pcie_bandwidth_limited", ("warn", "nic", "check_hardware")),
)
_AER_FROM = re.compile(
    r"pcieport \S+: AER: (?:Multiple )?([\w() -]+?) error (?:message )?received (?:from|:)? ?([0-9a-fA-F:.]+)"
)
_AER = re.compile(r"(\S+) ([0-9a-fA-F]{4}:[0-9a-fA-F:.]+): (?:AER: )?PCIe Bus Error: severity=([\w() -]+)")


def take(log: Log, record: Record) -> None:
    """One kernel record."""
    text = record.text
    if text.startswith("mlx5_core"):
        _take_mlx5(log, record)
    elif text.startswith("NETDEV WATCHDOG") and (found := _WATCHDOG.match(text)):
        device = pci(mapping(log.context.get("netdevs")).get(found["netdev"]))
        log.add(record, {"nic": "tx_timeout"}, device, _WATCH, detail=_details(found))
        if device is None:
            log.gap(f"NIC of {found['netdev']}", "identity_unknown", line=record.line)
    elif "AER: " in text or "PCIe Bus Error" in text:
        _take_aer(log, record)


def _details(found: re.Match[str]) -> dict[str, Any]:
    return {key: int(value[:9]) if value.isdigit() else value for key, value in found.groupdict().items()}


def _take_mlx5(log: Log, record: Record) -> None:
    head = _MLX5.match(record.text)
    if not head:
        return
    device = pci(head.group(1))
    owner = _owner(log, device)
    if owner is not None and not owner.startswith("mlx5"):
        return
    for pattern, code, verdict in MESSAGES:
        if found := pattern.search(record.text, head.end()):
            log.add(record, {"nic": code}, device, verdict, detail=_details(found))
            if device is None:
                thing = "unrecoverable hardware error" if code == "unrecoverable_hw_error" else code.replace("_", " ")
                log.gap(f"NIC of the {thing}", "identity_unknown", line=record.line)
            return


def _owner(log: Log, device: str | None) -> str | None:
    drivers: Mapping[str, Any] = mapping(log.context.get("pci_drivers"))
    owner = drivers.get(device) if device else None
    return owner if isinstance(owner, str) else None


def _take_aer(log: Log, record: Record) -> None:
    """The port announces an error of a device and the device prints it: one event, and it belongs to the device."""
    announced: dict[tuple[str, str], int] = log.scratch.setdefault("aer", {})
    if found := _AER_FROM.match(record.text):
        device = pci(found.group(2))
        if device:
            kind = _aer_kind(found.group(1))
            announced[device, kind] = announced.get((device, kind), 0) + 1
            _add_aer(log, record, device, kind, None)
    elif found := _AER.match(record.text):
        device = pci(found.group(2))
        if device is None:
            return
        kind = _aer_kind(found.group(3))
        if announced.get((device, kind), 0):
            announced[device, kind] -= 1
            _rescope(log, device, kind, found.group(1))
        else:
            _add_aer(log, record, device, kind, found.group(1))


def _aer_kind(severity: str) -> str:
    return "aer_correctable" if severity.lower().startswith("correct") else "aer_uncorrectable"


def _aer_scope(log: Log, device: str, driver: str | None) -> str:
    driver = driver or _owner(log, device) or ""
    if driver.startswith(("nvidia", "amdgpu")) or device in log.uuids:
        return "gpu"
    return "nic" if driver.startswith("mlx5") else "node"


def _add_aer(log: Log, record: Record, device: str, kind: str, driver: str | None) -> None:
    severity, action = ("warn", "none") if kind == "aer_correctable" else ("fault", "reboot")
    draft = log.add(record, {"pcie": kind}, device, (severity, "gpu", action))
    draft.scope = _aer_scope(log, device, driver)


def _rescope(log: Log, device: str, kind: str, driver: str) -> None:
    for draft in log.drafts:
        if draft.device == device and draft.code == {"pcie": kind}:
            draft.scope = _aer_scope(log, device, driver)
