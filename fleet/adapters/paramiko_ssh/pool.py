"""SSH: pooled connections to machines whose host keys are pinned, and programs run there under a time limit.

One fixed command is ever given to the far shell. It reads a program and its request from its standard input, so
nothing that comes from data passes a shell. A host key that is not the pinned one ends the connection; none is learnt.
"""

from __future__ import annotations

import base64
import json
import logging
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fleet.errors import Unavailable

if TYPE_CHECKING:
    import paramiko

BOOTSTRAP = (
    'exec python3 -I -S -c \'import sys;r=sys.stdin.buffer;exec(compile(r.read(int(r.readline())),"fleet","exec"))\''
)
"""Reads a length, a program of that length, and leaves the rest of standard input to it."""

CONNECT_SECONDS = 5.0
MOST_BYTES = 32 << 20

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # what it complains of we say ourselves, in one line


@dataclass(frozen=True, slots=True)
class Target:
    """A machine to reach. `host_key` is `type base64`, as in known_hosts; empty: not pinned, so not reached."""

    name: str
    address: str
    host_key: str
    port: int = 22


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command said. `rc` None: it was ended at its time limit."""

    rc: int | None
    out: str
    err: str = ""

    @property
    def ok(self) -> bool:
        """Whether it ended by itself and said so."""
        return self.rc == 0


@cache
def program(name: str) -> bytes:
    """The text of a program in `fleet.adapters.node_side`."""
    return files("fleet.adapters.node_side").joinpath(f"{name}.py").read_bytes()


def known_host_key(known_hosts: Path, address: str) -> str:
    """The key that a known_hosts file holds for an address, empty if none; ed25519 first."""
    from paramiko.hostkeys import HostKeys

    try:
        entries = HostKeys(str(known_hosts)).lookup(address)
    except OSError as error:
        raise Unavailable(f"{known_hosts}", f"{error.strerror}", "write the machine's host key into it") from error
    if not entries:
        return ""
    name = min(entries.keys(), key=lambda kind: (kind != "ssh-ed25519", kind))
    return f"{name} {entries[name].get_base64()}"


def _key_of(target: Target) -> paramiko.PKey:
    import paramiko

    if not target.host_key:
        raise Unavailable(target.name, "its host key is not pinned", "enrol it with `pulumi up`")
    try:
        kind, blob = target.host_key.split()[:2]
        return paramiko.PKey.from_type_string(kind, base64.b64decode(blob))
    except (ValueError, paramiko.SSHException) as error:
        raise Unavailable(target.name, f"its pinned host key can't be read: {error}", "enrol it again") from error


class SshPool:
    """Connections that are kept and shared between threads: one per machine, the longest unused closed first."""

    def __init__(self, *, user: str, key: Path, connect_seconds: float = CONNECT_SECONDS, most: int = 512) -> None:
        import paramiko  # noqa: F401  # whole before threads ask for it: its modules import each other in a circle

        self._user, self._key, self._connect_seconds, self._most = user, key, connect_seconds, most
        self._open: OrderedDict[tuple[str, int, str], paramiko.SSHClient] = OrderedDict()
        self._lock = threading.Lock()

    def call(self, target: Target, name: str, request: Mapping[str, Any], *, limit: float) -> Any:
        """Send the program `name` and its request; its JSON answer. Unavailable if none comes in `limit` seconds."""
        answer = self._exec(target, program(name), json.dumps(request).encode(), limit)
        try:
            return json.loads(answer.out)
        except ValueError as error:
            last = (answer.err.strip().splitlines() or ["no answer"])[-1]
            raise Unavailable(target.name, f"{name} failed there (exit {answer.rc}): {last}", "") from error

    def run(self, target: Target, argv: Sequence[str], *, stdin: str = "", limit: float = 30.0) -> Answer:
        """Run an argument vector there. Its process group is ended there when the limit is reached."""
        request = {"argv": list(argv), "stdin": stdin, "limit": limit}
        said = self.call(target, "run", request, limit=limit + 5)
        return Answer(said["rc"], said["out"], said["err"])

    def close(self) -> None:
        """End every connection."""
        with self._lock:
            clients, self._open = list(self._open.values()), OrderedDict()
        for client in clients:
            client.close()

    def drop(self, target: Target) -> None:
        """Forget the connection to a machine that is known to go away."""
        with self._lock:
            client = self._open.pop(_place(target), None)
        if client is not None:
            client.close()

    def _exec(self, target: Target, text: bytes, request: bytes, limit: float) -> Answer:
        import paramiko

        deadline = time.monotonic() + limit
        for attempt in (1, 2):  # a kept connection may be dead: then once more over a new one, nothing was sent yet
            client, fresh = self._client(target)
            transport = client.get_transport()
            try:
                if transport is None:
                    raise EOFError("closed")
                channel = transport.open_session(timeout=min(self._connect_seconds, limit))
            except (EOFError, OSError, paramiko.SSHException) as error:
                self.drop(target)
                if fresh or attempt == 2:
                    raise Unavailable(target.name, f"no SSH session: {_said(error)}", "") from error
                continue
            break
        try:
            with channel:
                channel.settimeout(max(0.1, deadline - time.monotonic()))
                channel.exec_command(BOOTSTRAP)
                channel.sendall(b"%d\n%b%b" % (len(text), text, request))
                channel.shutdown_write()
                return _read(channel, deadline)
        except (EOFError, OSError, paramiko.SSHException) as error:
            self.drop(target)
            raise Unavailable(target.name, f"SSH: {_said(error)}", "") from error

    def _client(self, target: Target) -> tuple[paramiko.SSHClient, bool]:
        place = _place(target)
        with self._lock:
            client = self._open.get(place)
            if client is not None:
                self._open.move_to_end(place)
        if client is not None:
            transport = client.get_transport()
            if transport is not None and transport.is_active():
                return client, False
            self.drop(target)
        client = self._connect(target)
        with self._lock:
            other = self._open.pop(place, None)
            self._open[place] = client
            oldest = self._open.popitem(last=False)[1] if len(self._open) > self._most else None
        for unwanted in (other, oldest):
            if unwanted is not None:
                unwanted.close()
        return client, True

    def _connect(self, target: Target) -> paramiko.SSHClient:
        import paramiko

        key = _key_of(target)
        client = paramiko.SSHClient()
        client.set_missing_host_key_policy(paramiko.RejectPolicy())
        shown = target.address if target.port == 22 else f"[{target.address}]:{target.port}"
        client.get_host_keys().add(shown, key.get_name(), key)
        try:
            client.connect(
                target.address,
                port=target.port,
                username=self._user,
                key_filename=str(self._key),
                look_for_keys=False,
                allow_agent=False,
                timeout=self._connect_seconds,
                banner_timeout=self._connect_seconds,
                auth_timeout=self._connect_seconds * 2,
            )
        except paramiko.BadHostKeyException as error:
            client.close()
            step = "look who answers there; if it was rebuilt, enrol it again"
            raise Unavailable(target.name, "it shows another host key than the pinned one", step) from error
        except (EOFError, OSError, paramiko.SSHException) as error:
            client.close()
            raise Unavailable(target.name, f"no SSH: {_said(error)}", "") from error
        return client


def scan_host_key(address: str, *, port: int = 22, seconds: float = CONNECT_SECONDS) -> str:
    """The host key that answers at an address, `type base64`, believed by nobody yet. Unavailable if none answers."""
    import paramiko

    try:
        with socket.create_connection((address, port), timeout=seconds) as plain:
            transport = paramiko.Transport(plain)
            try:
                transport.get_security_options().key_types = tuple(
                    sorted(transport.get_security_options().key_types, key=lambda kind: kind != "ssh-ed25519")
                )
                transport.start_client(timeout=seconds)
                key = transport.get_remote_server_key()
                return f"{key.get_name()} {key.get_base64()}"
            finally:
                transport.close()
    except (EOFError, OSError, paramiko.SSHException) as error:
        raise Unavailable(address, f"no SSH host key: {_said(error)}", "is the machine on, and its sshd?") from error


def runner(
    pool: SshPool, target: Callable[[], Target]
) -> Callable[[Sequence[str], float], tuple[int | None, str, str]]:
    """A plain function that runs argument vectors on one machine, for adapters that drive a command there."""

    def run(argv: Sequence[str], limit: float) -> tuple[int | None, str, str]:
        answer = pool.run(target(), argv, limit=limit)
        return answer.rc, answer.out, answer.err

    return run


def _read(channel: paramiko.Channel, deadline: float) -> Answer:
    """Both streams to their end, or what came until the deadline with `rc` None."""
    out, err = bytearray(), bytearray()
    grace = 0.0  # a child that outlives the program may keep its output open for ever
    while len(out) <= MOST_BYTES:
        moved = False
        while channel.recv_ready():
            out += channel.recv(65536)
            moved = True
        while channel.recv_stderr_ready():
            err += channel.recv_stderr(65536)
            moved = True
        now = time.monotonic()
        if not moved and channel.exit_status_ready():
            grace = grace or now + 1.0
            if channel.eof_received or channel.closed or now > grace:
                return _answer(channel.recv_exit_status(), out, err)
        if now > deadline:
            return _answer(None, out, err)
        if not moved:
            _await(channel, min(deadline - now, 1.0))
    raise OSError("its answer is too large")


def _answer(rc: int | None, out: bytearray, err: bytearray) -> Answer:
    return Answer(rc, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def _await(channel: paramiko.Channel, seconds: float) -> None:
    """Until the channel has something to read, or ended, or the time is up."""
    ends = time.monotonic() + seconds
    pause = 0.001
    while time.monotonic() < ends:
        if channel.recv_ready() or channel.recv_stderr_ready() or channel.closed or channel.eof_received:
            return
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)


def _place(target: Target) -> tuple[str, int, str]:
    return target.address, target.port, target.host_key


def _said(error: BaseException) -> str:
    """One line about an error of the network, never empty."""
    tried = getattr(error, "errors", None)  # paramiko's sum of what each address said
    if isinstance(tried, Mapping) and tried:
        error = next(iter(tried.values()))
    text = (getattr(error, "strerror", None) or str(error)).strip() or type(error).__name__
    return "no answer in time" if isinstance(error, TimeoutError) else text.splitlines()[0]
