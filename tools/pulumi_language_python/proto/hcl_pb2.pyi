from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DiagnosticSeverity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DIAG_INVALID: _ClassVar[DiagnosticSeverity]
    DIAG_ERROR: _ClassVar[DiagnosticSeverity]
    DIAG_WARNING: _ClassVar[DiagnosticSeverity]
DIAG_INVALID: DiagnosticSeverity
DIAG_ERROR: DiagnosticSeverity
DIAG_WARNING: DiagnosticSeverity

class Pos(_message.Message):
    __slots__ = ("line", "column", "byte")
    LINE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    BYTE_FIELD_NUMBER: _ClassVar[int]
    line: int
    column: int
    byte: int
    def __init__(self, line: _Optional[int] = ..., column: _Optional[int] = ..., byte: _Optional[int] = ...) -> None: ...

class Range(_message.Message):
    __slots__ = ("filename", "start", "end")
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    filename: str
    start: Pos
    end: Pos
    def __init__(self, filename: _Optional[str] = ..., start: _Optional[_Union[Pos, _Mapping]] = ..., end: _Optional[_Union[Pos, _Mapping]] = ...) -> None: ...

class Diagnostic(_message.Message):
    __slots__ = ("severity", "summary", "detail", "subject", "context")
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    severity: DiagnosticSeverity
    summary: str
    detail: str
    subject: Range
    context: Range
    def __init__(self, severity: _Optional[_Union[DiagnosticSeverity, str]] = ..., summary: _Optional[str] = ..., detail: _Optional[str] = ..., subject: _Optional[_Union[Range, _Mapping]] = ..., context: _Optional[_Union[Range, _Mapping]] = ...) -> None: ...
