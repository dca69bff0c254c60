"""Stands in for the real one: does what the host's name says, here and not over a connection."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from ansible.plugins.action import ActionBase

SAYS = {
    "good": {"code": 0, "changed": True, "detail": "ok", "shown": {"driver": "1"}},
    "bad": {"code": 1, "failed": True, "why": "7 of 8 accelerators"},
    "busy": {"code": 75, "failed": True, "why": "a step of order o9 runs here"},
    "broke": {"code": None, "failed": True, "why": "the connection ended with exit 143"},
}


class ActionModule(ActionBase):
    """The task `fleet_step`, for tests."""

    def run(self, tmp=None, task_vars=None):
        """The word for this host; `slow` hosts leave their process ids behind and take their time."""
        super().run(tmp, task_vars)
        host = task_vars["inventory_hostname"]
        notes = Path(task_vars["ansible_ssh_private_key_file"]).with_name("notes")
        (notes / host).write_text(json.dumps({"umask": 0, "step": dict(task_vars["fleet_step"]), "pid": os.getpid()}))
        if host.startswith("slow"):
            child = subprocess.Popen(["sleep", "60"], start_new_session=True)
            (notes / f"{host}.pids").write_text(f"{os.getpid()} {os.getppid()} {child.pid}")
            child.wait()
        return dict(SAYS[host.rstrip("0123456789-")])
