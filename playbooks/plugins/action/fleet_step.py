"""Carries one step out on a node, through the node's own wrapper, in one exchange over the connection.

The wrapper (`node/fleet-node`) is put in place if it isn't there as it should be, and is given the verb's program
(`node/verbs/<verb>.py`) with its arguments. It refuses while another step runs, for a token that is too old, and while
somebody works on the node; all that the verb changes, it changes inside that one call. A reboot is awaited here: until
the node shows another boot and answers.

Task arguments: `verb`, `arguments` (for the verb's program), `limit` (seconds). The host variable `fleet_step` says for
whom: {order, token, disruptive, force}.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

NODE = Path(__file__).resolve().parents[2] / "node"
BOOTSTRAP = (
    'exec python3 -I -S -c \'import sys;r=sys.stdin.buffer;exec(compile(r.read(int(r.readline())),"fleet","exec"))\''
)
INSTALL_AND_RUN = """
import json, os, subprocess, sys
home = "/usr/local/lib/fleet"
place = os.path.join(home, "fleet-node")
given = json.loads(sys.stdin.buffer.read())
try:
    with open(place, encoding="utf-8") as file:
        same = file.read() == given["wrapper"] and os.stat(place).st_uid == 0
except OSError:
    same = False
if not same:
    os.makedirs(home, mode=0o755, exist_ok=True)
    with open(os.open(place + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755), "w", encoding="utf-8") as file:
        file.write(given["wrapper"])
        file.flush()
        os.fsync(file.fileno())
    os.chmod(place + ".new", 0o755)
    os.replace(place + ".new", place)
run = subprocess.run([sys.executable, "-I", place, "run"], input=json.dumps(given["step"]).encode())
sys.exit(run.returncode)
"""
BOOT = """
print(open("/proc/sys/kernel/random/boot_id").read().strip() + "/" +
      open("/proc/1/stat", "rb").read().rsplit(b")", 1)[1].split()[19].decode())
"""
POLL_SECONDS = 0.5
PROGRAMS = {"revert": "converge", "stage": "converge"}


class ActionModule(ActionBase):
    """The task `fleet_step`."""

    _requires_connection = True
    _supports_check_mode = True
    _VALID_ARGS = frozenset(("verb", "arguments", "limit"))

    def run(self, tmp=None, task_vars=None):
        """The step's word as the task's result: `code`, `why` or `detail`, `shown`, `changed`."""
        super().run(tmp, task_vars)
        verb = self._task.args.get("verb")
        step = (task_vars or {}).get("fleet_step")
        if not verb or not isinstance(step, dict):
            raise AnsibleActionFail("the task needs `verb`, and the host the variable `fleet_step`")
        step = self._templar.template(step)
        limit = float(self._task.args.get("limit", 600))
        if self._task.check_mode:
            return {"changed": False, "skipped": True, "code": 0, "detail": "check mode"}
        request = {
            "order": str(step["order"]),
            "token": int(step["token"]),
            "verb": verb,
            "disruptive": bool(step.get("disruptive", True)),
            "force": bool(step.get("force", False)),
            "limit": limit,
            "program": (NODE / "verbs" / f"{PROGRAMS.get(verb, verb)}.py").read_text(encoding="utf-8"),
            "arguments": self._task.args.get("arguments") or {},
        }
        return self._reboot(request) if verb == "reboot" else self._carried_out(request)

    def _carried_out(self, request):
        rc, out, err = self._ask(
            INSTALL_AND_RUN, {"wrapper": (NODE / "fleet-node").read_text("utf-8"), "step": request}
        )
        try:
            said = json.loads(out.strip().splitlines()[-1])
        except (ValueError, IndexError):
            why = (err.strip().splitlines() or [f"the connection ended with exit {rc}"])[-1]
            return {"failed": True, "code": None, "why": why, "rc": rc}
        changed = bool(said.get("changed")) and not said.get("repeated")
        code = said.get("code", 0)
        return dict(said, code=code, changed=changed, failed=code != 0, msg=said.get("why", said.get("detail", "")))

    def _reboot(self, request):
        """Ask for it, then wait for another boot. That the connection breaks meanwhile is as it should be."""
        before = self._boot()
        if not before:
            return {"failed": True, "code": 1, "why": "the node doesn't tell its boot identity"}
        began = time.monotonic()
        try:
            said = self._carried_out(dict(request, detach=True))
        except AnsibleConnectionFailure:
            said = {"code": None}
        if said.get("repeated") or said.get("code"):
            return said
        while time.monotonic() - began < request["limit"]:
            time.sleep(POLL_SECONDS)
            after = self._boot_if_it_answers()
            if after and after != before:
                seconds = time.monotonic() - began
                detail = f"rebooted in {seconds:.1f} s"
                shown = {"boot": after, "boot_before": before, "reboot_seconds": f"{seconds:.1f}"}
                return {"changed": True, "code": 0, "detail": detail, "shown": shown}
        return {"failed": True, "code": None, "why": f"no other boot within {request['limit']:g} s", "boot": before}

    def _boot(self):
        """The identity of the boot that answers now, empty if it tells none."""
        rc, out, _ = self._ask(BOOT, {})
        return out.strip() if rc == 0 and "/" in out else ""

    def _boot_if_it_answers(self):
        """The same over a new connection; empty if there is none."""
        try:
            self._connection.reset()
            return self._boot()
        except AnsibleConnectionFailure:
            return ""

    def _ask(self, program, request):
        """Exit code and both outputs of a program that is sent over the connection's standard input."""
        text = program.encode()
        data = b"%d\n%b%b" % (len(text), text, json.dumps(request).encode())
        said = self._low_level_execute_command(BOOTSTRAP, in_data=data)
        return said["rc"], said.get("stdout", ""), said.get("stderr", "")
