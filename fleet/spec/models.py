"""Which machine a node is: the facts' models, a site's own, and what pool, site and node say on top of them.

What the site says holds over what the pool says, that over the model, and what a node says of itself over all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fleet.model.hardware import Accelerator, NodeModel, SwitchModel
from fleet.spec.hardware_file import HardwareFile, ModelFile, ModelsFile
from fleet.spec.problems import did_you_mean
from fleet.spec.reading import SiteReading

PART = "models"

FIELDS = {
    "kind": "kind",
    "units": "units",
    "accelerators": "accelerators",
    "accelerator": "accelerator",
    "power": "max_w",
    "measured": "measured_w",
    "idle": "idle_w",
    "psus": "psus",
    "psus_needed": "psus_needed",
    "psu_power": "psu_w",
    "psu_efficiency": "psu_efficiency",
    "power_factor": "power_factor",
    "inrush": "inrush_a",
    "cooling": "coolant",
    "liquid_share": "liquid_share",
    "weight": "weight_kg",
    "memory": "host_memory_gib",
    "numa": "numa",
    "cxl": "cxl_gib",
    "pcie": "pcie_gBps",
    "price": "price",
}
"""Keys of the files, and the fields of NodeModel that they set."""


@dataclass(slots=True)
class Catalogue:
    """The models that a site may name: those of the facts, and its own."""

    machines: dict[str, NodeModel]
    boards: Mapping[str, Accelerator]
    switches: Mapping[str, SwitchModel]
    _layered: dict[tuple[str, tuple[int, ...]], NodeModel] = field(default_factory=dict)

    def machine(self, name: str | None, *layers: HardwareFile | None) -> NodeModel | None:
        """A model under layers, the strongest last; None where nothing is said of the machine at all."""
        said = tuple(layer for layer in layers if layer is not None)
        base = self.machines.get(name) if name is not None else None
        if base is None and not said:
            return None
        key = (name or "", tuple(map(id, said)))  # the layers live as long as the reading does
        if key not in self._layered:
            found = base or NodeModel(name or "")
            for layer in said:
                found = over(found, layer)
            self._layered[key] = found
        return self._layered[key]


def over(model: NodeModel, layer: HardwareFile) -> NodeModel:
    """A model with what a layer says in place of what it said."""
    said: dict[str, Any] = {
        FIELDS[key]: value
        for key in layer.model_fields_set
        if key in FIELDS and (value := getattr(layer, key)) is not None
    }
    if layer.nics is not None:
        said["nics"] = tuple(nic.as_nic() for nic in layer.nics)
    return replace(model, **said) if said else model


def catalogue(reading: SiteReading, written: ModelsFile | None) -> Catalogue:
    """Everything that a node, a pool or a fabric may name; `like` and `netbox` must lead somewhere."""
    from fleet.feasibility.hardware import accelerators, node_models, switch_models

    found = Catalogue(dict(node_models()), accelerators(), switch_models())
    if written is None:
        return found
    found.boards = {**found.boards, **{name: _board(name, one) for name, one in written.boards.items()}}
    own = {
        name: SwitchModel(name, one.ports, one.speed, one.units, one.power, source="models.yaml")
        for name, one in written.switches.items()
    }
    found.switches = {**found.switches, **own}
    waiting = dict(written.models)
    while waiting:
        ready = [name for name, one in waiting.items() if one.like is None or one.like not in waiting]
        if not ready:
            for name in waiting:
                reading.say(PART, ("models", name, "like"), f"{name} is like itself in the end", "name another model")
            break
        for name in ready:
            found.machines[name] = _machine(reading, found, name, waiting.pop(name))
    return found


def _machine(reading: SiteReading, found: Catalogue, name: str, one: ModelFile) -> NodeModel:
    base = NodeModel(name)
    if one.like is not None:
        known = found.machines.get(one.like)
        if known is None:
            text, near = f"{name}: there is no model '{one.like}'", did_you_mean(one.like, list(found.machines))
            reading.say(PART, ("models", name, "like"), text, near)
        base = known or base
    if one.netbox is not None:
        base = _from_netbox(reading, base, name, one.netbox)
    return replace(over(base, one), name=name, source=one.source or base.source or "models.yaml")


def _from_netbox(reading: SiteReading, base: NodeModel, name: str, file: str) -> NodeModel:
    """What a NetBox device type says of a machine; where its figures contradict each other they stay unknown."""
    from fleet.readers.device_types import read

    path = reading.directory / file
    if Path(file).is_absolute() or ".." in Path(file).parts:
        reading.say(PART, ("models", name, "netbox"), f"{name}: {file} lies outside the inventory", "copy it into it")
        return base
    raw = reading.bytes_of(path)
    if raw is None:
        return base
    facts = read(raw, {}).more
    if facts.get("kind") not in ("server", "other"):
        told = facts.get("kind") or "no device type"
        reading.say(PART, ("models", name, "netbox"), f"{name}: {file} is {told}", "name a device type of a server")
        return base
    power = facts.get("power") or {}
    height, weight = facts.get("u_height"), facts.get("weight_kg")
    return replace(
        base,
        units=int(-(-height // 1)) if height else base.units,
        weight_kg=weight if weight is not None else base.weight_kg,
        max_w=power.get("max_w") if power.get("usable") else base.max_w,
        psus=facts.get("psu_bays") or base.psus,
        source=f"{file} (NetBox device type)",
    )


def _board(name: str, one: Any) -> Accelerator:
    return Accelerator(name, one.vendor, memory_gib=one.memory, power_w=one.power, source=one.source or "models.yaml")
