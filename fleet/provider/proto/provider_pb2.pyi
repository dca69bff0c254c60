from . import alias_pb2 as _alias_pb2
from . import plugin_pb2 as _plugin_pb2
from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ProviderHandshakeRequest(_message.Message):
    __slots__ = ("engine_address", "root_directory", "program_directory", "configure_with_urn", "supports_views", "supports_refresh_before_update", "invoke_with_preview", "mapper_target", "loader_target", "resolver_target", "accepts_byte_string", "sends_old_outputs_to_check", "accepts_outputs_in_invoke", "accepts_outputs_in_call", "accepts_outputs_in_check")
    ENGINE_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    ROOT_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    CONFIGURE_WITH_URN_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_VIEWS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_REFRESH_BEFORE_UPDATE_FIELD_NUMBER: _ClassVar[int]
    INVOKE_WITH_PREVIEW_FIELD_NUMBER: _ClassVar[int]
    MAPPER_TARGET_FIELD_NUMBER: _ClassVar[int]
    LOADER_TARGET_FIELD_NUMBER: _ClassVar[int]
    RESOLVER_TARGET_FIELD_NUMBER: _ClassVar[int]
    ACCEPTS_BYTE_STRING_FIELD_NUMBER: _ClassVar[int]
    SENDS_OLD_OUTPUTS_TO_CHECK_FIELD_NUMBER: _ClassVar[int]
    ACCEPTS_OUTPUTS_IN_INVOKE_FIELD_NUMBER: _ClassVar[int]
    ACCEPTS_OUTPUTS_IN_CALL_FIELD_NUMBER: _ClassVar[int]
    ACCEPTS_OUTPUTS_IN_CHECK_FIELD_NUMBER: _ClassVar[int]
    engine_address: str
    root_directory: str
    program_directory: str
    configure_with_urn: bool
    supports_views: bool
    supports_refresh_before_update: bool
    invoke_with_preview: bool
    mapper_target: str
    loader_target: str
    resolver_target: str
    accepts_byte_string: bool
    sends_old_outputs_to_check: bool
    accepts_outputs_in_invoke: bool
    accepts_outputs_in_call: bool
    accepts_outputs_in_check: bool
    def __init__(self, engine_address: _Optional[str] = ..., root_directory: _Optional[str] = ..., program_directory: _Optional[str] = ..., configure_with_urn: _Optional[bool] = ..., supports_views: _Optional[bool] = ..., supports_refresh_before_update: _Optional[bool] = ..., invoke_with_preview: _Optional[bool] = ..., mapper_target: _Optional[str] = ..., loader_target: _Optional[str] = ..., resolver_target: _Optional[str] = ..., accepts_byte_string: _Optional[bool] = ..., sends_old_outputs_to_check: _Optional[bool] = ..., accepts_outputs_in_invoke: _Optional[bool] = ..., accepts_outputs_in_call: _Optional[bool] = ..., accepts_outputs_in_check: _Optional[bool] = ...) -> None: ...

class ProviderHandshakeResponse(_message.Message):
    __slots__ = ("accept_secrets", "accept_resources", "accept_outputs", "supports_autonaming_configuration", "accepts_byte_string", "accepts_outputs_in_invoke", "accepts_outputs_in_call", "accepts_outputs_in_check")
    ACCEPT_SECRETS_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_RESOURCES_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_AUTONAMING_CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    ACCEPTS_BYTE_STRING_FIELD_NUMBER: _ClassVar[int]
    ACCEPTS_OUTPUTS_IN_INVOKE_FIELD_NUMBER: _ClassVar[int]
    ACCEPTS_OUTPUTS_IN_CALL_FIELD_NUMBER: _ClassVar[int]
    ACCEPTS_OUTPUTS_IN_CHECK_FIELD_NUMBER: _ClassVar[int]
    accept_secrets: bool
    accept_resources: bool
    accept_outputs: bool
    supports_autonaming_configuration: bool
    accepts_byte_string: bool
    accepts_outputs_in_invoke: bool
    accepts_outputs_in_call: bool
    accepts_outputs_in_check: bool
    def __init__(self, accept_secrets: _Optional[bool] = ..., accept_resources: _Optional[bool] = ..., accept_outputs: _Optional[bool] = ..., supports_autonaming_configuration: _Optional[bool] = ..., accepts_byte_string: _Optional[bool] = ..., accepts_outputs_in_invoke: _Optional[bool] = ..., accepts_outputs_in_call: _Optional[bool] = ..., accepts_outputs_in_check: _Optional[bool] = ...) -> None: ...

class ParameterizeRequest(_message.Message):
    __slots__ = ("args", "value")
    class ParametersArgs(_message.Message):
        __slots__ = ("args",)
        ARGS_FIELD_NUMBER: _ClassVar[int]
        args: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, args: _Optional[_Iterable[str]] = ...) -> None: ...
    class ParametersValue(_message.Message):
        __slots__ = ("name", "version", "value")
        NAME_FIELD_NUMBER: _ClassVar[int]
        VERSION_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        name: str
        version: str
        value: bytes
        def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    ARGS_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    args: ParameterizeRequest.ParametersArgs
    value: ParameterizeRequest.ParametersValue
    def __init__(self, args: _Optional[_Union[ParameterizeRequest.ParametersArgs, _Mapping]] = ..., value: _Optional[_Union[ParameterizeRequest.ParametersValue, _Mapping]] = ...) -> None: ...

class ParameterizeResponse(_message.Message):
    __slots__ = ("name", "version")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...

class GetSchemaRequest(_message.Message):
    __slots__ = ("version", "subpackage_name", "subpackage_version")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SUBPACKAGE_NAME_FIELD_NUMBER: _ClassVar[int]
    SUBPACKAGE_VERSION_FIELD_NUMBER: _ClassVar[int]
    version: int
    subpackage_name: str
    subpackage_version: str
    def __init__(self, version: _Optional[int] = ..., subpackage_name: _Optional[str] = ..., subpackage_version: _Optional[str] = ...) -> None: ...

class GetSchemaResponse(_message.Message):
    __slots__ = ("schema",)
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    schema: str
    def __init__(self, schema: _Optional[str] = ...) -> None: ...

class ConfigureRequest(_message.Message):
    __slots__ = ("variables", "args", "acceptSecrets", "acceptResources", "sends_old_inputs", "sends_old_inputs_to_delete", "id", "urn", "name", "type")
    class VariablesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    ACCEPTSECRETS_FIELD_NUMBER: _ClassVar[int]
    ACCEPTRESOURCES_FIELD_NUMBER: _ClassVar[int]
    SENDS_OLD_INPUTS_FIELD_NUMBER: _ClassVar[int]
    SENDS_OLD_INPUTS_TO_DELETE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    URN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    variables: _containers.ScalarMap[str, str]
    args: _struct_pb2.Struct
    acceptSecrets: bool
    acceptResources: bool
    sends_old_inputs: bool
    sends_old_inputs_to_delete: bool
    id: str
    urn: str
    name: str
    type: str
    def __init__(self, variables: _Optional[_Mapping[str, str]] = ..., args: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., acceptSecrets: _Optional[bool] = ..., acceptResources: _Optional[bool] = ..., sends_old_inputs: _Optional[bool] = ..., sends_old_inputs_to_delete: _Optional[bool] = ..., id: _Optional[str] = ..., urn: _Optional[str] = ..., name: _Optional[str] = ..., type: _Optional[str] = ...) -> None: ...

class ConfigureResponse(_message.Message):
    __slots__ = ("acceptSecrets", "supportsPreview", "acceptResources", "acceptOutputs", "supports_autonaming_configuration")
    ACCEPTSECRETS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTSPREVIEW_FIELD_NUMBER: _ClassVar[int]
    ACCEPTRESOURCES_FIELD_NUMBER: _ClassVar[int]
    ACCEPTOUTPUTS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_AUTONAMING_CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    acceptSecrets: bool
    supportsPreview: bool
    acceptResources: bool
    acceptOutputs: bool
    supports_autonaming_configuration: bool
    def __init__(self, acceptSecrets: _Optional[bool] = ..., supportsPreview: _Optional[bool] = ..., acceptResources: _Optional[bool] = ..., acceptOutputs: _Optional[bool] = ..., supports_autonaming_configuration: _Optional[bool] = ...) -> None: ...

class ConfigureErrorMissingKeys(_message.Message):
    __slots__ = ("missingKeys",)
    class MissingKey(_message.Message):
        __slots__ = ("name", "description")
        NAME_FIELD_NUMBER: _ClassVar[int]
        DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
        name: str
        description: str
        def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ...) -> None: ...
    MISSINGKEYS_FIELD_NUMBER: _ClassVar[int]
    missingKeys: _containers.RepeatedCompositeFieldContainer[ConfigureErrorMissingKeys.MissingKey]
    def __init__(self, missingKeys: _Optional[_Iterable[_Union[ConfigureErrorMissingKeys.MissingKey, _Mapping]]] = ...) -> None: ...

class InvokeRequest(_message.Message):
    __slots__ = ("tok", "args", "preview")
    TOK_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    tok: str
    args: _struct_pb2.Struct
    preview: bool
    def __init__(self, tok: _Optional[str] = ..., args: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., preview: _Optional[bool] = ...) -> None: ...

class InvokeResponse(_message.Message):
    __slots__ = ("failures",)
    RETURN_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    failures: _containers.RepeatedCompositeFieldContainer[CheckFailure]
    def __init__(self, failures: _Optional[_Iterable[_Union[CheckFailure, _Mapping]]] = ..., **kwargs) -> None: ...

class CallRequest(_message.Message):
    __slots__ = ("tok", "args", "argDependencies", "project", "stack", "config", "configSecretKeys", "dryRun", "parallel", "monitorEndpoint", "organization", "accepts_output_values", "stack_trace_handle")
    class ArgumentDependencies(_message.Message):
        __slots__ = ("urns",)
        URNS_FIELD_NUMBER: _ClassVar[int]
        urns: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, urns: _Optional[_Iterable[str]] = ...) -> None: ...
    class ArgDependenciesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: CallRequest.ArgumentDependencies
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[CallRequest.ArgumentDependencies, _Mapping]] = ...) -> None: ...
    class ConfigEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    TOK_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    ARGDEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    STACK_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    CONFIGSECRETKEYS_FIELD_NUMBER: _ClassVar[int]
    DRYRUN_FIELD_NUMBER: _ClassVar[int]
    PARALLEL_FIELD_NUMBER: _ClassVar[int]
    MONITORENDPOINT_FIELD_NUMBER: _ClassVar[int]
    ORGANIZATION_FIELD_NUMBER: _ClassVar[int]
    ACCEPTS_OUTPUT_VALUES_FIELD_NUMBER: _ClassVar[int]
    STACK_TRACE_HANDLE_FIELD_NUMBER: _ClassVar[int]
    tok: str
    args: _struct_pb2.Struct
    argDependencies: _containers.MessageMap[str, CallRequest.ArgumentDependencies]
    project: str
    stack: str
    config: _containers.ScalarMap[str, str]
    configSecretKeys: _containers.RepeatedScalarFieldContainer[str]
    dryRun: bool
    parallel: int
    monitorEndpoint: str
    organization: str
    accepts_output_values: bool
    stack_trace_handle: str
    def __init__(self, tok: _Optional[str] = ..., args: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., argDependencies: _Optional[_Mapping[str, CallRequest.ArgumentDependencies]] = ..., project: _Optional[str] = ..., stack: _Optional[str] = ..., config: _Optional[_Mapping[str, str]] = ..., configSecretKeys: _Optional[_Iterable[str]] = ..., dryRun: _Optional[bool] = ..., parallel: _Optional[int] = ..., monitorEndpoint: _Optional[str] = ..., organization: _Optional[str] = ..., accepts_output_values: _Optional[bool] = ..., stack_trace_handle: _Optional[str] = ...) -> None: ...

class CallResponse(_message.Message):
    __slots__ = ("failures", "returnDependencies")
    class ReturnDependencies(_message.Message):
        __slots__ = ("urns",)
        URNS_FIELD_NUMBER: _ClassVar[int]
        urns: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, urns: _Optional[_Iterable[str]] = ...) -> None: ...
    class ReturnDependenciesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: CallResponse.ReturnDependencies
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[CallResponse.ReturnDependencies, _Mapping]] = ...) -> None: ...
    RETURN_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    RETURNDEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    failures: _containers.RepeatedCompositeFieldContainer[CheckFailure]
    returnDependencies: _containers.MessageMap[str, CallResponse.ReturnDependencies]
    def __init__(self, failures: _Optional[_Iterable[_Union[CheckFailure, _Mapping]]] = ..., returnDependencies: _Optional[_Mapping[str, CallResponse.ReturnDependencies]] = ..., **kwargs) -> None: ...

class CheckRequest(_message.Message):
    __slots__ = ("urn", "olds", "news", "randomSeed", "name", "type", "autonaming", "old_outputs")
    class AutonamingOptions(_message.Message):
        __slots__ = ("proposed_name", "mode")
        class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            PROPOSE: _ClassVar[CheckRequest.AutonamingOptions.Mode]
            ENFORCE: _ClassVar[CheckRequest.AutonamingOptions.Mode]
            DISABLE: _ClassVar[CheckRequest.AutonamingOptions.Mode]
        PROPOSE: CheckRequest.AutonamingOptions.Mode
        ENFORCE: CheckRequest.AutonamingOptions.Mode
        DISABLE: CheckRequest.AutonamingOptions.Mode
        PROPOSED_NAME_FIELD_NUMBER: _ClassVar[int]
        MODE_FIELD_NUMBER: _ClassVar[int]
        proposed_name: str
        mode: CheckRequest.AutonamingOptions.Mode
        def __init__(self, proposed_name: _Optional[str] = ..., mode: _Optional[_Union[CheckRequest.AutonamingOptions.Mode, str]] = ...) -> None: ...
    URN_FIELD_NUMBER: _ClassVar[int]
    OLDS_FIELD_NUMBER: _ClassVar[int]
    NEWS_FIELD_NUMBER: _ClassVar[int]
    RANDOMSEED_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    AUTONAMING_FIELD_NUMBER: _ClassVar[int]
    OLD_OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    urn: str
    olds: _struct_pb2.Struct
    news: _struct_pb2.Struct
    randomSeed: bytes
    name: str
    type: str
    autonaming: CheckRequest.AutonamingOptions
    old_outputs: _struct_pb2.Struct
    def __init__(self, urn: _Optional[str] = ..., olds: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., news: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., randomSeed: _Optional[bytes] = ..., name: _Optional[str] = ..., type: _Optional[str] = ..., autonaming: _Optional[_Union[CheckRequest.AutonamingOptions, _Mapping]] = ..., old_outputs: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class CheckResponse(_message.Message):
    __slots__ = ("inputs", "failures")
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    inputs: _struct_pb2.Struct
    failures: _containers.RepeatedCompositeFieldContainer[CheckFailure]
    def __init__(self, inputs: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., failures: _Optional[_Iterable[_Union[CheckFailure, _Mapping]]] = ...) -> None: ...

class CheckFailure(_message.Message):
    __slots__ = ("property", "reason")
    PROPERTY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    property: str
    reason: str
    def __init__(self, property: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class DiffRequest(_message.Message):
    __slots__ = ("id", "urn", "olds", "news", "ignoreChanges", "old_inputs", "name", "type")
    ID_FIELD_NUMBER: _ClassVar[int]
    URN_FIELD_NUMBER: _ClassVar[int]
    OLDS_FIELD_NUMBER: _ClassVar[int]
    NEWS_FIELD_NUMBER: _ClassVar[int]
    IGNORECHANGES_FIELD_NUMBER: _ClassVar[int]
    OLD_INPUTS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    id: str
    urn: str
    olds: _struct_pb2.Struct
    news: _struct_pb2.Struct
    ignoreChanges: _containers.RepeatedScalarFieldContainer[str]
    old_inputs: _struct_pb2.Struct
    name: str
    type: str
    def __init__(self, id: _Optional[str] = ..., urn: _Optional[str] = ..., olds: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., news: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., ignoreChanges: _Optional[_Iterable[str]] = ..., old_inputs: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., name: _Optional[str] = ..., type: _Optional[str] = ...) -> None: ...

class PropertyDiff(_message.Message):
    __slots__ = ("kind", "inputDiff")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ADD: _ClassVar[PropertyDiff.Kind]
        ADD_REPLACE: _ClassVar[PropertyDiff.Kind]
        DELETE: _ClassVar[PropertyDiff.Kind]
        DELETE_REPLACE: _ClassVar[PropertyDiff.Kind]
        UPDATE: _ClassVar[PropertyDiff.Kind]
        UPDATE_REPLACE: _ClassVar[PropertyDiff.Kind]
    ADD: PropertyDiff.Kind
    ADD_REPLACE: PropertyDiff.Kind
    DELETE: PropertyDiff.Kind
    DELETE_REPLACE: PropertyDiff.Kind
    UPDATE: PropertyDiff.Kind
    UPDATE_REPLACE: PropertyDiff.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    INPUTDIFF_FIELD_NUMBER: _ClassVar[int]
    kind: PropertyDiff.Kind
    inputDiff: bool
    def __init__(self, kind: _Optional[_Union[PropertyDiff.Kind, str]] = ..., inputDiff: _Optional[bool] = ...) -> None: ...

class DiffResponse(_message.Message):
    __slots__ = ("replaces", "stables", "deleteBeforeReplace", "changes", "diffs", "detailedDiff", "hasDetailedDiff")
    class DiffChanges(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DIFF_UNKNOWN: _ClassVar[DiffResponse.DiffChanges]
        DIFF_NONE: _ClassVar[DiffResponse.DiffChanges]
        DIFF_SOME: _ClassVar[DiffResponse.DiffChanges]
    DIFF_UNKNOWN: DiffResponse.DiffChanges
    DIFF_NONE: DiffResponse.DiffChanges
    DIFF_SOME: DiffResponse.DiffChanges
    class DetailedDiffEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: PropertyDiff
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[PropertyDiff, _Mapping]] = ...) -> None: ...
    REPLACES_FIELD_NUMBER: _ClassVar[int]
    STABLES_FIELD_NUMBER: _ClassVar[int]
    DELETEBEFOREREPLACE_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    DIFFS_FIELD_NUMBER: _ClassVar[int]
    DETAILEDDIFF_FIELD_NUMBER: _ClassVar[int]
    HASDETAILEDDIFF_FIELD_NUMBER: _ClassVar[int]
    replaces: _containers.RepeatedScalarFieldContainer[str]
    stables: _containers.RepeatedScalarFieldContainer[str]
    deleteBeforeReplace: bool
    changes: DiffResponse.DiffChanges
    diffs: _containers.RepeatedScalarFieldContainer[str]
    detailedDiff: _containers.MessageMap[str, PropertyDiff]
    hasDetailedDiff: bool
    def __init__(self, replaces: _Optional[_Iterable[str]] = ..., stables: _Optional[_Iterable[str]] = ..., deleteBeforeReplace: _Optional[bool] = ..., changes: _Optional[_Union[DiffResponse.DiffChanges, str]] = ..., diffs: _Optional[_Iterable[str]] = ..., detailedDiff: _Optional[_Mapping[str, PropertyDiff]] = ..., hasDetailedDiff: _Optional[bool] = ...) -> None: ...

class CreateRequest(_message.Message):
    __slots__ = ("urn", "properties", "timeout", "preview", "name", "type", "resource_status_address", "resource_status_token")
    URN_FIELD_NUMBER: _ClassVar[int]
    PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_STATUS_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_STATUS_TOKEN_FIELD_NUMBER: _ClassVar[int]
    urn: str
    properties: _struct_pb2.Struct
    timeout: float
    preview: bool
    name: str
    type: str
    resource_status_address: str
    resource_status_token: str
    def __init__(self, urn: _Optional[str] = ..., properties: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., timeout: _Optional[float] = ..., preview: _Optional[bool] = ..., name: _Optional[str] = ..., type: _Optional[str] = ..., resource_status_address: _Optional[str] = ..., resource_status_token: _Optional[str] = ...) -> None: ...

class CreateResponse(_message.Message):
    __slots__ = ("id", "properties", "refresh_before_update")
    ID_FIELD_NUMBER: _ClassVar[int]
    PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    REFRESH_BEFORE_UPDATE_FIELD_NUMBER: _ClassVar[int]
    id: str
    properties: _struct_pb2.Struct
    refresh_before_update: bool
    def __init__(self, id: _Optional[str] = ..., properties: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., refresh_before_update: _Optional[bool] = ...) -> None: ...

class ReadRequest(_message.Message):
    __slots__ = ("id", "urn", "properties", "inputs", "name", "type", "resource_status_address", "resource_status_token", "old_views", "timeout")
    ID_FIELD_NUMBER: _ClassVar[int]
    URN_FIELD_NUMBER: _ClassVar[int]
    PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_STATUS_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_STATUS_TOKEN_FIELD_NUMBER: _ClassVar[int]
    OLD_VIEWS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    id: str
    urn: str
    properties: _struct_pb2.Struct
    inputs: _struct_pb2.Struct
    name: str
    type: str
    resource_status_address: str
    resource_status_token: str
    old_views: _containers.RepeatedCompositeFieldContainer[View]
    timeout: float
    def __init__(self, id: _Optional[str] = ..., urn: _Optional[str] = ..., properties: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., inputs: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., name: _Optional[str] = ..., type: _Optional[str] = ..., resource_status_address: _Optional[str] = ..., resource_status_token: _Optional[str] = ..., old_views: _Optional[_Iterable[_Union[View, _Mapping]]] = ..., timeout: _Optional[float] = ...) -> None: ...

class ReadResponse(_message.Message):
    __slots__ = ("id", "properties", "inputs", "refresh_before_update")
    ID_FIELD_NUMBER: _ClassVar[int]
    PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    REFRESH_BEFORE_UPDATE_FIELD_NUMBER: _ClassVar[int]
    id: str
    properties: _struct_pb2.Struct
    inputs: _struct_pb2.Struct
    refresh_before_update: bool
    def __init__(self, id: _Optional[str] = ..., properties: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., inputs: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., refresh_before_update: _Optional[bool] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("token", "query", "limit", "page_size", "continuation_token")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    CONTINUATION_TOKEN_FIELD_NUMBER: _ClassVar[int]
    token: str
    query: _struct_pb2.Struct
    limit: int
    page_size: int
    continuation_token: str
    def __init__(self, token: _Optional[str] = ..., query: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., limit: _Optional[int] = ..., page_size: _Optional[int] = ..., continuation_token: _Optional[str] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("computed", "result", "continuation")
    class Computed(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    class Result(_message.Message):
        __slots__ = ("id", "name")
        ID_FIELD_NUMBER: _ClassVar[int]
        NAME_FIELD_NUMBER: _ClassVar[int]
        id: str
        name: str
        def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...
    class Continuation(_message.Message):
        __slots__ = ("continuation_token",)
        CONTINUATION_TOKEN_FIELD_NUMBER: _ClassVar[int]
        continuation_token: str
        def __init__(self, continuation_token: _Optional[str] = ...) -> None: ...
    COMPUTED_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    CONTINUATION_FIELD_NUMBER: _ClassVar[int]
    computed: ListResponse.Computed
    result: ListResponse.Result
    continuation: ListResponse.Continuation
    def __init__(self, computed: _Optional[_Union[ListResponse.Computed, _Mapping]] = ..., result: _Optional[_Union[ListResponse.Result, _Mapping]] = ..., continuation: _Optional[_Union[ListResponse.Continuation, _Mapping]] = ...) -> None: ...

class UpdateRequest(_message.Message):
    __slots__ = ("id", "urn", "olds", "news", "timeout", "ignoreChanges", "preview", "old_inputs", "name", "type", "resource_status_address", "resource_status_token", "old_views")
    ID_FIELD_NUMBER: _ClassVar[int]
    URN_FIELD_NUMBER: _ClassVar[int]
    OLDS_FIELD_NUMBER: _ClassVar[int]
    NEWS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    IGNORECHANGES_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    OLD_INPUTS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_STATUS_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_STATUS_TOKEN_FIELD_NUMBER: _ClassVar[int]
    OLD_VIEWS_FIELD_NUMBER: _ClassVar[int]
    id: str
    urn: str
    olds: _struct_pb2.Struct
    news: _struct_pb2.Struct
    timeout: float
    ignoreChanges: _containers.RepeatedScalarFieldContainer[str]
    preview: bool
    old_inputs: _struct_pb2.Struct
    name: str
    type: str
    resource_status_address: str
    resource_status_token: str
    old_views: _containers.RepeatedCompositeFieldContainer[View]
    def __init__(self, id: _Optional[str] = ..., urn: _Optional[str] = ..., olds: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., news: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., timeout: _Optional[float] = ..., ignoreChanges: _Optional[_Iterable[str]] = ..., preview: _Optional[bool] = ..., old_inputs: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., name: _Optional[str] = ..., type: _Optional[str] = ..., resource_status_address: _Optional[str] = ..., resource_status_token: _Optional[str] = ..., old_views: _Optional[_Iterable[_Union[View, _Mapping]]] = ...) -> None: ...

class UpdateResponse(_message.Message):
    __slots__ = ("properties", "refresh_before_update")
    PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    REFRESH_BEFORE_UPDATE_FIELD_NUMBER: _ClassVar[int]
    properties: _struct_pb2.Struct
    refresh_before_update: bool
    def __init__(self, properties: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., refresh_before_update: _Optional[bool] = ...) -> None: ...

class DeleteRequest(_message.Message):
    __slots__ = ("id", "urn", "properties", "timeout", "old_inputs", "name", "type", "resource_status_address", "resource_status_token", "old_views")
    ID_FIELD_NUMBER: _ClassVar[int]
    URN_FIELD_NUMBER: _ClassVar[int]
    PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    OLD_INPUTS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_STATUS_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_STATUS_TOKEN_FIELD_NUMBER: _ClassVar[int]
    OLD_VIEWS_FIELD_NUMBER: _ClassVar[int]
    id: str
    urn: str
    properties: _struct_pb2.Struct
    timeout: float
    old_inputs: _struct_pb2.Struct
    name: str
    type: str
    resource_status_address: str
    resource_status_token: str
    old_views: _containers.RepeatedCompositeFieldContainer[View]
    def __init__(self, id: _Optional[str] = ..., urn: _Optional[str] = ..., properties: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., timeout: _Optional[float] = ..., old_inputs: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., name: _Optional[str] = ..., type: _Optional[str] = ..., resource_status_address: _Optional[str] = ..., resource_status_token: _Optional[str] = ..., old_views: _Optional[_Iterable[_Union[View, _Mapping]]] = ...) -> None: ...

class ConstructRequest(_message.Message):
    __slots__ = ("project", "stack", "config", "dryRun", "parallel", "monitorEndpoint", "type", "name", "parent", "inputs", "inputDependencies", "providers", "dependencies", "configSecretKeys", "organization", "protect", "additionalSecretOutputs", "customTimeouts", "deletedWith", "deleteBeforeReplace", "ignoreChanges", "replaceOnChanges", "retainOnDelete", "accepts_output_values", "resource_hooks", "stack_trace_handle", "replace_with", "aliases", "replacement_trigger")
    class PropertyDependencies(_message.Message):
        __slots__ = ("urns",)
        URNS_FIELD_NUMBER: _ClassVar[int]
        urns: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, urns: _Optional[_Iterable[str]] = ...) -> None: ...
    class CustomTimeouts(_message.Message):
        __slots__ = ("create", "update", "delete", "read")
        CREATE_FIELD_NUMBER: _ClassVar[int]
        UPDATE_FIELD_NUMBER: _ClassVar[int]
        DELETE_FIELD_NUMBER: _ClassVar[int]
        READ_FIELD_NUMBER: _ClassVar[int]
        create: str
        update: str
        delete: str
        read: str
        def __init__(self, create: _Optional[str] = ..., update: _Optional[str] = ..., delete: _Optional[str] = ..., read: _Optional[str] = ...) -> None: ...
    class ConfigEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class InputDependenciesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: ConstructRequest.PropertyDependencies
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[ConstructRequest.PropertyDependencies, _Mapping]] = ...) -> None: ...
    class ProvidersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class ResourceHooksBinding(_message.Message):
        __slots__ = ("before_create", "after_create", "before_update", "after_update", "before_delete", "after_delete", "on_error")
        BEFORE_CREATE_FIELD_NUMBER: _ClassVar[int]
        AFTER_CREATE_FIELD_NUMBER: _ClassVar[int]
        BEFORE_UPDATE_FIELD_NUMBER: _ClassVar[int]
        AFTER_UPDATE_FIELD_NUMBER: _ClassVar[int]
        BEFORE_DELETE_FIELD_NUMBER: _ClassVar[int]
        AFTER_DELETE_FIELD_NUMBER: _ClassVar[int]
        ON_ERROR_FIELD_NUMBER: _ClassVar[int]
        before_create: _containers.RepeatedScalarFieldContainer[str]
        after_create: _containers.RepeatedScalarFieldContainer[str]
        before_update: _containers.RepeatedScalarFieldContainer[str]
        after_update: _containers.RepeatedScalarFieldContainer[str]
        before_delete: _containers.RepeatedScalarFieldContainer[str]
        after_delete: _containers.RepeatedScalarFieldContainer[str]
        on_error: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, before_create: _Optional[_Iterable[str]] = ..., after_create: _Optional[_Iterable[str]] = ..., before_update: _Optional[_Iterable[str]] = ..., after_update: _Optional[_Iterable[str]] = ..., before_delete: _Optional[_Iterable[str]] = ..., after_delete: _Optional[_Iterable[str]] = ..., on_error: _Optional[_Iterable[str]] = ...) -> None: ...
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    STACK_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    DRYRUN_FIELD_NUMBER: _ClassVar[int]
    PARALLEL_FIELD_NUMBER: _ClassVar[int]
    MONITORENDPOINT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    INPUTDEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    CONFIGSECRETKEYS_FIELD_NUMBER: _ClassVar[int]
    ORGANIZATION_FIELD_NUMBER: _ClassVar[int]
    PROTECT_FIELD_NUMBER: _ClassVar[int]
    ADDITIONALSECRETOUTPUTS_FIELD_NUMBER: _ClassVar[int]
    CUSTOMTIMEOUTS_FIELD_NUMBER: _ClassVar[int]
    DELETEDWITH_FIELD_NUMBER: _ClassVar[int]
    DELETEBEFOREREPLACE_FIELD_NUMBER: _ClassVar[int]
    IGNORECHANGES_FIELD_NUMBER: _ClassVar[int]
    REPLACEONCHANGES_FIELD_NUMBER: _ClassVar[int]
    RETAINONDELETE_FIELD_NUMBER: _ClassVar[int]
    ACCEPTS_OUTPUT_VALUES_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_HOOKS_FIELD_NUMBER: _ClassVar[int]
    STACK_TRACE_HANDLE_FIELD_NUMBER: _ClassVar[int]
    REPLACE_WITH_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    REPLACEMENT_TRIGGER_FIELD_NUMBER: _ClassVar[int]
    project: str
    stack: str
    config: _containers.ScalarMap[str, str]
    dryRun: bool
    parallel: int
    monitorEndpoint: str
    type: str
    name: str
    parent: str
    inputs: _struct_pb2.Struct
    inputDependencies: _containers.MessageMap[str, ConstructRequest.PropertyDependencies]
    providers: _containers.ScalarMap[str, str]
    dependencies: _containers.RepeatedScalarFieldContainer[str]
    configSecretKeys: _containers.RepeatedScalarFieldContainer[str]
    organization: str
    protect: bool
    additionalSecretOutputs: _containers.RepeatedScalarFieldContainer[str]
    customTimeouts: ConstructRequest.CustomTimeouts
    deletedWith: str
    deleteBeforeReplace: bool
    ignoreChanges: _containers.RepeatedScalarFieldContainer[str]
    replaceOnChanges: _containers.RepeatedScalarFieldContainer[str]
    retainOnDelete: bool
    accepts_output_values: bool
    resource_hooks: ConstructRequest.ResourceHooksBinding
    stack_trace_handle: str
    replace_with: _containers.RepeatedScalarFieldContainer[str]
    aliases: _containers.RepeatedCompositeFieldContainer[_alias_pb2.Alias]
    replacement_trigger: _struct_pb2.Value
    def __init__(self, project: _Optional[str] = ..., stack: _Optional[str] = ..., config: _Optional[_Mapping[str, str]] = ..., dryRun: _Optional[bool] = ..., parallel: _Optional[int] = ..., monitorEndpoint: _Optional[str] = ..., type: _Optional[str] = ..., name: _Optional[str] = ..., parent: _Optional[str] = ..., inputs: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., inputDependencies: _Optional[_Mapping[str, ConstructRequest.PropertyDependencies]] = ..., providers: _Optional[_Mapping[str, str]] = ..., dependencies: _Optional[_Iterable[str]] = ..., configSecretKeys: _Optional[_Iterable[str]] = ..., organization: _Optional[str] = ..., protect: _Optional[bool] = ..., additionalSecretOutputs: _Optional[_Iterable[str]] = ..., customTimeouts: _Optional[_Union[ConstructRequest.CustomTimeouts, _Mapping]] = ..., deletedWith: _Optional[str] = ..., deleteBeforeReplace: _Optional[bool] = ..., ignoreChanges: _Optional[_Iterable[str]] = ..., replaceOnChanges: _Optional[_Iterable[str]] = ..., retainOnDelete: _Optional[bool] = ..., accepts_output_values: _Optional[bool] = ..., resource_hooks: _Optional[_Union[ConstructRequest.ResourceHooksBinding, _Mapping]] = ..., stack_trace_handle: _Optional[str] = ..., replace_with: _Optional[_Iterable[str]] = ..., aliases: _Optional[_Iterable[_Union[_alias_pb2.Alias, _Mapping]]] = ..., replacement_trigger: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ...) -> None: ...

class ConstructResponse(_message.Message):
    __slots__ = ("urn", "state", "stateDependencies")
    class PropertyDependencies(_message.Message):
        __slots__ = ("urns",)
        URNS_FIELD_NUMBER: _ClassVar[int]
        urns: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, urns: _Optional[_Iterable[str]] = ...) -> None: ...
    class StateDependenciesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: ConstructResponse.PropertyDependencies
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[ConstructResponse.PropertyDependencies, _Mapping]] = ...) -> None: ...
    URN_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATEDEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    urn: str
    state: _struct_pb2.Struct
    stateDependencies: _containers.MessageMap[str, ConstructResponse.PropertyDependencies]
    def __init__(self, urn: _Optional[str] = ..., state: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., stateDependencies: _Optional[_Mapping[str, ConstructResponse.PropertyDependencies]] = ...) -> None: ...

class ErrorResourceInitFailed(_message.Message):
    __slots__ = ("id", "properties", "reasons", "inputs", "refresh_before_update")
    ID_FIELD_NUMBER: _ClassVar[int]
    PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    REFRESH_BEFORE_UPDATE_FIELD_NUMBER: _ClassVar[int]
    id: str
    properties: _struct_pb2.Struct
    reasons: _containers.RepeatedScalarFieldContainer[str]
    inputs: _struct_pb2.Struct
    refresh_before_update: bool
    def __init__(self, id: _Optional[str] = ..., properties: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., reasons: _Optional[_Iterable[str]] = ..., inputs: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., refresh_before_update: _Optional[bool] = ...) -> None: ...

class ErrorResourceAwaitFailed(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetMappingRequest(_message.Message):
    __slots__ = ("key", "provider")
    KEY_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    key: str
    provider: str
    def __init__(self, key: _Optional[str] = ..., provider: _Optional[str] = ...) -> None: ...

class GetMappingResponse(_message.Message):
    __slots__ = ("provider", "data")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    provider: str
    data: bytes
    def __init__(self, provider: _Optional[str] = ..., data: _Optional[bytes] = ...) -> None: ...

class GetMappingsRequest(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: str
    def __init__(self, key: _Optional[str] = ...) -> None: ...

class GetMappingsResponse(_message.Message):
    __slots__ = ("providers",)
    PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    providers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, providers: _Optional[_Iterable[str]] = ...) -> None: ...

class View(_message.Message):
    __slots__ = ("type", "name", "parent_type", "parent_name", "inputs", "outputs")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    PARENT_NAME_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    type: str
    name: str
    parent_type: str
    parent_name: str
    inputs: _struct_pb2.Struct
    outputs: _struct_pb2.Struct
    def __init__(self, type: _Optional[str] = ..., name: _Optional[str] = ..., parent_type: _Optional[str] = ..., parent_name: _Optional[str] = ..., inputs: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., outputs: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...
