"""JSON Schemas for editors: current, complete, and true of every inventory that the project has."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from fleet.spec.schema import SHAPES, _hover, keys, schemas, told

ROOT = Path(__file__).parents[2]
WRITTEN = ROOT / "inventory" / "schema"
INVENTORIES = sorted(path.parent for path in (ROOT / "inventory").rglob("site.yaml") if "broken" not in path.parts)


def test_the_files_are_current() -> None:
    assert {path.stem: path.read_text() for path in WRITTEN.glob("*.json")} == dict(schemas()), (
        "run `fleet check --schema inventory/schema`"
    )


def test_every_key_is_told_of_and_nothing_else_is() -> None:
    found = set(keys())
    assert [each for each in found if not told(*each)] == []
    written = {(shape, key) for shape, lines in _hover().items() if shape != "any" for key in lines}
    assert written - found == set()


@pytest.mark.parametrize("part", SHAPES)
def test_a_schema_is_one(part: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schemas()[part]))


@pytest.mark.parametrize("site", INVENTORIES, ids=[path.name for path in INVENTORIES])
def test_an_inventory_is_as_its_schema_says(site: Path) -> None:
    for part in SHAPES:
        schema = json.loads(schemas()[part])
        paths = [site / f"{part}.yaml", *(site / part).glob("*.yaml")] if part != "release" else []
        for path in (each for each in paths if each.is_file()):
            jsonschema.validate(yaml.safe_load(path.read_text()), schema)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("racks", "racks: {r1: {powr: 40 kW}}"),
        ("racks", "racks: {r1: {power: 40}}"),
        ("racks", "racks: {r1: {redundancy: 3N}}"),
        ("nodes", "nodes: {n1: {rack: r1}}"),
        ("policy", "policies: {default: {drain: {how: never}}}"),
    ],
)
def test_a_mistake_is_red(part: str, text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text), json.loads(schemas()[part]))


def test_editors_are_told_which_file_is_which() -> None:
    settings = json.loads((ROOT / ".vscode" / "settings.json").read_text())
    assert set(settings["yaml.schemas"]) == {f"./inventory/schema/{part}.json" for part in SHAPES}
