"""The provider's schema, as `pulumi package get-schema` asks for it; drawn from the resources."""

from __future__ import annotations

import json
from collections.abc import Mapping

from fleet.provider import node, pool, rack, site
from fleet.provider.declaration import Declaration
from fleet.provider.settings import CONFIG_KEYS

_TYPES: Mapping[object, dict[str, object]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    list: {"type": "array", "items": {"type": "string"}},
}
_NODE_SHOWS = {
    "power": {"type": "string", "description": "on or off, as the BMC says"},
    "hostKey": {"type": "string", "description": "the SSH host key pinned at enrolment"},
    "enrolled": {"type": "boolean", "description": "whether the ledger knows the node"},
}


def schema(version: str, site_declaration: Declaration) -> str:
    """The schema as JSON."""
    plain = {rack.TYPE: rack.RACK, pool.TYPE: pool.POOL, site.TYPE: site_declaration}
    resources = {token: _resource(each.shape, each.optional, {}) for token, each in plain.items()}
    resources[node.TYPE] = _resource(node.SHAPE, node.OPTIONAL, _NODE_SHOWS)
    config = {
        key: {"type": "number" if key == "bootSeconds" else "string", "description": why}
        for key, why in CONFIG_KEYS.items()
    }
    return json.dumps(
        {"name": "fleet", "version": version, "config": {"variables": config}, "resources": resources}, sort_keys=True
    )


def _resource(
    shape: Mapping[str, object], optional: frozenset[str], shows: dict[str, dict[str, str]]
) -> dict[str, object]:
    inputs = {name: _TYPES[kind] for name, kind in shape.items()}
    required = [name for name in inputs if name not in optional]
    return {
        "inputProperties": inputs,
        "requiredInputs": required,
        "properties": {**inputs, **shows},
        "required": required,
    }
