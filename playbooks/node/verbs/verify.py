"""Proves that the accelerators are fit. Changes nothing.

Arguments: {"vendor": "amd" | "nvidia", "accelerators": number, "versions": {part: version}, "hottest": °C,
"level": "quick" | "standard", "tool_seconds": seconds}. Quick: the tool answers, the devices are all there, the running
versions are the release's. Standard: also no uncorrectable error and a sane temperature on each. What can't be measured
is not passed.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

UNSET = ("", "N/A", "[N/A]", "None")


def ask(argv, seconds):
    """What a tool prints, or an error. Its process group doesn't outlive the time limit."""
    out, err = os.memfd_create("out"), os.memfd_create("err")
    try:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
    except FileNotFoundError:
        raise ValueError("%s isn't installed" % argv[0])
    try:
        code = child.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        raise ValueError("%s gave no answer in %g s" % (argv[0], seconds))
    if code:
        text = os.pread(err, 4096, 0).decode("utf-8", "replace").strip().splitlines()
        raise ValueError("%s: exit %d: %s" % (argv[0], code, text[-1][:200] if text else "it said nothing"))
    return os.pread(out, 16 << 20, 0).decode("utf-8", "replace")


def number(value):
    """A measured number with or without its unit; None where nothing was measured."""
    if isinstance(value, dict):
        value = value.get("value")
    found = re.match(r"\s*(-?\d+(?:\.\d+)?)(\s|$)", str(value))
    return float(found.group(1)) if found else None


def amd(seconds):
    """Versions and [device, uncorrectable errors, °C] of each accelerator, as amd-smi says."""
    said = json.loads(ask(["amd-smi", "version", "--json"], seconds))[0]
    rows = json.loads(ask(["amd-smi", "metric", "--ecc", "--temperature", "--json"], seconds))
    rows = rows.get("gpu_data", []) if isinstance(rows, dict) else rows
    devices = []
    for row in rows:
        heat = row.get("temperature", {})
        celsius = number(heat.get("hotspot"))
        celsius = number(heat.get("edge")) if celsius is None else celsius
        devices.append(("gpu %s" % row["gpu"], number(row.get("ecc", {}).get("total_uncorrectable_count")), celsius))
    return {"driver": said.get("amdgpu_version"), "rocm": said.get("rocm_version")}, devices


def nvidia(seconds):
    """The same as nvidia-smi says."""
    root = ElementTree.fromstring(ask(["nvidia-smi", "-q", "-x"], seconds))
    devices = []
    for gpu in root.findall("gpu"):
        counts = [
            number(found.text)
            for found in gpu.iterfind("ecc_errors/volatile/*")
            if "uncorrectable" in found.tag or found.tag == "double_bit"
        ]
        known = [count for count in counts if count is not None]
        devices.append((gpu.get("id"), sum(known) if known else None, number(gpu.findtext("temperature/gpu_temp"))))
    return {"driver": root.findtext("driver_version"), "cuda": root.findtext("cuda_version")}, devices


def judged(asked, versions, devices):
    """Everything that is not as it must be."""
    bad = []
    if len(devices) != asked["accelerators"]:
        bad.append("%d of %d accelerators" % (len(devices), asked["accelerators"]))
    for part, wanted in sorted(asked["versions"].items()):
        shown = versions.get(part)
        if part in versions and shown in UNSET + (None,):
            bad.append("%s version: not said, released %s" % (part, wanted))
        elif part in versions and shown != wanted:
            bad.append("%s %s, released %s" % (part, shown, wanted))
    if asked["level"] != "quick":
        for device, errors, celsius in devices:
            if errors is None or errors > 0:
                bad.append(
                    "%s: uncorrectable errors %s" % (device, "not measured" if errors is None else "%g" % errors)
                )
            if celsius is None or not 0 < celsius < asked["hottest"]:
                bad.append("%s: temperature %s" % (device, "not measured" if celsius is None else "%g °C" % celsius))
    return bad


def main():
    """0 and figures, or 1 and every reason."""
    asked = json.load(sys.stdin)
    try:
        versions, devices = {"amd": amd, "nvidia": nvidia}[asked["vendor"]](asked["tool_seconds"])
    except (ValueError, LookupError, TypeError, AttributeError, ElementTree.ParseError) as error:
        print(json.dumps({"why": "the accelerators can't be read: %s" % error}))
        return 1
    bad = judged(asked, versions, devices)
    shown = {part: version for part, version in versions.items() if version not in UNSET + (None,)}
    shown["accelerators"] = str(len(devices))
    measured = [celsius for _, _, celsius in devices if celsius is not None]
    if measured:
        shown["hottest_celsius"] = "%g" % max(measured)
    if asked["level"] != "quick":
        shown["uncorrectable"] = "%g" % sum(errors or 0 for _, errors, _ in devices)
    if bad:
        print(json.dumps({"why": "; ".join(bad[:12]), "shown": shown}))
        return 1
    print(json.dumps({"changed": False, "detail": "%s passed" % asked["level"], "shown": shown}))
    return 0


sys.exit(main())
