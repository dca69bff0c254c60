from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Alias(_message.Message):
    __slots__ = ("urn", "spec")
    class Spec(_message.Message):
        __slots__ = ("name", "type", "stack", "project", "parentUrn", "noParent")
        NAME_FIELD_NUMBER: _ClassVar[int]
        TYPE_FIELD_NUMBER: _ClassVar[int]
        STACK_FIELD_NUMBER: _ClassVar[int]
        PROJECT_FIELD_NUMBER: _ClassVar[int]
        PARENTURN_FIELD_NUMBER: _ClassVar[int]
        NOPARENT_FIELD_NUMBER: _ClassVar[int]
        name: str
        type: str
        stack: str
        project: str
        parentUrn: str
        noParent: bool
        def __init__(self, name: _Optional[str] = ..., type: _Optional[str] = ..., stack: _Optional[str] = ..., project: _Optional[str] = ..., parentUrn: _Optional[str] = ..., noParent: _Optional[bool] = ...) -> None: ...
    URN_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    urn: str
    spec: Alias.Spec
    def __init__(self, urn: _Optional[str] = ..., spec: _Optional[_Union[Alias.Spec, _Mapping]] = ...) -> None: ...
