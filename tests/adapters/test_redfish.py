"""A BMC over HTTPS, by a small server of our own that can be slow, wrong, dead, or deaf to what it is told."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import json
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from fleet.adapters.redfish import RedfishPower
from fleet.errors import Unavailable
from fleet.model.ids import NodeId, PoolId
from fleet.model.observation import Power
from fleet.model.order import Again, Done, Failed, Lost
from fleet.model.topology import DeclaredNode

SYSTEM = "/redfish/v1/Systems/1"
PASSWORD = "a secret"


@dataclass
class Bmc:
    """The machine's power as its BMC keeps it, and what is wrong with the BMC."""

    power: str = "On"
    serial: str | None = "SN-1"
    fault: str = ""  # 500, slow, deaf (takes resets and does nothing), stubborn (ignores a graceful one), breaks
    resets: list[str] = field(default_factory=list)
    reads: int = 0
    place: str = ""

    def body(self, path: str) -> dict[str, Any] | None:
        match path.rstrip("/"):
            case "/redfish/v1":
                return {"Id": "Root", "Name": "Root", "RedfishVersion": "1.6.0", "Systems": link("/redfish/v1/Systems")}
            case "/redfish/v1/Systems":
                return {"Name": "Systems", "Members": [link(SYSTEM)], "Members@odata.count": 1}
            case "/redfish/v1/Systems/1":
                ways = ["On", "ForceOff", "GracefulShutdown"]
                action = {"target": SYSTEM + "/Actions/Reset", "ResetType@Redfish.AllowableValues": ways}
                return {
                    "Id": "1", "Name": "n01", "PowerState": self.power, "SerialNumber": self.serial, "UUID": "u",
                    "Status": {}, "Actions": {"#ComputerSystem.Reset": action},
                }  # fmt: skip
        return None

    def reset(self, way: str) -> None:
        self.resets.append(way)
        if self.fault == "deaf" or (self.fault == "stubborn" and way == "GracefulShutdown"):
            return
        self.power = "On" if way == "On" else "Off"


def link(path: str) -> dict[str, str]:
    return {"@odata.id": path}


def serve(bmc: Bmc) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def answer(self, status: int, body: dict[str, Any] | None = None) -> None:
            text = json.dumps(body or {}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def refused(self) -> bool:
            given = base64.b64decode(self.headers.get("Authorization", "Basic ")[6:]).decode()
            if given != f"fleet:{PASSWORD}" and self.path.rstrip("/") != "/redfish/v1":  # the root is open, as in life
                self.answer(401)
            elif bmc.fault == "500":
                self.answer(500)
            else:
                if bmc.fault == "slow":
                    time.sleep(3)
                return False
            return True

        def do_GET(self) -> None:
            bmc.reads += 1
            if not self.refused():
                body = bmc.body(self.path)
                self.answer(200 if body else 404, body)

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if bmc.fault == "breaks":
                bmc.resets.append(asked["ResetType"])
                bmc.fault = "500"
                self.answer(500)
            elif not self.refused():
                bmc.reset(asked["ResetType"])
                self.answer(204)

    return Handler


def certificate(directory: Path) -> Path:
    """A key and a certificate for 127.0.0.1, signed by itself, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "bmc")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    text = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = directory / "bmc.pem"
    file.write_bytes(text + made.public_bytes(pem))
    return file


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("bmc"))


@pytest.fixture
def bmc(pem: Path) -> Iterator[Bmc]:
    made = Bmc()
    server = ThreadingHTTPServer(("127.0.0.1", 0), serve(made))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    made.place = f"https://127.0.0.1:{server.server_port}"
    yield made
    server.shutdown()
    server.server_close()
    thread.join()


def node(bmc: Bmc, place: str | None = None) -> DeclaredNode:
    return DeclaredNode(NodeId("n01"), PoolId("p"), "SN-1", (), bmc=bmc.place if place is None else place)


def power(ca: Path | None, password: str = PASSWORD, **more: float) -> RedfishPower:
    times = {"seconds": 1.0, "settle_seconds": 0.6, "grace_seconds": 0.2} | more
    return RedfishPower("fleet", lambda node: password, ca=ca, **times)  # type: ignore[arg-type]  # floats, as asked


def test_who_the_machine_is_and_whether_it_is_on(bmc: Bmc, pem: Path) -> None:
    assert (power(pem).serial(node(bmc)), power(pem).power(node(bmc))) == ("SN-1", "on")
    seen = power(pem).look([node(bmc)])[NodeId("n01")]
    assert (seen.power, seen.serial, seen.gaps) == (Power.ON, "SN-1", ())


@pytest.mark.parametrize(
    ("fault", "why"),
    [("500", "it answered HTTP 500"), ("slow", "no answer in time"), ("password", "it refuses the account")],
)
def test_a_bmc_that_gives_no_answer_is_a_gap_and_nothing_is_asked_of_it(
    bmc: Bmc, pem: Path, fault: str, why: str
) -> None:
    bmc.fault = fault
    port = power(pem, "wrong" if fault == "password" else PASSWORD)
    seen = port.look([node(bmc)])[NodeId("n01")]
    assert (seen.power, seen.serial, seen.gaps[0].why) == (Power.UNKNOWN, "", why)
    assert isinstance(port.cycle(node(bmc)), Again)
    assert bmc.resets == []
    with pytest.raises(Unavailable, match=why):
        port.power(node(bmc))


def test_a_bmc_that_is_not_there(pem: Path) -> None:
    seen = power(pem).look([node(Bmc(), "https://127.0.0.1:1")])[NodeId("n01")]
    assert seen.gaps[0].why == "connection refused"


@pytest.mark.parametrize("ca", [None, "missing"])
def test_a_certificate_of_another_authority_is_not_believed(bmc: Bmc, tmp_path: Path, ca: str | None) -> None:
    seen = power(None if ca is None else tmp_path / ca).look([node(bmc)])[NodeId("n01")]
    assert (seen.power, bool(seen.gaps)) == (Power.UNKNOWN, True)
    assert bmc.reads == 0


@pytest.mark.parametrize("place", ["http://127.0.0.1:1", "", "ftp://x"])
def test_only_https(pem: Path, place: str) -> None:
    with pytest.raises(Unavailable, match="https"):
        power(pem).serial(node(Bmc(), place))


def test_a_read_that_failed_once_is_read_again(bmc: Bmc, pem: Path) -> None:
    bmc.fault = "500"
    timer = threading.Timer(0.3, lambda: setattr(bmc, "fault", ""))
    timer.start()
    assert power(pem, seconds=5).power(node(bmc)) == "on"
    timer.join()


def test_a_machine_without_a_serial_is_an_error_and_a_gap(bmc: Bmc, pem: Path) -> None:
    bmc.serial = None
    with pytest.raises(Unavailable, match="no serial"):
        power(pem).serial(node(bmc))
    assert power(pem).look([node(bmc)])[NodeId("n01")].gaps[0].what == "bmc serial"


def test_nothing_is_asked_of_a_machine_that_is_as_wanted(bmc: Bmc, pem: Path) -> None:
    assert isinstance(power(pem).turn_on(node(bmc)), Done)
    assert bmc.resets == []


def test_off_is_asked_for_first_and_forced_when_the_grace_is_over(bmc: Bmc, pem: Path) -> None:
    bmc.fault = "stubborn"
    assert isinstance(power(pem).turn_off(node(bmc)), Done)
    assert (bmc.resets, bmc.power) == (["GracefulShutdown", "ForceOff"], "Off")


def test_a_cycle_is_seen_off_and_then_on(bmc: Bmc, pem: Path) -> None:
    assert isinstance(power(pem).cycle(node(bmc)), Done)
    assert (bmc.resets, bmc.power) == (["ForceOff", "On"], "On")


def test_a_bmc_that_says_yes_and_does_nothing_has_failed(bmc: Bmc, pem: Path) -> None:
    bmc.fault = "deaf"
    assert power(pem).cycle(node(bmc)) == Failed("ForceOff was asked and the power is not off")


def test_an_answer_lost_after_power_was_asked_for_is_lost_and_asked_once(bmc: Bmc, pem: Path) -> None:
    bmc.fault = "breaks"
    assert isinstance(power(pem).cycle(node(bmc)), Lost)
    assert bmc.resets == ["ForceOff"]


def test_a_machine_in_between_is_neither_on_nor_off(bmc: Bmc, pem: Path) -> None:
    bmc.power = "PoweringOff"
    assert power(pem).power(node(bmc)) == "unknown"


def test_a_bmc_that_failed_in_a_look_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def fails(self: RedfishPower, node: DeclaredNode, what: object, attempts: int = 0) -> None:
        asked.append(node.id)
        raise Unavailable(f"BMC of {node.id}", "HTTP 500", "look at it")

    monkeypatch.setattr(RedfishPower, "_read", fails)
    node = DeclaredNode(NodeId("n1"), PoolId("p"), "S1", (), bmc="https://192.0.2.1")
    for silence, times in ((60.0, 1), (0.0, 3)):
        asked.clear()
        power = RedfishPower("fleet", lambda _: "secret", ca=None, silence_seconds=silence)
        gaps = [power.look([node])[node.id].gaps[0].why for _ in range(3)]
        assert (gaps, len(asked)) == (["HTTP 500"] * 3, times)
