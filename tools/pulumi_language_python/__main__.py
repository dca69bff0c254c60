"""The `LanguageRuntime` service: prints its port, and runs a program with `pulumi-language-python-exec` when asked to.

Usage, as the engine calls it: pulumi-language-python [-root DIR ...] ENGINE_ADDRESS. The environment variable
PULUMI_LANGUAGE_PYTHON_EXEC names the program runner (from the Go module of Pulumi's SDK). It is run as a directory
(`python tools/pulumi_language_python`), so that nothing has to be put on the path of the programs that it runs.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from proto import language_pb2, language_pb2_grpc, plugin_pb2

BAIL = 32
"""The exit code of a program that has already told the user what is wrong."""

UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


def python_of(info: Any) -> str:
    """The interpreter that `runtime.options.virtualenv` of Pulumi.yaml names; this one where it names none."""
    options = info.options.fields
    named = options["virtualenv"].string_value if "virtualenv" in options else ""
    if not named:
        return sys.executable
    return str(Path(info.root_directory or ".") / named / "bin" / "python")


def arguments(request: Any, engine: str) -> list[str]:
    """The runner's command line. `main` in Pulumi.yaml may name a directory or a file."""
    words = []
    for name, value in (
        ("monitor", request.monitor_address),
        ("engine", engine),
        ("project", request.project),
        ("root_directory", request.info.root_directory),
        ("stack", request.stack),
        ("pwd", request.info.program_directory or request.pwd),
        ("organization", request.organization),
    ):
        if value:
            words += [f"--{name}", value]
    words += ["--dry_run", "true"] if request.dryRun else []
    words += ["--parallel", str(request.parallel)]
    return [*words, request.info.entry_point or request.program or ".", *request.args]


class Host(language_pb2_grpc.LanguageRuntimeServicer):
    """Runs programs for the engine at the address `engine`."""

    def __init__(self, engine: str, runner: str) -> None:
        self._engine = engine
        self._runner = runner
        self._programs: set[subprocess.Popen[bytes]] = set()

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._engine = request.engine_address or self._engine
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> Any:
        return plugin_pb2.PluginInfo(version=metadata.version("pulumi"))

    def GetRequiredPlugins(self, request: Any, context: grpc.ServicerContext) -> Any:
        return language_pb2.GetRequiredPluginsResponse()

    def GetRequiredPackages(self, request: Any, context: grpc.ServicerContext) -> Any:
        return language_pb2.GetRequiredPackagesResponse()

    def RuntimeOptionsPrompts(self, request: Any, context: grpc.ServicerContext) -> Any:
        return language_pb2.RuntimeOptionsResponse()

    def About(self, request: Any, context: grpc.ServicerContext) -> Any:
        return language_pb2.AboutResponse(executable=sys.executable, version=sys.version.split()[0])

    def GetProgramDependencies(self, request: Any, context: grpc.ServicerContext) -> Any:
        found = sorted((each.name, each.version) for each in metadata.distributions())
        listed = [language_pb2.DependencyInfo(name=name, version=version) for name, version in found]
        return language_pb2.GetProgramDependenciesResponse(dependencies=listed)

    def InstallDependencies(self, request: Any, context: grpc.ServicerContext) -> Any:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "packages come from the lock file: run `make setup`")

    def Run(self, request: Any, context: grpc.ServicerContext) -> Any:
        environment = {
            **os.environ,
            "PULUMI_CONFIG": json.dumps(dict(request.config)),
            "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
            "PYTHONUNBUFFERED": "1",
        }
        command = [python_of(request.info), "-u", self._runner, *arguments(request, self._engine)]
        try:
            program = subprocess.Popen(command, cwd=request.pwd or None, env=environment)
        except OSError as error:
            return language_pb2.RunResponse(error=f"the program can't be started: {error}; run `make setup`")
        self._programs.add(program)
        code = program.wait()
        self._programs.discard(program)
        if code == 0:
            return language_pb2.RunResponse()
        if code == BAIL:
            return language_pb2.RunResponse(bail=True)
        return language_pb2.RunResponse(error=f"the program ended with exit code {code}")

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.end_programs()
        return empty_pb2.Empty()

    def end_programs(self) -> None:
        """Asks all programs that still run to end."""
        for program in tuple(self._programs):
            program.terminate()


def main() -> int:
    """Serves until the engine ends."""
    runner = os.environ.get("PULUMI_LANGUAGE_PYTHON_EXEC", "")
    if not Path(runner).is_file():
        print(f"pulumi-language-python: no program runner at `{runner}`: run tools/setup-pulumi.sh", file=sys.stderr)
        return 1
    engine = next((word for word in sys.argv[1:] if not word.startswith("-") and ":" in word), "")
    parent, ended = os.getppid(), threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):  # from the engine when it is done with us, never from a terminal
        signal.signal(each, lambda *_: ended.set())
    server = grpc.server(ThreadPoolExecutor(max_workers=8), options=UNLIMITED)
    host = Host(engine, runner)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    while os.getppid() == parent and not ended.wait(0.5):
        pass
    host.end_programs()
    server.stop(grace=0.2).wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
