"""Runs one argument vector with a time limit and ends its whole process group when the time is up.

Request: {"argv": [...], "stdin": text, "limit": seconds}.
Answer: {"rc": int or null, "out": text, "err": text, "timed_out": bool}.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys


def run(argv: list[str], stdin: str, limit: float) -> dict[str, object]:
    """The answer, whatever happens."""
    try:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=dict(os.environ, LC_ALL="C.UTF-8"),
        )
    except OSError as error:
        return {"rc": 127, "out": "", "err": str(error), "timed_out": False}
    try:
        out, err = child.communicate(stdin.encode(), timeout=limit)
        timed_out = False
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        try:
            out, err = child.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            out, err = b"", b""
        timed_out = True
    return {
        "rc": None if timed_out else child.returncode,
        "out": out.decode("utf-8", "replace"),
        "err": err.decode("utf-8", "replace"),
        "timed_out": timed_out,
    }


request = json.loads(sys.stdin.buffer.read())
json.dump(run(request["argv"], request.get("stdin", ""), request["limit"]), sys.stdout)
