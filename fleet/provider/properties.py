"""Pulumi's property values as plain Python values, and back.

The engine sends structs whose numbers are all floats; ours are whole. In a preview a value that is not known yet is a
fixed string.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from google.protobuf.struct_pb2 import Struct, Value

Plain: TypeAlias = "str | int | float | bool | list[Plain] | dict[str, Plain] | None"
Properties: TypeAlias = Mapping[str, Plain]

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What the engine writes for a value that is known only after creation (sdk/go/common/resource/plugin/rpc.go)."""


def plain(struct: Struct) -> dict[str, Plain]:
    """A struct of the wire as a dictionary; whole numbers as int."""
    return {key: _value(value) for key, value in struct.fields.items()}


def struct(properties: Properties) -> Struct:
    """A dictionary as a struct of the wire. None values are left out: the engine would show them as changes."""
    from google.protobuf.struct_pb2 import Struct

    made = Struct()
    made.update({key: value for key, value in properties.items() if value is not None})
    return made


def _value(value: Value) -> Plain:
    match value.WhichOneof("kind"):
        case "string_value":
            return str(value.string_value)
        case "number_value":
            number = float(value.number_value)
            return int(number) if number.is_integer() else number
        case "bool_value":
            return bool(value.bool_value)
        case "struct_value":
            return plain(value.struct_value)
        case "list_value":
            return [_value(item) for item in value.list_value.values]
        case _:
            return None
