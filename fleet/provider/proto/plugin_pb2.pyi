from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PluginInfo(_message.Message):
    __slots__ = ("version",)
    VERSION_FIELD_NUMBER: _ClassVar[int]
    version: str
    def __init__(self, version: _Optional[str] = ...) -> None: ...

class PluginDependency(_message.Message):
    __slots__ = ("name", "kind", "version", "server", "checksums")
    class ChecksumsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    CHECKSUMS_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: str
    version: str
    server: str
    checksums: _containers.ScalarMap[str, bytes]
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., version: _Optional[str] = ..., server: _Optional[str] = ..., checksums: _Optional[_Mapping[str, bytes]] = ...) -> None: ...

class PluginAttach(_message.Message):
    __slots__ = ("address",)
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    address: str
    def __init__(self, address: _Optional[str] = ...) -> None: ...

class PackageParameterization(_message.Message):
    __slots__ = ("name", "version", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    value: bytes
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...

class PackageDependency(_message.Message):
    __slots__ = ("name", "kind", "version", "server", "checksums", "parameterization", "extension")
    class ChecksumsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    CHECKSUMS_FIELD_NUMBER: _ClassVar[int]
    PARAMETERIZATION_FIELD_NUMBER: _ClassVar[int]
    EXTENSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: str
    version: str
    server: str
    checksums: _containers.ScalarMap[str, bytes]
    parameterization: PackageParameterization
    extension: PackageParameterization
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., version: _Optional[str] = ..., server: _Optional[str] = ..., checksums: _Optional[_Mapping[str, bytes]] = ..., parameterization: _Optional[_Union[PackageParameterization, _Mapping]] = ..., extension: _Optional[_Union[PackageParameterization, _Mapping]] = ...) -> None: ...

class PackageSpec(_message.Message):
    __slots__ = ("source", "version", "parameters", "checksums", "server")
    class ChecksumsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    CHECKSUMS_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    source: str
    version: str
    parameters: _containers.RepeatedScalarFieldContainer[str]
    checksums: _containers.ScalarMap[str, bytes]
    server: str
    def __init__(self, source: _Optional[str] = ..., version: _Optional[str] = ..., parameters: _Optional[_Iterable[str]] = ..., checksums: _Optional[_Mapping[str, bytes]] = ..., server: _Optional[str] = ...) -> None: ...
