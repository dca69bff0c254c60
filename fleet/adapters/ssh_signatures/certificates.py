"""The certificate of a retirement: what was really done to a machine's data and access, signed.

A file of canonical JSON and a detached SSH signature beside it. What was not proven is not certified: each disk must
have been read back, and the grade of the whole is the lowest of its disks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fleet.adapters.ssh_signatures.signing import put, sign
from fleet.errors import Untrusted
from fleet.model.ids import Verb
from fleet.model.order import Result, WorkOrder
from fleet.model.topology import DeclaredNode
from fleet.model.trail import TrailEntry
from fleet.spec.signature import CERTIFICATE, verify

SCHEMA = 1
GRADES = ("clear", "purge", "destroy")
_REQUIRED = ("node", "serial", "order", "disks", "grade", "revoked", "powered_off", "times", "trail")
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_AGAIN = "the retirement goes on once the step was done and proven"


@dataclass(frozen=True, slots=True)
class Certified:
    """A certificate that holds: who signed it, and what it says."""

    signer: str
    certificate: Mapping[str, Any]


def contents(
    node: DeclaredNode,
    order: WorkOrder,
    entries: Sequence[TrailEntry],
    head: tuple[int, str],
    at: datetime,
) -> Mapping[str, Any]:
    """What a certificate says, from the trail of the retirement's order; raises Untrusted where a proof is missing."""
    wiped = _last(node, order, entries, Verb.WIPE)
    revoked = _last(node, order, entries, Verb.REVOKE)
    off = _last(node, order, entries, Verb.POWER_OFF)
    disks = _disks(node, wiped)
    known = [grade for grade in GRADES if any(disk.get("grade") == grade for disk in disks)]
    return {
        "schema": SCHEMA,
        "kind": "retirement",
        "node": str(node.id),
        "serial": node.serial,
        "order": str(order.id),
        "confirmed_by": order.confirmed_by,
        "disks": disks,
        "grade": known[0] if known else "",
        "revoked": {"detail": revoked.why, "shown": revoked.detail.get("shown", {})},
        "powered_off": True,
        "times": {
            "opened": _text(order.opened),
            "wiped": _text(wiped.at),
            "revoked": _text(revoked.at),
            "powered_off": _text(off.at),
            "certified": _text(at),
        },
        "trail": {"seq": head[0], "hash": head[1]},
    }


def write(certificate: Mapping[str, Any], key: Path, directory: Path) -> Path:
    """Signs a certificate and puts it in place, the signature first; gives the place of the JSON file."""
    checked(certificate)
    name = f"{certificate['node']}-{certificate['order']}"
    if not _SAFE.fullmatch(name):
        raise Untrusted(f"certificate of {certificate['node']}", f"{name!r} can't name a file", "rename the node")
    data = json.dumps(certificate, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    path = directory / f"{name}.json"
    path.unlink(missing_ok=True)  # never an older text beside a newer signature
    put(path.with_name(path.name + ".sig"), sign(data, key, CERTIFICATE))
    return put(path, data)


def verify_certificate(path: Path, signers: Path) -> Certified:
    """Checks a certificate offline: its signature, its shape and its proofs; raises Untrusted."""
    try:
        data = path.read_bytes()
        signature = path.with_name(path.name + ".sig").read_bytes()
        allowed = signers.read_bytes()
    except OSError as error:
        raise Untrusted(
            f"{error.filename}", error.strerror or "it can't be read", "certificate, .sig and signers belong together"
        ) from error
    try:
        signer = verify(data, signature, allowed, CERTIFICATE)[0]
    except Untrusted as error:
        raise Untrusted(f"{path}: the certificate does not hold", error.cause, error.next_step) from error
    try:
        found = json.loads(data)
    except ValueError as error:
        raise Untrusted(f"{path}: the certificate does not hold", "it is no JSON", "ask for the original") from error
    if not isinstance(found, dict):
        raise Untrusted(f"{path}: the certificate does not hold", "it is no JSON object", "ask for the original")
    checked(found)
    return Certified(signer, found)


def checked(certificate: Mapping[str, Any]) -> None:
    """Raises Untrusted unless a certificate claims no more than was proven."""
    thing = f"certificate of {certificate.get('node') or 'a node without a name'}"
    missing = [key for key in _REQUIRED if key not in certificate or certificate[key] in ("", None)]
    if missing:
        raise Untrusted(thing, f"it does not say {', '.join(missing)}", _AGAIN)
    disks = certificate["disks"]
    if not isinstance(disks, list | tuple) or not disks:
        raise Untrusted(thing, "it names no disk; a wipe of nothing proves nothing", _AGAIN)
    for disk in disks:
        _check_disk(thing, disk)
    lowest = min(GRADES.index(disk["grade"]) for disk in disks)
    if certificate["grade"] not in GRADES or GRADES.index(certificate["grade"]) > lowest:
        raise Untrusted(thing, f"it claims {certificate['grade']}, and {GRADES[lowest]} was done", _AGAIN)
    if certificate["powered_off"] is not True:
        raise Untrusted(thing, "the machine was not seen off", _AGAIN)
    if not certificate["revoked"]:
        raise Untrusted(thing, "nothing was revoked", _AGAIN)


def _check_disk(thing: str, disk: object) -> None:
    if not isinstance(disk, Mapping):
        raise Untrusted(thing, f"{disk!r} is no disk", _AGAIN)
    name = disk.get("disk", "a disk without a name")
    seen = disk.get("verification")
    samples = seen.get("samples") if isinstance(seen, Mapping) else None
    bad = seen.get("bad") if isinstance(seen, Mapping) else None
    if disk.get("verified") is not True or not isinstance(samples, int) or samples < 1 or bad != 0:
        raise Untrusted(thing, f"{name} was not read back as wiped", _AGAIN)
    if not disk.get("method") or disk.get("grade") not in GRADES:
        raise Untrusted(thing, f"{name} has no method or no grade", _AGAIN)


def _disks(node: DeclaredNode, wiped: TrailEntry) -> list[dict[str, Any]]:
    shown = wiped.detail.get("shown")
    text = shown.get("wipe", "") if isinstance(shown, Mapping) else ""
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        found = None
    if not isinstance(found, list) or not all(isinstance(disk, dict) for disk in found):
        raise Untrusted(f"certificate of {node.id}", "the wipe left no report of its disks", _AGAIN)
    return found


def _last(node: DeclaredNode, order: WorkOrder, entries: Sequence[TrailEntry], verb: Verb) -> TrailEntry:
    """The trail's entry of the last successful end of a verb under this order."""
    for entry in reversed(entries):
        told = entry.detail
        if entry.order == order.id and entry.what == "step ended" and told.get("verb") == verb:
            if told.get("result") == Result.DONE:
                return entry
            break
    raise Untrusted(f"certificate of {node.id}", f"{verb} of order {order.id} was not done", _AGAIN)


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
