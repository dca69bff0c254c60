"""How a run of a vendor's tool ended, when that says more than what it printed: hangs, missing tools, empty success."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fleet.readers import amd_smi, dcgmi, nvidia_smi, rocm_smi
from fleet.readers.reading import Beside, Context, Finding, Gap, Reading, Text
from fleet.readers.text import decode, mapping, number, parse_json, pci, sequence

_GPU_TOOLS = ("nvidia-smi", "amd-smi", "rocm-smi")
_ADDRESS = re.compile(r"(?:id=\"|GPU |bdf\"?: \"?)([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])")
_MISSING = re.compile(r"command not found|No such file or directory|not found$", re.I | re.M)
_DENIED = re.compile(r"permission denied|operation not permitted|insufficient permissions", re.I)
_GRACE_SECONDS = 5
Reads = Callable[[Text, Context, Sequence[Beside]], Reading]


def _subject(tool: str, argv: Sequence[str]) -> str:
    """What the run would have told us."""
    if tool in _GPU_TOOLS:
        return "all GPU readings"
    if tool == "dcgmi":
        return "dcgm diag" if "diag" in argv else "dcgm " + (argv[1] if len(argv) > 1 else "readings")
    return f"output of {tool}"


def _reader(tool: str, argv: Sequence[str]) -> Reads | None:
    words = set(argv[1:])
    if tool == "nvidia-smi":
        if any(word.startswith("--query-gpu") for word in words):
            return nvidia_smi.read_csv
        if "-q" in words:
            return nvidia_smi.read_xml if "-x" in words else nvidia_smi.read_q
        return nvidia_smi.read_list if "-L" in words else nvidia_smi.read_table
    if tool == "dcgmi":
        return dcgmi.read_diag if "-j" in words else dcgmi.read_nvlink if "nvlink" in words else None
    return {"amd-smi": amd_smi.read, "rocm-smi": rocm_smi.read}.get(tool)


def read(text: Text, context: Context, also: Sequence[Beside] = ()) -> Reading:
    """A run described in JSON: argv, timeout_s, timed_out, exit_code, stdout, stderr."""
    run = mapping(parse_json(decode(text)))
    argv = [str(word) for word in sequence(run.get("argv"))]
    if not argv:
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading("command_outcome", gaps=(Gap("outcome of the command", reason),))
    tool = argv[0].rpartition("/")[2]
    stdout, stderr = str(run.get("stdout") or ""), str(run.get("stderr") or "")
    what = _subject(tool, argv)
    detail: dict[str, Any] = {"tool": tool}
    if run.get("timed_out") is True:
        return _hung(tool, what, run, stdout)
    code = run.get("exit_code")
    if code == 127 or (code != 0 and not stdout and _MISSING.search(stderr) and tool in stderr):
        return _failed("tool_missing", "fix_config", detail, Gap(what, "tool_failed"))
    if code == 126 or (code != 0 and not stdout.strip() and _DENIED.search(stderr)):
        return _failed("tool_lacks_permission", "fix_config", detail, Gap(what, "tool_failed"))
    if code == 0 and not stdout.strip():
        return _failed("tool_failed", "none", detail, Gap(what, "empty_output"))
    reads = _reader(tool, argv)
    if reads is not None and stdout.strip():
        inner = reads(stdout, {"exit_code": code, "command": " ".join(argv), **context}, also)
        if inner.findings or inner.facts or code == 0:
            return Reading("command_outcome", inner.findings, inner.gaps, inner.facts, inner.more)
    detail["exit_code"] = code
    return _failed("tool_failed", "none", detail, Gap(what, "tool_failed"))


def _failed(event: str, action: str, detail: Mapping[str, Any], gap: Gap) -> Reading:
    return Reading("command_outcome", (Finding({"event": event}, None, "warn", "node", action, detail=detail),), (gap,))


def _hung(tool: str, what: str, run: Mapping[str, Any], stdout: str) -> Reading:
    """A wedged driver hangs the tool: the hang is the evidence, half a document is no report."""
    detail: dict[str, Any] = {"tool": tool}
    if addresses := _ADDRESS.findall(stdout):
        detail["last_device"] = pci(addresses[-1])
    if tool in _GPU_TOOLS:
        event, verdict = f"{tool.replace('-', '_')}_hung", ("fault", "node", "isolate")
    else:
        event, verdict = "tool_failed", ("warn", "node", "none")
    more: dict[str, Any] = {}
    limit = number(run.get("timeout_s"))
    if limit is not None:
        more["adapter"] = {"returns_within_s": limit + _GRACE_SECONDS, "kill": "process_group"}
    finding = Finding({"event": event}, None, *verdict, detail=detail)
    return Reading("command_outcome", (finding,), (Gap(what, "timed_out"),), more=more)
