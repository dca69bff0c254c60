from . import hcl_pb2 as _hcl_pb2
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

class ProgramInfo(_message.Message):
    __slots__ = ("root_directory", "program_directory", "entry_point", "options")
    ROOT_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    ENTRY_POINT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    root_directory: str
    program_directory: str
    entry_point: str
    options: _struct_pb2.Struct
    def __init__(self, root_directory: _Optional[str] = ..., program_directory: _Optional[str] = ..., entry_point: _Optional[str] = ..., options: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class AboutRequest(_message.Message):
    __slots__ = ("info",)
    INFO_FIELD_NUMBER: _ClassVar[int]
    info: ProgramInfo
    def __init__(self, info: _Optional[_Union[ProgramInfo, _Mapping]] = ...) -> None: ...

class AboutResponse(_message.Message):
    __slots__ = ("executable", "version", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    EXECUTABLE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    executable: str
    version: str
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, executable: _Optional[str] = ..., version: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class GetProgramDependenciesRequest(_message.Message):
    __slots__ = ("project", "pwd", "program", "transitiveDependencies", "info")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    PWD_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    TRANSITIVEDEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    project: str
    pwd: str
    program: str
    transitiveDependencies: bool
    info: ProgramInfo
    def __init__(self, project: _Optional[str] = ..., pwd: _Optional[str] = ..., program: _Optional[str] = ..., transitiveDependencies: _Optional[bool] = ..., info: _Optional[_Union[ProgramInfo, _Mapping]] = ...) -> None: ...

class DependencyInfo(_message.Message):
    __slots__ = ("name", "version")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...

class GetProgramDependenciesResponse(_message.Message):
    __slots__ = ("dependencies",)
    DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    dependencies: _containers.RepeatedCompositeFieldContainer[DependencyInfo]
    def __init__(self, dependencies: _Optional[_Iterable[_Union[DependencyInfo, _Mapping]]] = ...) -> None: ...

class GetRequiredPluginsRequest(_message.Message):
    __slots__ = ("project", "pwd", "program", "info")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    PWD_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    project: str
    pwd: str
    program: str
    info: ProgramInfo
    def __init__(self, project: _Optional[str] = ..., pwd: _Optional[str] = ..., program: _Optional[str] = ..., info: _Optional[_Union[ProgramInfo, _Mapping]] = ...) -> None: ...

class GetRequiredPluginsResponse(_message.Message):
    __slots__ = ("plugins",)
    PLUGINS_FIELD_NUMBER: _ClassVar[int]
    plugins: _containers.RepeatedCompositeFieldContainer[_plugin_pb2.PluginDependency]
    def __init__(self, plugins: _Optional[_Iterable[_Union[_plugin_pb2.PluginDependency, _Mapping]]] = ...) -> None: ...

class GetRequiredPackagesRequest(_message.Message):
    __slots__ = ("info",)
    INFO_FIELD_NUMBER: _ClassVar[int]
    info: ProgramInfo
    def __init__(self, info: _Optional[_Union[ProgramInfo, _Mapping]] = ...) -> None: ...

class GetRequiredPackagesResponse(_message.Message):
    __slots__ = ("packages", "specs")
    PACKAGES_FIELD_NUMBER: _ClassVar[int]
    SPECS_FIELD_NUMBER: _ClassVar[int]
    packages: _containers.RepeatedCompositeFieldContainer[_plugin_pb2.PackageDependency]
    specs: _containers.RepeatedCompositeFieldContainer[_plugin_pb2.PackageSpec]
    def __init__(self, packages: _Optional[_Iterable[_Union[_plugin_pb2.PackageDependency, _Mapping]]] = ..., specs: _Optional[_Iterable[_Union[_plugin_pb2.PackageSpec, _Mapping]]] = ...) -> None: ...

class RunRequest(_message.Message):
    __slots__ = ("project", "stack", "pwd", "program", "args", "config", "dryRun", "parallel", "monitor_address", "queryMode", "configSecretKeys", "organization", "configPropertyMap", "info", "loader_target", "attach_debugger", "mapper_target")
    class ConfigEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    STACK_FIELD_NUMBER: _ClassVar[int]
    PWD_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    DRYRUN_FIELD_NUMBER: _ClassVar[int]
    PARALLEL_FIELD_NUMBER: _ClassVar[int]
    MONITOR_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    QUERYMODE_FIELD_NUMBER: _ClassVar[int]
    CONFIGSECRETKEYS_FIELD_NUMBER: _ClassVar[int]
    ORGANIZATION_FIELD_NUMBER: _ClassVar[int]
    CONFIGPROPERTYMAP_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    LOADER_TARGET_FIELD_NUMBER: _ClassVar[int]
    ATTACH_DEBUGGER_FIELD_NUMBER: _ClassVar[int]
    MAPPER_TARGET_FIELD_NUMBER: _ClassVar[int]
    project: str
    stack: str
    pwd: str
    program: str
    args: _containers.RepeatedScalarFieldContainer[str]
    config: _containers.ScalarMap[str, str]
    dryRun: bool
    parallel: int
    monitor_address: str
    queryMode: bool
    configSecretKeys: _containers.RepeatedScalarFieldContainer[str]
    organization: str
    configPropertyMap: _struct_pb2.Struct
    info: ProgramInfo
    loader_target: str
    attach_debugger: bool
    mapper_target: str
    def __init__(self, project: _Optional[str] = ..., stack: _Optional[str] = ..., pwd: _Optional[str] = ..., program: _Optional[str] = ..., args: _Optional[_Iterable[str]] = ..., config: _Optional[_Mapping[str, str]] = ..., dryRun: _Optional[bool] = ..., parallel: _Optional[int] = ..., monitor_address: _Optional[str] = ..., queryMode: _Optional[bool] = ..., configSecretKeys: _Optional[_Iterable[str]] = ..., organization: _Optional[str] = ..., configPropertyMap: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., info: _Optional[_Union[ProgramInfo, _Mapping]] = ..., loader_target: _Optional[str] = ..., attach_debugger: _Optional[bool] = ..., mapper_target: _Optional[str] = ...) -> None: ...

class RunResponse(_message.Message):
    __slots__ = ("error", "bail")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    BAIL_FIELD_NUMBER: _ClassVar[int]
    error: str
    bail: bool
    def __init__(self, error: _Optional[str] = ..., bail: _Optional[bool] = ...) -> None: ...

class InstallDependenciesRequest(_message.Message):
    __slots__ = ("directory", "is_terminal", "info", "use_language_version_tools", "is_plugin")
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    IS_TERMINAL_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    USE_LANGUAGE_VERSION_TOOLS_FIELD_NUMBER: _ClassVar[int]
    IS_PLUGIN_FIELD_NUMBER: _ClassVar[int]
    directory: str
    is_terminal: bool
    info: ProgramInfo
    use_language_version_tools: bool
    is_plugin: bool
    def __init__(self, directory: _Optional[str] = ..., is_terminal: _Optional[bool] = ..., info: _Optional[_Union[ProgramInfo, _Mapping]] = ..., use_language_version_tools: _Optional[bool] = ..., is_plugin: _Optional[bool] = ...) -> None: ...

class InstallDependenciesResponse(_message.Message):
    __slots__ = ("stdout", "stderr")
    STDOUT_FIELD_NUMBER: _ClassVar[int]
    STDERR_FIELD_NUMBER: _ClassVar[int]
    stdout: bytes
    stderr: bytes
    def __init__(self, stdout: _Optional[bytes] = ..., stderr: _Optional[bytes] = ...) -> None: ...

class RuntimeOptionsRequest(_message.Message):
    __slots__ = ("info",)
    INFO_FIELD_NUMBER: _ClassVar[int]
    info: ProgramInfo
    def __init__(self, info: _Optional[_Union[ProgramInfo, _Mapping]] = ...) -> None: ...

class RuntimeOptionPrompt(_message.Message):
    __slots__ = ("key", "description", "promptType", "choices", "default")
    class RuntimeOptionType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STRING: _ClassVar[RuntimeOptionPrompt.RuntimeOptionType]
        INT32: _ClassVar[RuntimeOptionPrompt.RuntimeOptionType]
    STRING: RuntimeOptionPrompt.RuntimeOptionType
    INT32: RuntimeOptionPrompt.RuntimeOptionType
    class RuntimeOptionValue(_message.Message):
        __slots__ = ("promptType", "stringValue", "int32Value", "displayName")
        PROMPTTYPE_FIELD_NUMBER: _ClassVar[int]
        STRINGVALUE_FIELD_NUMBER: _ClassVar[int]
        INT32VALUE_FIELD_NUMBER: _ClassVar[int]
        DISPLAYNAME_FIELD_NUMBER: _ClassVar[int]
        promptType: RuntimeOptionPrompt.RuntimeOptionType
        stringValue: str
        int32Value: int
        displayName: str
        def __init__(self, promptType: _Optional[_Union[RuntimeOptionPrompt.RuntimeOptionType, str]] = ..., stringValue: _Optional[str] = ..., int32Value: _Optional[int] = ..., displayName: _Optional[str] = ...) -> None: ...
    KEY_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PROMPTTYPE_FIELD_NUMBER: _ClassVar[int]
    CHOICES_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_FIELD_NUMBER: _ClassVar[int]
    key: str
    description: str
    promptType: RuntimeOptionPrompt.RuntimeOptionType
    choices: _containers.RepeatedCompositeFieldContainer[RuntimeOptionPrompt.RuntimeOptionValue]
    default: RuntimeOptionPrompt.RuntimeOptionValue
    def __init__(self, key: _Optional[str] = ..., description: _Optional[str] = ..., promptType: _Optional[_Union[RuntimeOptionPrompt.RuntimeOptionType, str]] = ..., choices: _Optional[_Iterable[_Union[RuntimeOptionPrompt.RuntimeOptionValue, _Mapping]]] = ..., default: _Optional[_Union[RuntimeOptionPrompt.RuntimeOptionValue, _Mapping]] = ...) -> None: ...

class RuntimeOptionsResponse(_message.Message):
    __slots__ = ("prompts",)
    PROMPTS_FIELD_NUMBER: _ClassVar[int]
    prompts: _containers.RepeatedCompositeFieldContainer[RuntimeOptionPrompt]
    def __init__(self, prompts: _Optional[_Iterable[_Union[RuntimeOptionPrompt, _Mapping]]] = ...) -> None: ...

class TemplateRequest(_message.Message):
    __slots__ = ("info", "project_name")
    INFO_FIELD_NUMBER: _ClassVar[int]
    PROJECT_NAME_FIELD_NUMBER: _ClassVar[int]
    info: ProgramInfo
    project_name: str
    def __init__(self, info: _Optional[_Union[ProgramInfo, _Mapping]] = ..., project_name: _Optional[str] = ...) -> None: ...

class TemplateResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RunPluginRequest(_message.Message):
    __slots__ = ("pwd", "program", "args", "env", "info", "kind", "name", "attach_debugger", "loader_target")
    PWD_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ATTACH_DEBUGGER_FIELD_NUMBER: _ClassVar[int]
    LOADER_TARGET_FIELD_NUMBER: _ClassVar[int]
    pwd: str
    program: str
    args: _containers.RepeatedScalarFieldContainer[str]
    env: _containers.RepeatedScalarFieldContainer[str]
    info: ProgramInfo
    kind: str
    name: str
    attach_debugger: bool
    loader_target: str
    def __init__(self, pwd: _Optional[str] = ..., program: _Optional[str] = ..., args: _Optional[_Iterable[str]] = ..., env: _Optional[_Iterable[str]] = ..., info: _Optional[_Union[ProgramInfo, _Mapping]] = ..., kind: _Optional[str] = ..., name: _Optional[str] = ..., attach_debugger: _Optional[bool] = ..., loader_target: _Optional[str] = ...) -> None: ...

class RunPluginResponse(_message.Message):
    __slots__ = ("stdout", "stderr", "exitcode")
    STDOUT_FIELD_NUMBER: _ClassVar[int]
    STDERR_FIELD_NUMBER: _ClassVar[int]
    EXITCODE_FIELD_NUMBER: _ClassVar[int]
    stdout: bytes
    stderr: bytes
    exitcode: int
    def __init__(self, stdout: _Optional[bytes] = ..., stderr: _Optional[bytes] = ..., exitcode: _Optional[int] = ...) -> None: ...

class GenerateProgramRequest(_message.Message):
    __slots__ = ("source", "loader_target", "strict", "mapper_target")
    class SourceEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    LOADER_TARGET_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    MAPPER_TARGET_FIELD_NUMBER: _ClassVar[int]
    source: _containers.ScalarMap[str, str]
    loader_target: str
    strict: bool
    mapper_target: str
    def __init__(self, source: _Optional[_Mapping[str, str]] = ..., loader_target: _Optional[str] = ..., strict: _Optional[bool] = ..., mapper_target: _Optional[str] = ...) -> None: ...

class GenerateProgramResponse(_message.Message):
    __slots__ = ("diagnostics", "source")
    class SourceEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    DIAGNOSTICS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    diagnostics: _containers.RepeatedCompositeFieldContainer[_hcl_pb2.Diagnostic]
    source: _containers.ScalarMap[str, bytes]
    def __init__(self, diagnostics: _Optional[_Iterable[_Union[_hcl_pb2.Diagnostic, _Mapping]]] = ..., source: _Optional[_Mapping[str, bytes]] = ...) -> None: ...

class GenerateProjectRequest(_message.Message):
    __slots__ = ("source_directory", "target_directory", "project", "strict", "loader_target", "local_dependencies", "mapper_target")
    class LocalDependenciesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SOURCE_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    TARGET_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    LOADER_TARGET_FIELD_NUMBER: _ClassVar[int]
    LOCAL_DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    MAPPER_TARGET_FIELD_NUMBER: _ClassVar[int]
    source_directory: str
    target_directory: str
    project: str
    strict: bool
    loader_target: str
    local_dependencies: _containers.ScalarMap[str, str]
    mapper_target: str
    def __init__(self, source_directory: _Optional[str] = ..., target_directory: _Optional[str] = ..., project: _Optional[str] = ..., strict: _Optional[bool] = ..., loader_target: _Optional[str] = ..., local_dependencies: _Optional[_Mapping[str, str]] = ..., mapper_target: _Optional[str] = ...) -> None: ...

class GenerateProjectResponse(_message.Message):
    __slots__ = ("diagnostics",)
    DIAGNOSTICS_FIELD_NUMBER: _ClassVar[int]
    diagnostics: _containers.RepeatedCompositeFieldContainer[_hcl_pb2.Diagnostic]
    def __init__(self, diagnostics: _Optional[_Iterable[_Union[_hcl_pb2.Diagnostic, _Mapping]]] = ...) -> None: ...

class GeneratePackageRequest(_message.Message):
    __slots__ = ("directory", "schema", "extra_files", "loader_target", "local_dependencies", "local")
    class ExtraFilesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    class LocalDependenciesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    EXTRA_FILES_FIELD_NUMBER: _ClassVar[int]
    LOADER_TARGET_FIELD_NUMBER: _ClassVar[int]
    LOCAL_DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    LOCAL_FIELD_NUMBER: _ClassVar[int]
    directory: str
    schema: str
    extra_files: _containers.ScalarMap[str, bytes]
    loader_target: str
    local_dependencies: _containers.ScalarMap[str, str]
    local: bool
    def __init__(self, directory: _Optional[str] = ..., schema: _Optional[str] = ..., extra_files: _Optional[_Mapping[str, bytes]] = ..., loader_target: _Optional[str] = ..., local_dependencies: _Optional[_Mapping[str, str]] = ..., local: _Optional[bool] = ...) -> None: ...

class GeneratePackageResponse(_message.Message):
    __slots__ = ("diagnostics",)
    DIAGNOSTICS_FIELD_NUMBER: _ClassVar[int]
    diagnostics: _containers.RepeatedCompositeFieldContainer[_hcl_pb2.Diagnostic]
    def __init__(self, diagnostics: _Optional[_Iterable[_Union[_hcl_pb2.Diagnostic, _Mapping]]] = ...) -> None: ...

class PackRequest(_message.Message):
    __slots__ = ("package_directory", "destination_directory")
    PACKAGE_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    package_directory: str
    destination_directory: str
    def __init__(self, package_directory: _Optional[str] = ..., destination_directory: _Optional[str] = ...) -> None: ...

class PackResponse(_message.Message):
    __slots__ = ("artifact_path",)
    ARTIFACT_PATH_FIELD_NUMBER: _ClassVar[int]
    artifact_path: str
    def __init__(self, artifact_path: _Optional[str] = ...) -> None: ...

class LanguageHandshakeRequest(_message.Message):
    __slots__ = ("engine_address", "root_directory", "program_directory")
    ENGINE_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    ROOT_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    engine_address: str
    root_directory: str
    program_directory: str
    def __init__(self, engine_address: _Optional[str] = ..., root_directory: _Optional[str] = ..., program_directory: _Optional[str] = ...) -> None: ...

class LanguageHandshakeResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class LinkRequest(_message.Message):
    __slots__ = ("info", "loader_target", "packages")
    class LinkDependency(_message.Message):
        __slots__ = ("package", "path")
        PACKAGE_FIELD_NUMBER: _ClassVar[int]
        PATH_FIELD_NUMBER: _ClassVar[int]
        package: _plugin_pb2.PackageDependency
        path: str
        def __init__(self, package: _Optional[_Union[_plugin_pb2.PackageDependency, _Mapping]] = ..., path: _Optional[str] = ...) -> None: ...
    INFO_FIELD_NUMBER: _ClassVar[int]
    LOADER_TARGET_FIELD_NUMBER: _ClassVar[int]
    PACKAGES_FIELD_NUMBER: _ClassVar[int]
    info: ProgramInfo
    loader_target: str
    packages: _containers.RepeatedCompositeFieldContainer[LinkRequest.LinkDependency]
    def __init__(self, info: _Optional[_Union[ProgramInfo, _Mapping]] = ..., loader_target: _Optional[str] = ..., packages: _Optional[_Iterable[_Union[LinkRequest.LinkDependency, _Mapping]]] = ...) -> None: ...

class LinkResponse(_message.Message):
    __slots__ = ("import_instructions",)
    IMPORT_INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    import_instructions: str
    def __init__(self, import_instructions: _Optional[str] = ...) -> None: ...
