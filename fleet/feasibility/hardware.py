"""The boards, machines and switches of the facts as the model's: free text of data sheets becomes figures, or unknown.

A range counts by its upper end (`10000-11000` W), since a circuit must carry the worst machine; a height that is given
as a range is unknown, since a drawing needs one. Source: `facts/hardware.yaml`, each row with its confidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from fleet import facts
from fleet.model.hardware import Accelerator, Coolant, Nic, NodeModel, SwitchModel

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NICS = re.compile(r"(\d+) x (\d+)\s*G")
_PSUS = re.compile(r"(\d+) (?:x|feeds x) ([\d/]+) W(?:[^,]*), ?(\d)\+(\d)|(\d+) (?:x|feeds x) ([\d/]+) W")
_SHARE = re.compile(r"(\d+)(?:-\d+)? %")
_MIXED_SHARE = 0.85
"""The liquid share of a liquid-cooled machine whose sheet gives none: `GB200 NVL72` says 85 to 90 %."""


@cache
def accelerators() -> Mapping[str, Accelerator]:
    """Boards by name."""
    return {
        row["name"]: Accelerator(
            name=row["name"],
            vendor=row["vendor"],
            memory_gib=_upper(row.get("mem_gib")),
            memory_tbps=_upper(row.get("bw_TBps")),
            power_w=_upper(row.get("tdp_w")),
            coolant=Coolant(row["cooling"]) if "cooling" in row else None,
            confidence=row.get("confidence", ""),
            source=row.get("source", "facts/hardware.yaml"),
        )
        for row in facts.document("hardware")["accelerators"]
    }


@cache
def node_models() -> Mapping[str, NodeModel]:
    """Machines by name; a row for two (`DGX H100 / H200`) stands under each."""
    found: dict[str, NodeModel] = {}
    for row in facts.document("hardware")["servers"]:
        for name, gpu in _names(row):
            found[name] = _machine(name, gpu, row)
    return found


@cache
def switch_models() -> Mapping[str, SwitchModel]:
    """Switches by name; those without cabled ports (NVLink trays) are left out."""
    return {
        row["model"]: SwitchModel(
            name=row["model"],
            ports=int(row["ports"]),
            gbps=float(row["gbps"]),
            units=int(row["u"]) if "u" in row else None,
            protocol=row.get("proto", ""),
            confidence=row.get("confidence", ""),
            source=row.get("source", "facts/hardware.yaml"),
        )
        for row in facts.document("hardware")["switches"]
        if "ports" in row and "gbps" in row
    }


def _names(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The names that a row stands for, each with its board; a board is empty where the row leaves it open."""
    first, *more = [part.strip() for part in str(row["model"]).split(" / ")]
    gpus = [part.strip() for part in str(row.get("gpu", "")).split("/") if part.strip()]
    stem = first.rpartition(" ")[0]
    names = [first, *(f"{stem} {word}" for word in more)]
    for name in names:
        meant = [gpu for gpu in accelerators() if gpu.split("-")[0] == name.rpartition(" ")[2].split("-")[0]]
        yield name, gpus[0] if len(gpus) == 1 else meant[0] if len(meant) >= 1 and not gpus else ""


def _machine(name: str, gpu: str, row: Mapping[str, Any]) -> NodeModel:
    psus, psu_w, needed = _supplies(str(row.get("psu", "")))
    cooling = str(row.get("cooling", ""))
    liquid = re.search(r"liquid|DLC", cooling) is not None and not cooling.startswith("air")
    told = _SHARE.search(cooling)
    height = str(row.get("u", ""))
    return NodeModel(
        name=name,
        units=int(height) if height.isdigit() else None,
        accelerators=int(row["gpus"]),
        accelerator=gpu,
        max_w=_upper(row.get("max_w", row.get("typical_max_w"))),
        psus=psus,
        psus_needed=needed,
        psu_w=psu_w,
        coolant=Coolant.LIQUID if liquid else Coolant.AIR,
        liquid_share=(float(told.group(1)) / 100 if told else _MIXED_SHARE) if liquid else None,
        weight_kg=_upper(row.get("weight_kg")),
        nics=tuple(Nic(int(count), float(gbps)) for count, gbps in _NICS.findall(str(row.get("nics", "")))),
        confidence=str(row.get("confidence", "")),
        source=str(row.get("source", "facts/hardware.yaml")),
    )


def _supplies(text: str) -> tuple[int | None, float | None, int | None]:
    """`6 x 3300 W, 4+2` is six supplies of 3300 W of which four are needed; what isn't said is None."""
    found = _PSUS.search(text)
    if found is None:
        return None, None, None
    count = int(found.group(1) or found.group(5))
    watts = float((found.group(2) or found.group(6)).split("/")[-1])
    return count, watts, int(found.group(3)) if found.group(3) else None


def _upper(value: object) -> float | None:
    """The highest number of a cell: 750, `10000-11000`, `550 (up to 760)`; None where there is none."""
    numbers = [float(number) for number in _NUMBER.findall(str(value))] if value is not None else []
    return max(numbers) if numbers else None
