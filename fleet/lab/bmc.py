"""STAND-IN: every BMC of the lab in one process, on the sushy-tools Redfish emulator with a systems driver of ours.

Each node has a listener at its own loopback address with its own certificate and password, and sees one system: the
local address of a connection decides which. Power actions really start, stop and reset the node's container. Faults are
read from the node's fault file at every request, so that they work at once; a dead BMC closes its listener.
"""

from __future__ import annotations

import base64
import contextvars
import hmac
import json
import signal
import ssl
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import flask
from sushy_tools import error
from sushy_tools.emulator import main as emulator
from sushy_tools.emulator.resources.systems.base import AbstractSystemsDriver
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from fleet.lab import containers
from fleet.lab.home import Home
from fleet.lab.layout import BMC_PORT, LabNode, Layout, layout

USER = "fleet"
NAMESPACE = uuid.UUID("6f9e8c1e-2c1b-4a7e-9d53-0f1ee7000001")
SLOW_SECONDS = 20.0
GRACE_S = 10
HERE: contextvars.ContextVar[LabNode] = contextvars.ContextVar("node")

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def system_id(node: LabNode) -> str:
    """The node's UUID, as its Redfish system is named."""
    return str(uuid.uuid5(NAMESPACE, node.serial))


class ContainerSystems(AbstractSystemsDriver):  # type: ignore[misc]  # sushy-tools has no types
    """Redfish systems that are containers; inheritance is what sushy-tools demands."""

    def __init__(self, plan: Layout) -> None:
        self._nodes = {system_id(node): node for node in plan.nodes}
        self._locks = {identity: threading.Lock() for identity in self._nodes}
        self._boot: dict[str, str] = {}

    @property
    def driver(self) -> str:
        return "<containers of the lab>"

    @property
    def systems(self) -> list[str]:
        return [system_id(HERE.get())]

    def _node(self, identity: str) -> LabNode:
        here = HERE.get()
        if identity not in (system_id(here), here.name):
            raise error.NotFound(f"this BMC has no system {identity}")
        return here

    def uuid(self, identity: str) -> str:
        return system_id(self._node(identity))

    def name(self, identity: str) -> str:
        return self._node(identity).name

    def get_power_state(self, identity: str) -> str:
        return "On" if containers.status(self._node(identity).container) in containers.POWERED else "Off"

    def set_power_state(self, identity: str, state: str) -> None:
        node = self._node(identity)
        steps = POWER.get(state)
        if steps is None:
            raise error.NotSupportedError(f"power state {state} is not supported")
        with self._locks[system_id(node)]:
            for step in steps:
                step(node.container)

    def get_boot_device(self, identity: str) -> str:
        return self._boot.get(self._node(identity).name, "Hdd")

    def set_boot_device(self, identity: str, boot_source: str) -> None:
        self._boot[self._node(identity).name] = boot_source

    def get_boot_mode(self, identity: str) -> str:
        return "UEFI"

    def get_total_memory(self, identity: str) -> int:
        return 500

    def get_total_cpus(self, identity: str) -> int:
        return 64

    def get_nics(self, identity: str) -> list[dict[str, str]]:
        mac = f"02:77:01:00:00:{self._node(identity).index:02x}"
        return [{"id": mac, "mac": mac}]


def _cut(container: str) -> None:
    containers.power_off(container, grace_s=0)


def _ask(container: str) -> None:
    containers.power_off(container, grace_s=GRACE_S)


POWER: dict[str, tuple[Callable[[str], None], ...]] = {
    "On": (containers.power_on,),
    "ForceOn": (containers.power_on,),
    "ForceOff": (_cut,),
    "GracefulShutdown": (_ask,),
    "GracefulRestart": (_ask, containers.power_on),
    "ForceRestart": (_cut, containers.power_on),
}


def fault_of(home: Home, node: LabNode) -> tuple[str, float]:
    """Kind and number of the fault that is on this BMC now; an empty kind for none."""
    try:
        found = json.loads((home.faults / f"{node.name}.json").read_text()).get("bmc")
    except FileNotFoundError:
        return "", 0
    return (found["kind"], float(found.get("value", 0))) if found else ("", 0)


def front(home: Home, node: LabNode, inner: Wsgi) -> Wsgi:
    """The emulator as this node's BMC shows it: its faults first, then its password, then its one system."""
    password = (home.bmc / node.name / "password").read_text()
    expected = "Basic " + base64.b64encode(f"{USER}:{password}".encode()).decode()

    def serve(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        kind, value = fault_of(home, node)
        if kind == "slow":
            time.sleep(value or SLOW_SECONDS)
        if kind == "500":
            return _refuse(start, "500 Internal Server Error", "the service is not able to answer")
        public = environ.get("PATH_INFO", "").strip("/") in ("", "redfish", "redfish/v1")
        if not public and not hmac.compare_digest(environ.get("HTTP_AUTHORIZATION", ""), expected):
            return _refuse(start, "401 Unauthorized", "user or password is wrong")
        token = HERE.set(node)
        try:
            return list(inner(environ, start))
        finally:
            HERE.reset(token)

    return serve


def _refuse(start: Callable[..., Any], status: str, message: str) -> Iterable[bytes]:
    body = json.dumps({"error": {"code": "Base.1.0.GeneralError", "message": message}}).encode()
    start(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


def prepare_emulator(home: Home, plan: Layout) -> Wsgi:
    """The sushy-tools application with our driver, and with the serial that its own template leaves out."""
    app = emulator.app
    app.config.update(SUSHY_EMULATOR_FEATURE_SET="full", SUSHY_EMULATOR_STATE_DIR=str(home.bmc))
    driver = ContainerSystems(plan)
    type(app).systems = property(lambda _: driver)

    def add_identity(response: flask.Response) -> flask.Response:
        if flask.request.endpoint == "system_resource" and flask.request.method == "GET" and response.is_json:
            node = HERE.get()
            wrong = fault_of(home, node)[0] == "wrong-serial"
            serial = "WRONG" + node.serial[3:] if wrong else node.serial
            model = f"lab {node.pool.accelerator} node (stand-in)"
            seen = json.loads(response.get_data()) | {"SerialNumber": serial, "SKU": serial, "Model": model}
            response.set_data(json.dumps(seen))
        return response

    app.after_request(add_identity)
    return app.wsgi_app  # type: ignore[no-any-return]  # Flask's own WSGI callable


class QuietRequests(WSGIRequestHandler):
    """No line per request; inheritance is what werkzeug demands."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


class Listener(threading.Thread):
    """One node's BMC on the network: open, except while its fault is `dead`."""

    def __init__(self, home: Home, node: LabNode, app: Wsgi) -> None:
        super().__init__(daemon=True, name=f"bmc-{node.name}")
        self._home, self._node, self._app = home, node, front(home, node, app)

    def run(self) -> None:
        while True:
            if fault_of(self._home, self._node)[0] == "dead":
                time.sleep(0.2)
                continue
            server = self._open()
            worker = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True)
            worker.start()
            while fault_of(self._home, self._node)[0] != "dead":
                time.sleep(0.2)
            server.shutdown()
            server.server_close()

    def _open(self) -> BaseWSGIServer:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        directory = self._home.bmc / self._node.name
        context.load_cert_chain(directory / "cert.pem", directory / "key.pem")
        return make_server(
            self._node.bmc_address,
            BMC_PORT,
            self._app,
            threaded=True,
            request_handler=QuietRequests,
            ssl_context=context,
        )


def main() -> int:
    """`python -m fleet.lab.bmc HOME NODES`: serve until told to stop."""
    home, plan = Home(Path(sys.argv[1])), layout(int(sys.argv[2]))
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    signal.signal(signal.SIGINT, lambda *_: stopped.set())
    app = prepare_emulator(home, plan)
    for node in plan.nodes:
        Listener(home, node, app).start()
    stopped.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
