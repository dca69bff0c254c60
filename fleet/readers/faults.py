"""The one word for a fault, as policy names it: `xid_79`, `ras_uncorrectable`, `amd_de`, `gpu_lost_at_load`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from fleet import facts

RAS_NAMES = {"UE": "ras_uncorrectable", "ATHUB-UE": "ras_athub_fatal", "DE": "ras_deferred", "UMC-CE": "ras_corrected"}
_SXID = re.compile(r"sxid_\d{1,9}")  # of these no vendor publishes a whole table


def fault_of(code: Mapping[str, Any]) -> str:
    """The word for a reader's code, such as `{"xid": 79}`."""
    kind, value = next(iter(code.items()))
    if kind == "amd":
        return RAS_NAMES.get(str(value), re.sub(r"\W+", "_", f"amd_{value}".lower()))
    return str(value) if kind == "event" else re.sub(r"\W+", "_", f"{kind}_{value}".lower())


@cache
def known_faults() -> Mapping[str, str]:
    """Every fault that the tables know, with its meaning."""
    found = {row["fault"]: row["meaning"] for row in facts.table("faults")}
    found.update((fault_of({"xid": row["code"]}), row["meaning"]) for row in facts.table("xid"))
    for row in facts.table("amd_errors"):
        found.setdefault(fault_of({"amd": row["id"]}), row["meaning"])
    return found


def is_known(fault: str) -> bool:
    """Whether anything could ever say this fault."""
    return fault in known_faults() or bool(_SXID.fullmatch(fault))
