"""amdgpu's lines and the platform's, by the patterns of `amd_errors.csv`, put together into stories.

One upset prints many lines: the kernel numbers RAS events (`{2}`), the driver climbs a ladder of its own resets,
several GPUs dump registers for the fault of one. The end state counts, not the worst line: a reset that succeeded
outranks what led to it.
"""

import re
from typing import Any

from fleet.readers import catalogue
from fleet.readers.log_parts import Draft, Log
from fleet.readers.records import Record
from fleet.readers.text import pci, printable, sequence

_DEVICE = re.compile(
    r"amdgpu ([0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]): (?:amdgpu: )?(?:\[drm\] )?(?:\{(\d+)\})?"
)
_BLOCK = re.compile(r"\{(\d+)\}\[Hardware Error\]:\s*(.*)")
_OTHER_DEVICE = re.compile(r"device=([0-9a-fA-F:]*[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])|pcieport ([0-9a-fA-F:.]+):")
_ACA_STATUS = re.compile(r"(?:aca entry\[\d+\]|ACA\[\d+/\d+\])\.STATUS=0x([0-9a-fA-F]{1,16})")
_RING_RESET_FAILED = re.compile(r"Ring (\S+) reset failed")
_METHOD = re.compile(r"(MODE\d|BACO|PCI CONFIG|LINK) reset", re.I)
_PROCESS = re.compile(r"(?:Process|process)(?: information: process)? (\S+) pid (\d+)")
_DETAIL: dict[str, tuple[re.Pattern[str], tuple[str, ...]]] = {
    "POISON-K": (re.compile(r"client (\d+)"), ("client",)),
    "BADPAGE": (re.compile(r"bad pages (\d+) reaches threshold value (\d+)"), ("pages", "threshold")),
    "RING-TIMEOUT": (re.compile(r"ring (\S+) timeout"), ("ring",)),
    "UMC-CE": (re.compile(r"(\d+) correctable hardware errors detected in total in (\w+)"), ("total", "block")),
    "UE": (re.compile(r"(\d+) uncorrectable hardware errors detected in (\w+)"), ("errors", "block")),
    "DE": (re.compile(r"(\d+) deferred hardware errors detected in (\w+)"), ("errors", "block")),
}
_ANYONE = ("platform", "pcie")
_UNCORRECTED, _DEFERRED = 1 << 61, 1 << 44
_OUTCOMES = ("RESET-OK", "RESET-FAIL", "MODE2-FAIL")


def take(log: Log, record: Record) -> None:
    """One kernel record that is not NVIDIA's."""
    text = record.text
    if block := _BLOCK.match(text):
        _take_platform(log, record, block.group(1), block.group(2))
        return
    head = _DEVICE.match(text)
    device = pci(head.group(1)) if head else None
    event = head.group(2) if head else None
    ours = head is not None or text.startswith(("amdgpu", "[drm", "kfd"))
    if status := _ACA_STATUS.search(text):
        _take_status(log, device, event, int(status.group(1), 16))
    elif ours and (found := _RING_RESET_FAILED.search(text)):
        _take_event(log, record, device, "ring_reset_failed", {"ring": found.group(1)})
    elif ours and "fault" not in text and (found := _PROCESS.search(text)) and (blamed := _blamed(log, device)):
        blamed.detail.setdefault("process", printable(found.group(1))[:32])
        blamed.detail.setdefault("pid", int(found.group(2)[:12]))
    else:
        if ours and (method := _METHOD.search(text)):
            log.scratch.setdefault("method", {})[device] = method.group(1).upper()
        _take_row(log, record, device, event, ours)


def _take_row(log: Log, record: Record, device: str | None, event: str | None, ours: bool) -> None:
    text = record.text
    for code, pattern, category in catalogue.amd_patterns():
        if not (ours or category in _ANYONE or code == "OOM") or not pattern.search(text):
            continue
        if code.startswith("MCE") and (ours or "[Hardware Error]" not in text[:40]):
            continue
        if code == "MES" and _root(log, device) is not None:
            _take_event(log, record, device, "mes_not_responding", {})
        else:
            _take_code(log, record, device, event, code)
        return


def _take_code(log: Log, record: Record, device: str | None, event: str | None, code: str) -> None:
    verdict = catalogue.amd(code)
    if device is None and (other := _OTHER_DEVICE.search(record.text)):
        device = pci(other.group(1) or other.group(2))
    scope = verdict.scope
    if code == "IOPF" and device in [pci(bdf) for bdf in sequence(log.context.get("gpu_bdfs"))]:
        scope = "gpu"
    if record.text.startswith("pcieport") and scope == "gpu":
        scope = "node"  # what hangs below the port may be a NIC
    if code == "RESET-BEGIN" and _last(log, device, "RESET-BEGIN"):
        return
    draft = log.add(
        record,
        {"amd": code},
        device,
        (verdict.severity, scope, verdict.action),
        detail=_details(code, record.text),
        key=event if code == "ACA" else None,
    )
    draft.more.setdefault("event", event)
    story = _story(log, device)
    if code in _OUTCOMES:
        _outcome(log, device, draft, code)
    elif draft not in story:
        story.append(draft)


def _details(code: str, text: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if code in _DETAIL:
        pattern, names = _DETAIL[code]
        if found := pattern.search(text):
            for name, value in zip(names, found.groups(), strict=True):
                out[name] = int(value[:12]) if value.isdigit() else printable(value)[:32].rstrip(",")
    if code == "PAGEFAULT" and (found := _PROCESS.search(text)):
        out.update(process=printable(found.group(1))[:32], pid=int(found.group(2)[:12]))
    return out


def _story(log: Log, device: str | None) -> list[Draft]:
    stories: dict[str | None, list[Draft]] = log.scratch.setdefault("amd", {})
    return stories.setdefault(device, [])


def _last(log: Log, device: str | None, code: str) -> Draft | None:
    return next((d for d in reversed(_story(log, device)) if d.code == {"amd": code}), None)


def _blamed(log: Log, device: str | None) -> Draft | None:
    """The finding that a line naming a process speaks of."""
    return next((d for d in reversed(_story(log, device)) if d.code.get("amd") in ("RING-TIMEOUT", "PAGEFAULT")), None)


def _root(log: Log, device: str | None) -> Draft | None:
    """The cause in the open story of a device: its first fault that is not itself a step of the reset."""
    return next(
        (d for d in _story(log, device) if d.severity == "fault" and d.code.get("amd") not in (None, "RESET-BEGIN")),
        None,
    )


def _take_event(log: Log, record: Record, device: str | None, event: str, detail: dict[str, Any]) -> None:
    root = _root(log, device)
    verdict = ("warn", "gpu", "none") if root else ("fault", "gpu", "reset_gpu")
    more = {"follows": dict(root.code)} if root else {}
    draft = log.add(record, {"event": event}, device, verdict, detail=detail, more=more)
    if draft not in _story(log, device):
        _story(log, device).append(draft)


def _outcome(log: Log, device: str | None, draft: Draft, code: str) -> None:
    """The driver's reset ended: what led to it is recovered, or wants a reboot."""
    story, root = _story(log, device), _root(log, device)
    if code == "MODE2-FAIL":
        story.append(draft)
        return
    if code == "RESET-OK":
        method = log.scratch.get("method", {}).get(device)
        if method:
            draft.detail["method"] = method
        steps = [d for d in story if d is not root] + ([draft] if root else [])
        for step in steps:
            step.severity, step.action = "info", "none"
    if root is not None and code == "RESET-OK":
        if catalogue.amd(str(root.code["amd"])).scope == "gpu" and root.code["amd"] in _driver_codes():
            root.severity = "warn"
        root.scope, root.action = "app", "restart_app"
        root.more.update(state="recovered", cleared_by={"amd": code})
    elif root is not None:
        root.severity, root.action = "fault", "reboot"
        root.more["decided_by"] = {"amd": code}
        for step in story:
            if step.code == {"amd": "RESET-BEGIN"}:
                step.severity = "warn"
    for step in [d for d in story if d is not root] + [draft]:
        if root is not None:
            step.more["follows"] = dict(root.code)
        step.more["ended"] = True
    story.clear()
    log.epochs[device] = log.epochs.get(device, 0) + 1


def _driver_codes() -> frozenset[str]:
    return frozenset(code for code, _, category in catalogue.amd_patterns() if category == "driver")


def _take_status(log: Log, device: str | None, event: str | None, status: int) -> None:
    for draft in log.drafts:
        if draft.code == {"amd": "ACA"} and draft.device == device and draft.more.get("event") == event:
            draft.detail["uncorrected"] = bool(status & _UNCORRECTED) or draft.detail.get("uncorrected", False)
            draft.detail["deferred"] = bool(status & _DEFERRED) or draft.detail.get("deferred", False)


def _take_platform(log: Log, record: Record, event: str, text: str) -> None:
    """A numbered block without a device in front: the platform's own record (APEI)."""
    blocks: dict[str, Draft] = log.scratch.setdefault("apei", {})
    if re.match(r"Hardware error from APEI Generic Hardware Error Source", text):
        verdict = catalogue.amd("APEI")
        draft = log.add(
            record, {"amd": "APEI"}, None, (verdict.severity, verdict.scope, verdict.action), key=record.line
        )
        blocks[event] = draft
        return
    block = blocks.get(event)
    if block is None:
        return
    if found := re.match(r"event severity: (\w+)", text):
        block.detail["severity"] = found.group(1)
        if found.group(1) == "corrected":
            block.severity, block.action = "warn", "none"
    elif found := re.match(r"port_type: \d+, (.+)", text):
        block.detail["port_type"] = found.group(1).strip()
    elif (found := re.match(r"device_id: ([0-9a-fA-F]{4}:[0-9a-fA-F:.]+)\s*$", text)) and block.device is None:
        block.device = pci(found.group(1))
    elif found := re.match(r"secondary_bus: (0x[0-9a-fA-F]+)", text):
        block.detail["secondary_bus"] = found.group(1)
    elif found := re.match(r"section_type: (.+)", text):
        block.detail["section"] = found.group(1).strip()


def finish(log: Log) -> None:
    """What only the whole log can tell."""
    amd = [draft for draft in log.drafts if "amd" in draft.code]
    culprits = [d for d in amd if d.code == {"amd": "ATHUB-UE"}]
    consumed = {d.device for d in amd if d.code == {"amd": "POISON-K"}}
    for draft in amd:
        code = draft.code["amd"]
        if code == "ACA":
            _finish_aca(draft, culprits)
        elif code == "POISON-C" and draft.device in consumed:
            draft.more["follows"] = {"amd": "POISON-K"}
        elif code == "RESET-BEGIN" and not draft.more.get("ended"):
            root = next((d for d in amd if d.device == draft.device and d.severity == "fault" and d is not draft), None)
            if root is not None:
                draft.severity = "warn"
                draft.more["follows"] = dict(root.code)
            log.gap("outcome of the GPU reset", "not_reported", device=draft.device)
    for draft in log.drafts:
        draft.more.pop("event", None)
        draft.more.pop("ended", None)


def _finish_aca(draft: Draft, culprits: list[Draft]) -> None:
    event = draft.more.get("event")
    tied = next((c for c in culprits if event is not None and c.more.get("event") == event), None)
    if tied is not None:
        draft.severity, draft.action = "info", "none"
        draft.more["follows"] = dict(tied.code)
    elif draft.detail.get("deferred") and not draft.detail.get("uncorrected"):
        draft.action = "restart_app"
    elif draft.detail.get("uncorrected") is False:
        draft.severity, draft.action = "warn", "none"
