"""BMCs over Redfish: power, and who the machine is. HTTPS only against a pinned authority; secrets read when needed.

A read is repeated a few times, since repeating it changes nothing. A request that changes power is made once and then
looked after: what the BMC shows is believed, not what it answered.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from fleet.errors import FleetError, Unavailable
from fleet.model.health import Gap
from fleet.model.ids import NodeId
from fleet.model.observation import NodeSeen, Power
from fleet.model.order import Again, Done, Failed, Lost, Outcome
from fleet.model.topology import DeclaredNode

READ_ATTEMPTS = 3
READ_PAUSE_SECONDS = 0.5
SETTLE_POLL_SECONDS = 0.5
LATER = timedelta(seconds=30)
POWER_WORDS = {"on": Power.ON, "off": Power.OFF}  # what Redfish calls PoweringOn, PoweringOff or Paused is neither
T = TypeVar("T")

logging.getLogger("sushy").addHandler(logging.NullHandler())  # what it complains of we say ourselves, in one line


class RedfishPower:
    """The ports `PowerPort` and `Observe` over Redfish. `password` gives a node's when it is connected to."""

    def __init__(
        self,
        user: str,
        password: Callable[[NodeId], str],
        *,
        ca: Path | None,
        seconds: float = 10.0,
        settle_seconds: float = 60.0,
        grace_seconds: float = 20.0,
        workers: int = 32,
        silence_seconds: float = 15.0,
    ) -> None:
        self._silence = silence_seconds
        self._silent: dict[NodeId, tuple[float, str]] = {}
        self._user, self._password, self._ca = user, password, ca
        self._seconds, self._settle, self._grace, self._workers = seconds, settle_seconds, grace_seconds, workers
        self._systems: dict[str, Any] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def serial(self, node: DeclaredNode) -> str:
        """The serial number that the BMC holds of its machine."""
        serial = str(self._read(node, lambda system: system.serial_number or "")).strip()
        if not serial:
            raise Unavailable(f"BMC of {node.id}", "it names no serial number", f"look at {node.bmc}")
        return serial

    def power(self, node: DeclaredNode) -> str:
        """`on`, `off`, or `unknown` while it changes."""
        return self._state(node).value

    def turn_on(self, node: DeclaredNode) -> Outcome:
        """On, if it isn't."""
        return self._towards(node, Power.ON, ("On",))

    def turn_off(self, node: DeclaredNode) -> Outcome:
        """Off: asked first, forced when the grace is over."""
        return self._towards(node, Power.OFF, ("GracefulShutdown", "ForceOff"))

    def cycle(self, node: DeclaredNode) -> Outcome:
        """Off by force, seen off, then on and seen on: a restart in one request could not be told from none."""
        off = self._towards(node, Power.OFF, ("ForceOff",))
        if not isinstance(off, Done):
            return off
        on = self._towards(node, Power.ON, ("On",))
        match on:
            case Done():
                return Done("power cycled: seen off, then on", {"power": "on"})
            case Again(_, why) | Failed(why):
                return Lost(f"off, and not on again: {why}")
            case _:
                return on

    def look(self, nodes: Sequence[DeclaredNode]) -> Mapping[NodeId, NodeSeen]:
        """Power and serial number of each node, side by side; a BMC that gives none is a gap."""
        with_bmc = [node for node in nodes if node.bmc]
        if not with_bmc:
            return {}
        with ThreadPoolExecutor(min(self._workers, len(with_bmc)), "bmc") as threads:
            return {seen.id: seen for seen in threads.map(self._look, with_bmc)}

    def _look(self, node: DeclaredNode) -> NodeSeen:
        since, why = self._silent.get(node.id, (0.0, ""))
        if why and time.monotonic() - since < self._silence:  # one sick BMC must not stretch every pass
            return NodeSeen(node.id, gaps=(Gap("bmc", why),))
        try:
            power, serial = self._read(
                node, lambda system: (_power_of(system), str(system.serial_number or "").strip()), attempts=1
            )
        except FleetError as error:
            why = error.cause or error.thing
            self._silent[node.id] = time.monotonic(), why
            return NodeSeen(node.id, gaps=(Gap("bmc", why),))
        self._silent.pop(node.id, None)
        gaps = () if serial else (Gap("bmc serial", "the BMC names none"),)
        return NodeSeen(node.id, power=power, serial=serial, gaps=gaps)

    def _state(self, node: DeclaredNode) -> Power:
        return self._read(node, _power_of)

    def _towards(self, node: DeclaredNode, wanted: Power, ways: Sequence[str]) -> Outcome:
        """Look, ask for the first way, wait until it is seen; then the next way."""
        try:
            if self._state(node) is wanted:
                return Done(f"was {wanted}", {"power": wanted.value})
        except FleetError as error:
            return Again(LATER, f"{error}")
        why = ""
        for number, way in enumerate(ways):
            seconds = self._settle if number == len(ways) - 1 else self._grace
            try:
                why = self._reset(node, way)
                if self._settled(node, wanted, 2.0 if why else seconds):
                    return Done(f"{wanted}, by {way}", {"power": wanted.value})
            except FleetError as error:
                return Lost(f"{way} was asked, then: {error}")
        return Failed(f"{ways[-1]} was asked and the power is not {wanted}" + (f": {why}" if why else ""))

    def _reset(self, node: DeclaredNode, way: str) -> str:
        """Ask once; empty, or what the BMC said against it."""
        import sushy
        from sushy import exceptions

        try:
            with self._connected(node) as system:
                system.reset_system(sushy.ResetType(way))
        except exceptions.ConnectionError as error:
            raise Unavailable(f"BMC of {node.id}", _said(error), f"look at {node.bmc}") from error
        except exceptions.SushyError as error:
            return _said(error)
        return ""

    def _settled(self, node: DeclaredNode, wanted: Power, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while True:
            if self._state(node) is wanted:
                return True
            if time.monotonic() > until:
                return False
            time.sleep(SETTLE_POLL_SECONDS)

    def _read(self, node: DeclaredNode, what: Callable[[Any], T], attempts: int = READ_ATTEMPTS) -> T:
        """A fresh look at the system, repeated within bounds; Unavailable says what the BMC did instead."""
        import tenacity
        from sushy import exceptions

        def once() -> T:
            with self._connected(node) as system:
                system.refresh(force=True)
                return what(system)

        repeat = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(attempts) | tenacity.stop_after_delay(self._seconds),
            wait=tenacity.wait_fixed(READ_PAUSE_SECONDS),
            retry=tenacity.retry_if_exception_type((exceptions.ConnectionError, exceptions.ServerSideError)),
            reraise=True,
        )
        try:
            return repeat(once)
        except exceptions.SushyError as error:
            self._forget(node)
            raise Unavailable(f"BMC of {node.id}", _said(error), f"look at {node.bmc}") from error
        except (OSError, ValueError) as error:  # a certificate file that isn't there, an answer that isn't JSON
            self._forget(node)
            raise Unavailable(f"BMC of {node.id}", str(error), "look at the path of its authority") from error

    def _connected(self, node: DeclaredNode) -> _Held:
        """The node's one system, held by one thread at a time."""
        if not node.bmc.startswith("https://"):
            raise Unavailable(f"BMC of {node.id}", f"{node.bmc!r} is not an https address", "declare its `bmc`")
        with self._lock:
            lock = self._locks.setdefault(node.bmc, threading.Lock())
        return _Held(lock, lambda: self._system(node))

    def _system(self, node: DeclaredNode) -> Any:
        if node.bmc not in self._systems:
            self._systems[node.bmc] = self._open(node)
        return self._systems[node.bmc]

    def _open(self, node: DeclaredNode) -> Any:
        import sushy
        from sushy import auth

        root = sushy.Sushy(
            node.bmc,
            auth=auth.BasicAuth(self._user, self._password(node.id)),
            verify=str(self._ca) if self._ca is not None else True,
            server_side_retries=0,
            server_side_retries_delay=1,
            read_timeout=self._seconds,
            connect_timeout=min(self._seconds, 5.0),
        )
        members = root.get_system_collection().members_identities
        if len(members) != 1:
            raise Unavailable(f"BMC of {node.id}", f"it manages {len(members)} systems", "one is expected per BMC")
        return root.get_system(members[0])

    def _forget(self, node: DeclaredNode) -> None:
        with self._lock:
            self._systems.pop(node.bmc, None)


class _Held:
    """A system for the time of a `with`."""

    def __init__(self, lock: threading.Lock, system: Callable[[], Any]) -> None:
        self._lock, self._system = lock, system

    def __enter__(self) -> Any:
        self._lock.acquire()
        try:
            return self._system()
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _power_of(system: Any) -> Power:
    state = system.power_state
    return POWER_WORDS.get(str(getattr(state, "value", state)).lower(), Power.UNKNOWN)


def _said(error: Exception) -> str:
    """One line about what the BMC did instead of answering; the address stands beside it already."""
    status = getattr(error, "status_code", None)
    if status is not None:
        words = {401: "it refuses the account", 403: "it refuses the account"}
        return words.get(int(status), f"it answered HTTP {status}")
    text = str(error)
    for mark, meaning in (
        ("CERTIFICATE_VERIFY_FAILED", "its certificate is not signed by the pinned authority"),
        ("timed out", "no answer in time"),
        ("Connection refused", "connection refused"),
        ("No route to host", "no route to it"),
    ):
        if mark in text:
            return meaning
    return (text.strip().splitlines() or [type(error).__name__])[0][:200]
