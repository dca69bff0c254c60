"""An SSH server in this process that runs commands here: for tests of the client side."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

import paramiko

from fleet.adapters.paramiko_ssh import Target


class _Session(paramiko.ServerInterface):
    def __init__(self, server: Server) -> None:
        self._server = server

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        known = key.get_base64() == self._server.allowed and username == "root"
        return paramiko.AUTH_SUCCESSFUL if known else paramiko.AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return paramiko.OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        self._server.commands.append(command.decode())
        threading.Thread(target=self._run, args=(channel, command.decode()), daemon=True).start()
        return True

    def _run(self, channel: paramiko.Channel, command: str) -> None:
        if self._server.mute:
            return
        given = channel.makefile("rb").read()
        done = subprocess.run(["sh", "-c", command], input=given, capture_output=True, timeout=60)
        with contextlib.suppress(OSError):  # the client may be gone
            channel.sendall(done.stdout)
            channel.sendall_stderr(done.stderr)
            channel.send_exit_status(done.returncode)
            channel.shutdown_write()
            channel.close()


@dataclass
class Server:
    """Listens until `close`. `mute` takes commands and never answers; `connections` counts them."""

    allowed: str
    host_key: paramiko.PKey
    mute: bool = False
    commands: list[str] = field(default_factory=list)
    transports: list[paramiko.Transport] = field(default_factory=list)
    _socket: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    def start(self) -> None:
        self._socket.settimeout(0.1)
        self._thread = threading.Thread(target=self._accept)
        self._running = True
        self._thread.start()

    def _accept(self) -> None:
        while self._running:
            try:
                client, _ = self._socket.accept()
            except TimeoutError:
                continue
            transport = paramiko.Transport(client)
            transport.add_server_key(self.host_key)
            self.transports.append(transport)
            try:
                transport.start_server(server=_Session(self))
            except (EOFError, paramiko.SSHException):
                continue  # a client that only looked at our key, or refused it

    def break_connections(self) -> None:
        for transport in self.transports:
            transport.close()

    def close(self) -> None:
        self._running = False
        self._thread.join()
        self.break_connections()
        self._socket.close()

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    def target(self, host_key: str | None = None) -> Target:
        pinned = f"{self.host_key.get_name()} {self.host_key.get_base64()}" if host_key is None else host_key
        return Target("n01", "127.0.0.1", pinned, self.port)


def key_pair(directory: Path) -> tuple[Path, str]:
    """A private key file and the base64 of its public half."""
    file = directory / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], check=True)
    return file, file.with_suffix(".pub").read_text().split()[1]
