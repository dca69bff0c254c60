"""Running the tools that the lab is made with (podman, gpg, ssh-keygen, dpkg-deb): one place, never through a shell."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from fleet.errors import Unavailable

NEEDED = {
    "podman": "podman",
    "runc": "runc",
    "netavark": "netavark",
    "mmdebstrap": "mmdebstrap",
    "dpkg-deb": "dpkg",
    "gpg": "gnupg",
    "ssh-keygen": "openssh-client",
    "nsenter": "util-linux",
    "iptables": "iptables",
}
BEYOND_PATH = ("/usr/sbin", "/usr/lib/podman", "/usr/libexec/podman")


def missing() -> tuple[str, ...]:
    """Debian packages whose command is in none of the places where Debian puts it."""
    path = os.pathsep.join((os.environ.get("PATH", ""), *BEYOND_PATH))
    return tuple(package for command, package in NEEDED.items() if shutil.which(command, path=path) is None)


def run(
    args: Sequence[str | Path],
    *,
    text: str | None = None,
    timeout_s: float = 120,
    env: Mapping[str, str] | None = None,
) -> str:
    """Standard output of a command that must succeed; Unavailable with its last words if it doesn't."""
    done = attempt(args, text=text, timeout_s=timeout_s, env=env)
    if done.returncode != 0:
        words = _last_words(done.stderr or done.stdout)
        raise Unavailable(
            f"`{' '.join(str(a) for a in args[:4])}` failed with {done.returncode}",
            words or "it said nothing",
            "`fleet lab down`, then `fleet lab up`, makes the lab anew",
        )
    return done.stdout


def _last_words(output: str) -> str:
    """The last lines that a command said, without what it only told in passing: the cause stands above the verdict."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and not line.startswith("I: ")]
    return "; ".join(lines[-3:])


def attempt(
    args: Sequence[str | Path],
    *,
    text: str | None = None,
    timeout_s: float = 120,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """The outcome of a command that may fail; Unavailable only if it can't be run or doesn't end in time."""
    try:
        return subprocess.run(
            [str(a) for a in args],
            input=text,
            stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env=dict(env) if env is not None else None,
            check=False,
        )
    except FileNotFoundError as absent:
        package = NEEDED.get(str(args[0]), str(args[0]))
        raise Unavailable(
            f"`{args[0]}` is not on this machine", "the lab is made with it", f"apt-get install {package}"
        ) from absent
    except subprocess.TimeoutExpired as late:
        raise Unavailable(
            f"`{' '.join(str(a) for a in args[:4])}` gave no answer", f"waited {timeout_s:g} s", "try again"
        ) from late
