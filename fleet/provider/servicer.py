"""The gRPC servicer: the engine's questions to the resources, and their answers to the engine.

Ports are opened when hardware or the ledger is first asked, so that a start and a preview cost and touch nothing. A
create that got half-way is told by aborting with `ErrorResourceInitFailed` in the rich status details: the engine then
keeps the resource in its state, with the reasons, and comes back to it in the next run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import grpc

from fleet.errors import FleetError
from fleet.provider import node, pool, rack, site
from fleet.provider.node import Node
from fleet.provider.properties import Properties, plain, struct
from fleet.provider.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2
from fleet.provider.resource import Ask, Flaw, Gone, Made, Ports, Refused, Resource
from fleet.provider.schema import schema
from fleet.provider.settings import CONFIG_KEYS, Settings

OpenPorts = Callable[[Settings], Ports]


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """Answers the engine. `open_ports` is called at most once, with the stack's settings."""

    def __init__(self, open_ports: OpenPorts, version: str, environ: Mapping[str, str]) -> None:
        self._open_ports = open_ports
        self._version = version
        self._environ = environ
        self._stack = Path.cwd()  # the engine starts us in the stack's directory; Handshake names the plugin's own
        self._settings: Settings | None = None
        self._ports: Ports | None = None
        self._lock = threading.Lock()
        self._interrupted = threading.Event()
        self._site = site.site(self.ports)
        self._resources: Mapping[str, Resource] = {
            site.TYPE: self._site,
            rack.TYPE: rack.RACK,
            pool.TYPE: pool.POOL,
            node.TYPE: Node(self.ports),
        }

    def ports(self) -> Ports:
        """The world, opened on first use."""
        with self._lock:
            if self._ports is None:
                if self._settings is None:
                    self._settings = Settings.of({}, self._environ, self._stack)
                self._ports = self._open_ports(self._settings)
            return self._ports

    def interrupt(self) -> None:
        """What waits stops waiting, and is told as unfinished."""
        self._interrupted.set()

    # Handshake and configuration: local.

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:
        return provider_pb2.ProviderHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> Any:
        return plugin_pb2.PluginInfo(version=self._version)

    def GetSchema(self, request: Any, context: grpc.ServicerContext) -> Any:
        return provider_pb2.GetSchemaResponse(schema=schema(self._version, self._site))

    def CheckConfig(self, request: Any, context: grpc.ServicerContext) -> Any:
        news = plain(request.news)
        flaws = [
            provider_pb2.CheckFailure(
                property=key, reason=f"unknown setting fleet:{key}; known are {', '.join(CONFIG_KEYS)}"
            )
            for key in news
            if key not in CONFIG_KEYS and key != "version"
        ]
        return provider_pb2.CheckResponse(inputs=request.news, failures=flaws)

    def DiffConfig(self, request: Any, context: grpc.ServicerContext) -> Any:
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request: Any, context: grpc.ServicerContext) -> Any:
        config = {key.rpartition(":")[2]: value for key, value in request.variables.items()}
        try:
            self._settings = Settings.of(config, self._environ, self._stack)
        except ValueError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"configuration: {error}")
        return provider_pb2.ConfigureResponse(acceptSecrets=False, supportsPreview=False)

    # Check and Diff: local too.

    def Check(self, request: Any, context: grpc.ServicerContext) -> Any:
        resource = self._resource(request.urn, context)
        flaws = self._answer(lambda: resource.check(plain(request.olds), plain(request.news)), context)
        failures = [provider_pb2.CheckFailure(property=flaw.name, reason=flaw.why) for flaw in _flaws(flaws)]
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    def Diff(self, request: Any, context: grpc.ServicerContext) -> Any:
        olds = plain(request.olds)
        found = self._resource(request.urn, context).diff(plain(request.old_inputs), olds, plain(request.news))
        names = [name for name in found if name not in set(request.ignoreChanges)]
        update = provider_pb2.PropertyDiff(kind=provider_pb2.PropertyDiff.UPDATE)
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if names else provider_pb2.DiffResponse.DIFF_NONE,
            diffs=names,
            detailedDiff=dict.fromkeys(names, update),
            hasDetailedDiff=True,
        )

    # These four ask hardware and the ledger.

    def Create(self, request: Any, context: grpc.ServicerContext) -> Any:
        if request.preview:
            return provider_pb2.CreateResponse(properties=request.properties)
        resource, inputs = self._resource(request.urn, context), plain(request.properties)
        made = self._answer(lambda: resource.create(inputs, self._ask(request.timeout)), context)
        self._unfinished(made, inputs, context)
        return provider_pb2.CreateResponse(id=made.id, properties=struct(made.outputs))

    def Read(self, request: Any, context: grpc.ServicerContext) -> Any:
        resource, inputs, outputs = (
            self._resource(request.urn, context),
            plain(request.inputs),
            plain(request.properties),
        )
        found = self._answer(lambda: resource.read(request.id, inputs, outputs), context)
        if isinstance(found, Gone):
            return provider_pb2.ReadResponse()
        self._unfinished(found, inputs, context)
        return provider_pb2.ReadResponse(
            id=found.id, properties=struct(found.outputs), inputs=struct(found.inputs or inputs)
        )

    def Update(self, request: Any, context: grpc.ServicerContext) -> Any:
        if request.preview:
            return provider_pb2.UpdateResponse(properties=request.news)
        resource, olds, news = self._resource(request.urn, context), plain(request.olds), plain(request.news)
        made = self._answer(lambda: resource.update(request.id, news, olds, self._ask(request.timeout)), context)
        self._unfinished(made, news, context)
        return provider_pb2.UpdateResponse(properties=struct(made.outputs))

    def Delete(self, request: Any, context: grpc.ServicerContext) -> Any:
        from google.protobuf import empty_pb2

        resource = self._resource(request.urn, context)
        self._answer(lambda: resource.delete(request.id, plain(request.properties)), context)
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Any:
        from google.protobuf import empty_pb2

        self.interrupt()
        return empty_pb2.Empty()

    def _resource(self, urn: str, context: grpc.ServicerContext) -> Resource:
        token = urn.split("::")[2].rpartition("$")[2]
        found = self._resources.get(token)
        if found is None:
            known = ", ".join(sorted(self._resources))
            context.abort(grpc.StatusCode.UNIMPLEMENTED, f"fleet has no resource {token}; it has {known}")
        return found  # type: ignore[return-value]  # abort raises

    def _ask(self, timeout: float) -> Ask:
        default = self._settings.boot_seconds if self._settings is not None else 300.0
        return Ask(timeout or default, self._interrupted.is_set)

    def _answer(self, question: Callable[[], Any], context: grpc.ServicerContext) -> Any:
        """The answer of a resource; a refusal or an error of ours becomes the engine's error, without a traceback."""
        try:
            answer = question()
        except FleetError as error:
            lines = [str(error), *([f"next: {error.next_step}"] if error.next_step else [])]
            context.abort(grpc.StatusCode.UNKNOWN, "\n".join(lines))
        if isinstance(answer, Refused):
            context.abort(grpc.StatusCode.UNKNOWN, str(answer))
        return answer

    def _unfinished(self, made: Made, inputs: Properties, context: grpc.ServicerContext) -> None:
        if made.unfinished:
            _abort_unfinished(made, inputs, context)


def _flaws(found: Any) -> list[Flaw]:
    return list(found)


def _abort_unfinished(made: Made, inputs: Properties, context: grpc.ServicerContext) -> NoReturn:
    failed = provider_pb2.ErrorResourceInitFailed(
        id=made.id,
        properties=struct(made.outputs),
        inputs=struct(made.inputs or inputs),
        reasons=made.unfinished,
    )
    message = "; ".join(made.unfinished)
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=message)
    status.details.add().Pack(failed)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, message)
    raise AssertionError("abort raises")
