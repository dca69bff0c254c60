"""JSON Schemas of the inventory's files, for editors: completion, hover and red lines while one types."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic import BaseModel

from fleet.spec.burst_file import BurstsFile
from fleet.spec.files import ManifestFile, PoliciesFile, PoolsFile, SiteFile
from fleet.spec.hardware_file import ModelsFile
from fleet.spec.nodes_file import NodesFile
from fleet.spec.plant_file import RacksFile

SHAPES: Mapping[str, type[BaseModel]] = {
    "site": SiteFile,
    "racks": RacksFile,
    "pools": PoolsFile,
    "nodes": NodesFile,
    "policy": PoliciesFile,
    "models": ModelsFile,
    "burst": BurstsFile,
    "release": ManifestFile,
}
"""What each part of an inventory is checked against when it is loaded."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> Mapping[str, str]:
    """The text of each schema by the name of its part; the same each time."""
    return {name: _text(name, model) for name, model in SHAPES.items()}


def _text(name: str, model: type[BaseModel]) -> str:
    found = model.model_json_schema(mode="validation")
    for shape, each in {**found.get("$defs", {}), model.__name__: found}.items():
        for key, value in each.get("properties", {}).items():
            value.setdefault("description", told(shape, key))
    whole = {"$schema": DIALECT, **_lenient(found), "title": f"{name}.yaml of a fleet inventory"}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


@cache
def _hover() -> Mapping[str, Mapping[str, str]]:
    text = files(__package__).joinpath("hover.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, str]] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return found


def told(shape: str, key: str) -> str:
    """What hover.yaml says of a key; empty where it says nothing."""
    return _hover().get(shape, {}).get(key) or _hover()["any"].get(key, "")


def keys() -> Iterator[tuple[str, str]]:
    """Every shape with each of its keys."""
    for model in SHAPES.values():
        found = model.model_json_schema(mode="validation")
        for shape, each in {**found.get("$defs", {}), model.__name__: found}.items():
            yield from ((shape, key) for key in each.get("properties", {}))


def _lenient(found: Any) -> Any:
    """Texts may look like numbers in YAML (`serial: 4711`, `cuda: 12.8`); to the loader they are what is written."""
    if isinstance(found, list):
        return [_lenient(each) for each in found]
    if not isinstance(found, dict):
        return found
    kept = {key: _lenient(value) for key, value in found.items() if key not in ("default", "title")}
    if kept.get("type") == "string" and not {"enum", "const", "format"} & set(kept):
        kept["type"] = ["string", "number"]
    if "description" in kept and isinstance(kept["description"], str):
        kept["description"] = " ".join(kept["description"].split())
    return kept
