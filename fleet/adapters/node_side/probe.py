"""Looks at the node it runs on and prints what it sees as one JSON document. Changes nothing.

Request: {"packages": [names], "since": journal cursor or "", "limit": seconds, "lines": most kernel lines,
"tools": whether to ask the accelerators' tools}.
What could not be read stands in `gaps`; a tool that hangs is ended with its process group and says `timed_out`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import Any

TOOLS = {
    "amd-smi version": ["amd-smi", "version", "--json"],
    "amd-smi metric": ["amd-smi", "metric", "--ecc", "--temperature", "--json"],
    "nvidia-smi": ["nvidia-smi", "-q", "-x"],
}
STATE = "/var/lib/fleet"
DEVICE = re.compile(r"/dev/(kfd|nvidia\d+|dri/renderD\d+)$")
DAEMONS = ("nvidia-persiste", "nv-hostengine", "nv-fabricmanage", "dcgm-exporter", "gpuagent", "amd-smi-exporte")
gaps: list[dict[str, str]] = []


def text_of(path: str, missing: str | None = None) -> str:
    """The content of a small file; what is missing is `missing` if that is given, else a gap."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(65536)
    except FileNotFoundError:
        if missing is not None:
            return missing
        gaps.append({"what": path, "why": "no such file"})
    except OSError as error:
        gaps.append({"what": path, "why": error.strerror or str(error)})
    return ""


def start_time(pid: int) -> int:
    """Clock ticks after boot at which a process began; 0 if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rsplit(b")", 1)[1].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


def began(argv: list[str]) -> Any:
    """A started tool in a session of its own with memory for what it prints, or None if it isn't installed.

    Memory and not pipes: a tool that hangs delays none of the others, and a child that keeps its output open not us.
    """
    out, err = os.memfd_create("out"), os.memfd_create("err")
    try:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            env=dict(os.environ, LC_ALL="C.UTF-8"),
        )
        return child, out, err
    except FileNotFoundError:
        return None
    except OSError as error:
        gaps.append({"what": argv[0], "why": error.strerror or str(error)})
        return None


def content(handle: int) -> str:
    """What was printed into a memory file so far."""
    return os.pread(handle, 8 << 20, 0).decode("utf-8", "replace")


def ended(started: Any, argv: list[str], deadline: float) -> dict[str, Any]:
    """What a tool printed, in the shape of a command outcome. Its process group doesn't outlive the deadline."""
    child, out, err = started
    timed_out = False
    try:
        child.wait(timeout=max(0.05, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(child.pid, signal.SIGKILL)
        try:
            child.wait(timeout=1)
        except subprocess.TimeoutExpired:
            gaps.append({"what": argv[0], "why": "can't be ended: it waits in the kernel"})
    code = None if timed_out else child.returncode
    printed = {"stdout": content(out), "stderr": content(err)[:2000]}
    return {"argv": argv, "timed_out": timed_out, "exit_code": code, **printed}


def packages(found: Any, names: list[str]) -> dict[str, str] | None:
    """Installed versions by name, of the names asked. dpkg-query's exit 1 only says that some aren't known."""
    if found is None:
        gaps.append({"what": "packages", "why": "dpkg-query isn't installed"})
        return None
    if found["timed_out"] or found["exit_code"] not in (0, 1):
        gaps.append({"what": "packages", "why": found["stderr"].strip() or "dpkg-query gave no answer"})
        return None
    rows = (line.split("\t") for line in found["stdout"].splitlines())
    return {row[0]: row[1] for row in rows if len(row) == 3 and row[0] in names and row[2] == "installed"}


def kernel_lines(found: Any) -> list[list[Any]] | None:
    """Lines of the kernel's own log: [cursor, microseconds, text]. Only what the kernel itself wrote is believed."""
    if found is None:
        gaps.append({"what": "kernel log", "why": "journalctl isn't installed"})
        return None
    if found["timed_out"] or found["exit_code"] != 0:
        gaps.append({"what": "kernel log", "why": found["stderr"].strip() or "journalctl gave no answer"})
        return None
    lines = []
    for line in found["stdout"].splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        message = entry.get("MESSAGE")
        if isinstance(message, list):
            message = bytes(message).decode("utf-8", "replace")
        if entry.get("_TRANSPORT") == "kernel" and isinstance(message, str):
            lines.append([entry.get("__CURSOR", ""), int(entry.get("__REALTIME_TIMESTAMP", 0)), message])
    return lines


def processes() -> list[list[Any]]:
    """Steps of the scheduler and holders of accelerators: ["step", pid, name] and ["holder", pid, name]."""
    found = []
    for pid in os.listdir("/proc"):
        if not pid.isdigit():
            continue
        try:
            with open(f"/proc/{pid}/comm") as file:
                name = file.read().strip()
            if name == "slurmstepd":
                found.append(["step", int(pid), name])
                continue
            if name in DAEMONS:
                continue
            folder = f"/proc/{pid}/fd/"
            for handle in os.listdir(folder):
                try:
                    if DEVICE.match(os.readlink(folder + handle)):
                        found.append(["holder", int(pid), name])
                        break
                except OSError:
                    continue
        except OSError:
            continue  # it ended while we looked
    return found


def held(lock: str) -> dict[str, Any]:
    """The lock's content if the process that wrote it still lives, else nothing."""
    try:
        owner = json.loads(lock)
        same: bool = owner["start"] == start_time(owner["pid"]) != 0 and owner["boot"] == boot
        return owner if same else {}
    except (ValueError, KeyError, TypeError):
        return {}


request = json.loads(sys.stdin.buffer.read())
limit = request["limit"]
ticks = start_time(1)
boot = f"{text_of('/proc/sys/kernel/random/boot_id').strip()}/{ticks}"
uptime = float((text_of("/proc/uptime") or "0").split()[0])
pid1_age = uptime - ticks / os.sysconf("SC_CLK_TCK")
journal = ["journalctl", "-k", "-o", "json", "--no-pager", "-q", "-n", str(request["lines"])]
journal += ["--output-fields=MESSAGE,_TRANSPORT"]
if request["since"]:
    journal += ["--after-cursor=" + request["since"]]
elif ticks > 6000:  # init began long after the kernel: this boot is a container's
    journal += [f"--since=@{int(time.time() - pid1_age)}"]
query = ["dpkg-query", "-W", "-f", "${Package}\\t${Version}\\t${db:Status-Status}\\n", *sorted(request["packages"])]
asked = dict(
    TOOLS if request.get("tools", True) else {}, journal=journal, **({"dpkg": query} if request["packages"] else {})
)
children = {name: began(argv) for name, argv in asked.items()}
deadline = time.monotonic() + limit
outcomes = {name: ended(started, asked[name], deadline) for name, started in children.items() if started is not None}
json.dump(
    {
        "boot": boot,
        "serial": text_of("/sys/class/dmi/id/product_serial").strip(),
        "kernel": os.uname().release,
        "now": time.time(),
        "packages": packages(outcomes.get("dpkg"), request["packages"]) if request["packages"] else {},
        "log": kernel_lines(outcomes.get("journal")),
        "tools": {name: outcomes[name] for name in TOOLS if name in outcomes},
        "processes": processes(),
        "lock": held(text_of(STATE + "/lock", "")),
        "token": text_of(STATE + "/token", "0").strip(),
        "gaps": gaps,
    },
    sys.stdout,
)
