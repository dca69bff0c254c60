"""What can be broken in the lab, as a table: `fleet lab break` and tests put a fault on and take it off again.

A fault of an accelerator lies on the node, where the stand-ins of the vendor tools read it and a boot lets go of what a
reboot cures. A fault of a BMC lies in the lab's home, where the emulator reads it. The others are done to the machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fleet.errors import Misuse
from fleet.lab import containers
from fleet.lab.commands import run
from fleet.lab.containers import CONTROLLER_CONTAINER, inside, try_inside
from fleet.lab.home import Home, LabState
from fleet.lab.layout import LabNode, Vendor, layout
from fleet.lab.releases import release
from fleet.lab.seeds import write_identity

AMD_BUS = ("05", "26", "46", "65", "85", "a6", "c6", "e5")
NVIDIA_BUS = ("19", "3b", "4c", "5d", "9b", "bb", "cb", "db")
BMC_KINDS = ("500", "slow", "dead", "wrong-serial")
FULL_PLACES = ("/var/cache/apt/archives", "/var/tmp", "/tmp")
STATE_FILE = "/var/lib/fleet-lab/faults.json"
CURED_BY_BOOT = ("lost", "ecc", "xid", "slow", "hung", "ssh", "disk", "slurmd", "freeze", "power")
GIBBERISH = b"not the package that was signed"


@dataclass(frozen=True, slots=True)
class Order:
    """What to break (or mend) where."""

    node: str
    kind: str
    words: tuple[str, ...] = ()
    off: bool = False
    persistent: bool = False

    def number(self, place: int, default: int) -> int:
        """A number among the words."""
        if len(self.words) <= place:
            return default
        try:
            return int(self.words[place])
        except ValueError as wrong:
            raise Misuse(
                f"`{self.words[place]}` is no number", f"fault {self.kind}", "see `fleet lab break list`"
            ) from wrong

    def word(self, default: str) -> str:
        """The first word."""
        return self.words[0] if self.words else default


Act = Callable[[Home, LabNode, Order], str]


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A row of the table."""

    help: str
    act: Act
    on_controller: bool = False


def apply(home: Home, order: Order) -> str:
    """Do it; says what was done in one line. Misuse for what doesn't exist."""
    state = LabState.read(home)
    if state is None:
        raise Misuse("there is no lab to break", "", "`fleet lab up`")
    row = FAULTS.get(order.kind)
    if row is None:
        raise Misuse(f"no fault is called `{order.kind}`", "", f"one of: {', '.join(FAULTS)}")
    plan = layout(state.nodes)
    node = plan.nodes[0] if row.on_controller else plan.node(order.node)
    if node is None:
        raise Misuse(f"the lab has no node `{order.node}`", "", f"it has {plan.nodes[0].name} to {plan.nodes[-1].name}")
    name = "controller" if row.on_controller else node.name
    if order.off and not order.words:
        order = replace(order, words=tuple(_memory(home, name).get(order.kind, {}).get("words", ())))
    said = row.act(home, node, order)
    _remember(home, name, order)
    return said


def standing(home: Home, name: str, booted: str = "") -> list[str]:
    """Faults that were put on and neither taken off nor, as far as `booted` tells, cured by a boot since."""
    return sorted(
        kind
        for kind, fault in _memory(home, name).items()
        if not (kind in CURED_BY_BOOT and booted and fault.get("booted") not in (None, booted))
    )


def _memory(home: Home, name: str) -> dict[str, Any]:
    try:
        return dict(json.loads((home.faults / f"{name}.json").read_text()))
    except FileNotFoundError:
        return {}


def _write_memory(home: Home, name: str, memory: Mapping[str, Any]) -> None:
    home.faults.mkdir(parents=True, exist_ok=True)
    path = home.faults / f"{name}.json"
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(dict(memory)))
    temporary.replace(path)


def _remember(home: Home, name: str, order: Order) -> None:
    memory = _memory(home, name)
    if order.off or order.words[:1] == ("start",):
        memory.pop(order.kind, None)
    elif order.kind == "kernel":
        return
    else:
        fault = memory.setdefault(order.kind, {})
        fault["words"] = list(order.words)
        if not order.persistent and name != "controller":
            fault["booted"] = _booted(f"fleet-lab-{name}")
    _write_memory(home, name, memory)


def _booted(container: str) -> str | None:
    found = containers.seen().get(container)
    return found.started if found else None


def bus(node: LabNode, gpu: int) -> str:
    """PCI address of an accelerator, domain to function."""
    if not 0 <= gpu < 8:
        raise Misuse(f"there is no accelerator {gpu}", "a node has 0 to 7", "")
    return f"0000:{(AMD_BUS if node.pool.vendor is Vendor.AMD else NVIDIA_BUS)[gpu]}:00.0"


def kernel(node: LabNode, lines: tuple[str, ...]) -> None:
    """Put lines into the node's journal as if its kernel had said them."""
    text = "".join(line + "\n" for line in lines)
    inside(node.container, ["/usr/lib/fleet-lab/bin/kernel-log"], text=text)


def _device_faults(node: LabNode) -> list[dict[str, Any]]:
    text = inside(node.container, ["sh", "-c", f"cat {STATE_FILE} 2>/dev/null || echo '[]'"])
    return list(json.loads(text))


def _set_device(node: LabNode, order: Order, gpu: int, value: int | None) -> None:
    kept = [f for f in _device_faults(node) if not (f["kind"] == order.kind and f.get("gpu") == gpu)]
    if not order.off:
        fault: dict[str, Any] = {"kind": order.kind, "gpu": gpu, "persistent": order.persistent}
        kept.append(fault | ({"value": value} if value is not None else {}))
    inside(
        node.container,
        ["sh", "-c", f"cat > {STATE_FILE}.new && mv {STATE_FILE}.new {STATE_FILE}"],
        text=json.dumps(kept),
    )


def _lost(home: Home, node: LabNode, order: Order) -> str:
    gpu = order.number(0, 7)
    _set_device(node, order, gpu, None)
    if not order.off:
        kernel(node, LOST_LINES[node.pool.vendor](bus(node, gpu)))
    return _said(node, order, f"accelerator {gpu} off the bus")


def _ecc(home: Home, node: LabNode, order: Order) -> str:
    gpu = order.number(0, 0)
    _set_device(node, order, gpu, order.number(1, 1))
    if not order.off:
        kernel(node, ECC_LINES[node.pool.vendor](bus(node, gpu)))
    return _said(node, order, f"uncorrectable memory error on accelerator {gpu}")


def _thermal(home: Home, node: LabNode, order: Order) -> str:
    gpu = order.number(0, 0)
    _set_device(node, order, gpu, order.number(1, 104))
    return _said(node, order, f"accelerator {gpu} too hot")


def _slow(home: Home, node: LabNode, order: Order) -> str:
    gpu = order.number(0, 0)
    _set_device(node, order, gpu, order.number(1, 420))
    return _said(node, order, f"accelerator {gpu} at a low clock")


def _hung(home: Home, node: LabNode, order: Order) -> str:
    _set_device(node, order, -1, None)
    if order.off:
        try_inside(node.container, ["pkill", "-f", "^sleep 900$"])
    return _said(node, order, "vendor tools hang")


def _xid(home: Home, node: LabNode, order: Order) -> str:
    number, gpu = order.number(0, 79), order.number(1, 0)
    if number == 79:
        lost = Order(order.node, "lost", (str(gpu),), off=order.off, persistent=order.persistent)
        return _lost(home, node, lost)
    if not order.off:
        kernel(node, (f"NVRM: Xid (PCI:{bus(node, gpu)[:-2]}): {number}, pid='<unknown>', name=<unknown>",))
    return _said(node, order, f"XID {number} on accelerator {gpu}")


def _kernel(home: Home, node: LabNode, order: Order) -> str:
    kernel(node, (" ".join(order.words),))
    return _said(node, order, "a kernel line")


def _bmc(home: Home, node: LabNode, order: Order) -> str:
    memory = _memory(home, node.name)
    kind = order.word("500")
    if order.off:
        memory.pop("bmc", None)
    elif kind not in BMC_KINDS:
        raise Misuse(f"no BMC fault is called `{kind}`", "", f"one of: {', '.join(BMC_KINDS)}")
    else:
        memory["bmc"] = {"kind": kind, "value": order.number(1, 0)}
    _write_memory(home, node.name, memory)
    return _said(node, order, f"BMC {kind}")


def _ssh(home: Home, node: LabNode, order: Order) -> str:
    if order.word("dead") == "blocked":
        rule = ["-p", "tcp", "--dport", "22", "-j", "DROP"]
        target = ["nsenter", "--net", f"--target={containers.pid_of(node.container)}", "iptables"]
        run([*target, "-D" if order.off else "-I", "INPUT", *rule])
        return _said(node, order, "SSH packets dropped")
    if order.off:
        inside(node.container, ["systemctl", "unmask", "ssh"])
        inside(node.container, ["systemctl", "unmask", "--runtime", "ssh"])
        inside(node.container, ["systemctl", "start", "ssh"])
    else:
        try_inside(node.container, ["systemctl", "kill", "--signal=KILL", "ssh"])
        inside(node.container, ["systemctl", "stop", "ssh"])
        inside(node.container, ["systemctl", "mask", *([] if order.persistent else ["--runtime"]), "ssh"])
    return _said(node, order, "no SSH")


def _disk(home: Home, node: LabNode, order: Order) -> str:
    places = order.words[1:] or FULL_PLACES
    target = ["nsenter", "--mount", f"--target={containers.pid_of(node.container)}"]
    for place in places:
        if order.off:
            run([*target, "umount", place])
        else:
            run([*target, "mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=2", "full", place])
    return _said(node, order, f"no room in {', '.join(places)}")


def _identity(home: Home, node: LabNode, order: Order) -> str:
    write_identity(home, node, node.serial if order.off else order.word("SWAPPED01"))
    return _said(node, order, "another serial in the node's firmware")


def _package(home: Home, node: LabNode, order: Order) -> str:
    """Someone installs another version by hand: real drift."""
    wanted = release(f"{node.pool.vendor}-{order.word('2026.2')}").packages
    name = order.words[1] if len(order.words) > 1 else wanted[1].name
    chosen = release(node.pool.release).packages if order.off else wanted
    version = next(p.version for p in chosen if p.name == name)
    inside(
        node.container,
        ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-y", "--allow-downgrades", "install",
         f"{name}={version}"],
    )  # fmt: skip
    return f"{node.name}: {name} {version} installed by hand"


def _repo(home: Home, node: LabNode, order: Order) -> str:
    name = f"{order.words[1]}*.deb" if len(order.words) > 1 else "*.deb"
    found = sorted((home.repo / "pool").glob(name))
    if not found:
        raise Misuse(f"the repository has no package `{name}`", "", f"ls {home.repo / 'pool'}")
    for path in found:
        content = path.read_bytes()
        if order.off:
            path.write_bytes(content.removesuffix(GIBBERISH))
        elif not content.endswith(GIBBERISH):
            path.write_bytes(content + GIBBERISH)
    return f"repository: {len(found)} package files {'as built again' if order.off else 'altered'}"


def _slurmctld(home: Home, node: LabNode, order: Order) -> str:
    verb = "start" if order.off or order.word("stop") == "start" else "stop"
    inside(CONTROLLER_CONTAINER, ["systemctl", verb, "slurmctld"])
    return f"controller: slurmctld {verb}"


def _slurmd(home: Home, node: LabNode, order: Order) -> str:
    inside(node.container, ["systemctl", "start" if order.off else "stop", "slurmd"])
    return _said(node, order, "slurmd stopped")


def _power(home: Home, node: LabNode, order: Order) -> str:
    if order.off:
        containers.power_on(node.container)
    else:
        containers.power_off(node.container, grace_s=0)
    return _said(node, order, "power cut")


def _freeze(home: Home, node: LabNode, order: Order) -> str:
    run(["podman", "unpause" if order.off else "pause", node.container])
    return _said(node, order, "frozen")


def _said(node: LabNode, order: Order, what: str) -> str:
    return f"{node.name}: {what}{' no more' if order.off else ''}"


LOST_LINES: Mapping[Vendor, Callable[[str], tuple[str, ...]]] = {
    Vendor.NVIDIA: lambda bus: (
        f"NVRM: Xid (PCI:{bus[:-2]}): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        f"NVRM: GPU {bus}: GPU has fallen off the bus.",
    ),
    Vendor.AMD: lambda bus: (
        "pcieport 0000:00:01.1: DPC: containment event, status:0x1f01 source:0x0000",
        f"amdgpu {bus}: amdgpu: device lost from bus!",
    ),
}
ECC_LINES: Mapping[Vendor, Callable[[str], tuple[str, ...]]] = {
    Vendor.NVIDIA: lambda bus: (
        f"NVRM: Xid (PCI:{bus[:-2]}): 48, pid='<unknown>', name=<unknown>, DBE (Double Bit Error) ECC Error",
    ),
    Vendor.AMD: lambda bus: (
        f"amdgpu {bus}: {{1}}uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!",
        f"amdgpu {bus}: {{1}}[Hardware Error]: Accelerator Check Architecture events logged",
        f"amdgpu {bus}: {{1}}[Hardware Error]: aca entry[00].STATUS=0xb000000000000137",
        f"amdgpu {bus}: amdgpu: 1 uncorrectable hardware errors detected in gfx block",
    ),
}
FAULTS: Mapping[str, FaultKind] = {
    "lost": FaultKind("[GPU]: an accelerator falls off the bus (XID 79 on NVIDIA); a reboot cures it", _lost),
    "ecc": FaultKind("[GPU] [COUNT]: uncorrectable error (RAS on AMD, XID 48 on NVIDIA); a reset cures it", _ecc),
    "xid": FaultKind("NUMBER [GPU]: an XID in the kernel log; 79 loses the GPU too", _xid),
    "thermal": FaultKind("[GPU] [CELSIUS]: too hot and throttled; nothing cures it", _thermal),
    "slow": FaultKind("[GPU] [MHZ]: a clock far too low; a reset cures it", _slow),
    "hung": FaultKind("the vendor tools never answer; a reboot cures it", _hung),
    "kernel": FaultKind("TEXT: any line in the kernel log", _kernel),
    "bmc": FaultKind("=500 | slow [SECONDS] | dead | wrong-serial", _bmc),
    "ssh": FaultKind("=dead | blocked: no SSH daemon, or its packets dropped; a reboot cures both", _ssh),
    "disk": FaultKind("=full [PATH...]: no room where packages are fetched to; a reboot cures it", _disk),
    "identity": FaultKind("=SERIAL: the node's firmware tells another serial", _identity),
    "package": FaultKind("=RELEASE [NAME]: another version installed by hand, such as =2026.2 rocm-core", _package),
    "slurmd": FaultKind("the node's scheduler daemon stops", _slurmd),
    "power": FaultKind("the power is cut", _power),
    "freeze": FaultKind("every process of the node stands still", _freeze),
    "repo": FaultKind("=corrupt [PACKAGE]: package files altered (node: controller)", _repo, on_controller=True),
    "slurmctld": FaultKind(
        "=stop | start: the scheduler's controller (node: controller)", _slurmctld, on_controller=True
    ),
}
