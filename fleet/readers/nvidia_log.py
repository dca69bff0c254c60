"""NVIDIA's lines in a log: XIDs with their verdicts, and what later lines do to earlier ones (XID 154, resets,
follow-ons).
"""

import re
from typing import Any

from fleet.readers import nvlink5, xid
from fleet.readers.catalogue import Verdict
from fleet.readers.catalogue import xid as verdict_of
from fleet.readers.log_parts import Draft, Log, near
from fleet.readers.records import Record
from fleet.readers.text import mapping, number

_PEERMEM = re.compile(r"nvidia-peermem \w+:\d+ ERROR detected invalid context")
_RESET = re.compile(r"GPU reset executed:\s*(?:(GPU-[0-9a-fA-F-]{36}), success: (true|false))?")
_WITHIN_SECONDS = 60.0


def take(log: Log, record: Record) -> None:
    """One kernel record."""
    text = record.text
    if text.startswith("NVRM: Xid"):
        _take_xid(log, record)
    elif text.startswith("nvidia-peermem"):
        if _PEERMEM.match(text):
            log.add(record, {"event": "peermem_invalid_context"}, None, ("warn", "app", "none"))
    elif text.startswith("NVRM: "):
        _take_other(log, record)


def take_agent(log: Log, record: Record) -> None:
    """A record of an agent that resets GPUs."""
    found = _RESET.match(record.text)
    if not found:
        return
    uuid, success = found.groups()
    if uuid is None:
        log.gap("reset outcome without a GPU", "unparseable_line", line=record.line)
        return
    device = next((address for address, known in log.uuids.items() if known == uuid), uuid)
    earlier = [d for d in log.drafts if d.device == device and "xid" in d.code and d.more.get("state") != "cleared"]
    waiting = [d for d in earlier if d.action in ("reset_gpu", "drain_p2p", "workflow_xid_154") or "then" in d.more]
    roots = [d for d in waiting if "follows" not in d.more]
    if success == "true":
        for draft in waiting:
            draft.action = "none"
            draft.more.pop("then", None)
            draft.more.update(state="cleared", cleared_by={"event": "gpu_reset_succeeded"})
        log.add(record, {"event": "gpu_reset_succeeded"}, device, ("info", "gpu", "none"))
    else:
        for draft in waiting:
            draft.action = "reboot"
            draft.severity = "fault"
            draft.more.update(state="open", decided_by={"event": "gpu_reset_failed"})
        more = {"follows": dict(roots[0].code)} if roots else {}
        log.add(record, {"event": "gpu_reset_failed"}, device, ("fault", "gpu", "reboot"), more=more)
    log.epochs[device] = log.epochs.get(device, 0) + 1


def _take_other(log: Log, record: Record) -> None:
    if found := xid.identity(record.text):
        address, uuid = found
        log.uuids[address] = uuid
        log.fact(address, "uuid", uuid)
    elif version := xid.driver_loaded(record.text):
        log.scratch["driver"] = version
    elif gone := xid.off_the_bus(record.text):
        log.scratch.setdefault("off_the_bus", {}).setdefault(gone, record)
    elif failed := xid.init_failed(record.text):
        address_, first, code = failed
        seen = log.scratch.setdefault("init_failed", set())
        if first or address_ not in seen:
            seen.add(address_)
            detail = {"code": code} if code else {}
            log.add(record, {"event": "gpu_init_failed"}, address_, ("fault", "gpu", "isolate"), detail=detail)
    elif record.text.startswith("NVRM: The NVIDIA GPU "):
        log.scratch["lost"] = record
        _take_lost(log, record, record)
    elif "lost" in log.scratch:
        begun: Record = log.scratch["lost"]
        joined = Record(begun.line, f"{begun.text}\n{record.text}", True, at=begun.at, last_line=record.line)
        log.scratch["lost"] = joined
        _take_lost(log, joined, record)


def _take_lost(log: Log, record: Record, last: Record) -> None:
    """The message of three lines, wrapped in one record or split over three."""
    if found := xid.lost_at_load(record.text):
        address, pci_id = found
        lines = list(range(record.line, max(record.last_line, last.line) + 1))[:8]
        detail = {"pci_id": pci_id, "lines": lines}
        log.add(record, {"event": "gpu_lost_at_load"}, address, ("fault", "gpu", "reboot"), detail=detail)
        log.scratch.pop("lost", None)
    elif record.text.count("\n") > 3:
        log.scratch.pop("lost", None)


def _take_xid(log: Log, record: Record) -> None:
    found = xid.parse(record.text)
    if found is None:
        return
    if found.code is None:
        missing = "a number" if found.device else "a PCI address"
        log.gap(f"XID line without {missing}", "unparseable_line", device=found.device, line=record.line)
        return
    if found.code == 154:
        _take_154(log, record, found)
    elif found.code in nvlink5.CODES:
        _take_nvlink5(log, record, found)
    else:
        verdict = verdict_of(found.code)
        draft = _add(log, record, {"xid": found.code}, found, verdict)
        if found.caused_by is not None:
            draft.more["follows"] = {"xid": found.caused_by}


def _add(log: Log, record: Record, code: dict[str, Any], line: xid.XidLine, verdict: Verdict, **detail: Any) -> Draft:
    more = {"then": verdict.then} if verdict.then else {}
    full = {**line.detail, **detail}
    draft = log.add(
        record, code, line.device, (verdict.severity, verdict.scope, verdict.action), detail=full, more=more
    )
    draft.detail.setdefault("order", draft.order)
    draft.said_by_154 = verdict.said_by_154
    draft.follows_others = verdict.follows_others
    return draft


def _take_nvlink5(log: Log, record: Record, line: xid.XidLine) -> None:
    code = line.code or 0
    decoded = nvlink5.decode(code, line.tail, log.context.get("driver") or log.scratch.get("driver"))
    if decoded is None:
        log.gap(f"unit of XID {code}", "unparseable_line", device=line.device, line=record.line)
        _add(log, record, {"xid": code}, line, Verdict("warn", "gpu", "undetermined"))
        return
    verdict = Verdict(decoded.severity, decoded.scope, decoded.action, None, True, decoded.sympathetic)
    draft = _add(log, record, {"xid": code, "unit": decoded.unit}, line, verdict, **decoded.detail)
    if decoded.fallback:
        draft.more["fallback"] = decoded.fallback
    if decoded.gap == "truncated_line":
        log.gap(f"registers of XID {code}", decoded.gap, device=line.device, line=record.line)
    elif decoded.gap:
        log.gap(f"action of XID {code} {decoded.unit}", decoded.gap, device=line.device)


def _take_154(log: Log, record: Record, line: xid.XidLine) -> None:
    before, to = xid.recovery(line.tail)
    known = xid.RECOVERY.get(to or "")
    severity, scope, action = known or ("warn", "gpu", "contact_support")
    if to is None:
        log.gap("recovery action of XID 154", "truncated_line", device=line.device, line=record.line)
    detail = {"from": before, "to": to}
    more: dict[str, Any] = {}
    if to == "None":
        more["state"] = "cleared"
    if to == "Drain and Reset":
        more["after"] = "drain"
    draft = log.add(record, {"xid": 154}, line.device, (severity, scope, action), detail=detail, more=more, key=to)
    if to == "None":
        _withdraw(log, draft)
    elif known:
        _decide(log, draft)


def _withdraw(log: Log, draft: Draft) -> None:
    """The driver takes back what it asked for: what hung on that demand is cleared."""
    for other in log.drafts:
        said = other.code == {"xid": 154} or other.more.get("decided_by") == {"xid": 154}
        if other is not draft and other.device == draft.device and said and other.more.get("state") != "cleared":
            other.action = "none"
            other.more.update(state="cleared", cleared_by={"xid": 154})
    log.epochs[draft.device] = log.epochs.get(draft.device, 0) + 1


def _decide(log: Log, draft: Draft) -> None:
    """The driver's own verdict outranks the tables for the fault that it followed."""
    causes = [
        other
        for other in log.drafts
        if other.device == draft.device
        and "xid" in other.code
        and other.code["xid"] != 154
        and other.said_by_154
        and other.more.get("state") != "cleared"
        and near(other.last_at, draft.last_at, _WITHIN_SECONDS)
    ]
    causes.sort(key=lambda d: (d.action != "workflow_xid_154", d.severity != "fault", d.order))
    if not causes:
        return
    draft.more["follows"] = dict(causes[0].code)
    for at, cause in enumerate(causes):
        if at == 0 or cause.action == "workflow_xid_154":
            cause.severity, cause.scope, cause.action = draft.severity, draft.scope, draft.action
            cause.more.pop("fallback", None)
            cause.more["decided_by"] = {"xid": 154}
            if "after" in draft.more:
                cause.more["after"] = draft.more["after"]


def finish(log: Log) -> None:
    """What only the whole log can tell."""
    fallen = {draft.device for draft in log.drafts if draft.code == {"xid": 79}}
    for device, record in log.scratch.get("off_the_bus", {}).items():
        if device not in fallen:
            _add(
                log, record, {"xid": 79}, xid.XidLine(device, 79), verdict_of(79), said_by="the text, without a number"
            )
    xids = [draft for draft in log.drafts if "xid" in draft.code]
    for draft in xids:
        if draft.device in log.uuids:
            draft.detail["uuid"] = log.uuids[draft.device]
        if draft.follows_others and "follows" not in draft.more:
            root = next((d for d in xids if _is_root_of(d, draft)), None)
            if root is not None:
                draft.more["follows"] = dict(root.code)
    _peer_check(log, xids)


def _is_root_of(root: Draft, draft: Draft) -> bool:
    same_place = root is not draft and root.device == draft.device and root.code["xid"] != 154
    independent = not root.follows_others or (
        "LINK" in str(root.code.get("unit")) and "LINK" not in str(draft.code.get("unit", "LINK"))
    )
    return same_place and independent and near(root.at, draft.at, _WITHIN_SECONDS)


def _peer_check(log: Log, xids: list[Draft]) -> None:
    """No pair works after the resets: the switch domain is what is broken, and only a reboot is left."""
    check = mapping(log.context.get("peer_check"))
    total, failing = number(check.get("pairs_total")), number(check.get("pairs_failing"))
    if not total or failing != total:
        return
    for draft in xids:
        if draft.code["xid"] in (74, *nvlink5.CODES) and draft.severity == "fault":
            draft.scope, draft.action = "nvswitch_domain", "reboot"
            draft.more["decided_by"] = {"event": "peer_check_failed"}
