"""The nested reports of nvidia-smi, text by indent or XML, flattened to one mapping of paths per GPU."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet.readers.text import lines, pci

_GPU = re.compile(r"^GPU ([0-9a-fA-F:.]+)\s*$")


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU: its values by path (`fb_memory_usage/total`), its MIG devices apart."""

    device: str | None
    values: Mapping[str, str]
    migs: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What the report claims and what it lists."""

    claimed: int | None
    gpus: tuple[Gpu, ...]
    node: Mapping[str, str] = field(default_factory=dict)


def slug(text: str) -> str:
    """`GPU T.Limit Temp` -> `gpu_t_limit_temp`."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


@dataclass(slots=True)
class _Walk:
    """Where a walk over the lines of one GPU stands."""

    device: str | None
    values: dict[str, str] = field(default_factory=dict)
    migs: list[dict[str, str]] = field(default_factory=list)
    stack: list[tuple[int, str]] = field(default_factory=list)
    mig_indent: int | None = None

    def take(self, indent: int, key: str, value: str | None) -> None:
        """One line: a heading, an entry, or the start of a MIG device."""
        if self.mig_indent is not None and indent <= self.mig_indent:
            self.mig_indent, self.stack = None, []
        if key == "MIG Device" and value is None:
            self.migs.append({})
            self.mig_indent, self.stack = indent, []
            return
        while self.stack and self.stack[-1][0] >= indent:
            self.stack.pop()
        path = "/".join([*(name for _, name in self.stack), slug(key)])
        if value is not None:
            (self.values if self.mig_indent is None else self.migs[-1]).setdefault(path, value.strip())
        self.stack.append((indent, slug(key)))


def from_text(text: str) -> Report:
    """`nvidia-smi -q`: structure is by indent only, and the names of sections repeat."""
    node: dict[str, str] = {}
    claimed: int | None = None
    walks: list[_Walk] = []
    for _, line in lines(text):
        if not line.strip() or line.startswith("==="):
            continue
        key, colon, rest = line.strip().partition(" : ")
        key, value = key.rstrip(" :"), rest if colon else None
        if gpu := _GPU.match(line):
            walks.append(_Walk(pci(gpu.group(1))))
        elif walks:
            walks[-1].take(len(line) - len(line.lstrip(" ")), key, value)
        elif key == "Attached GPUs" and (value or "").strip().isdigit():
            claimed = int((value or "").strip()[:6])
        elif value is not None and slug(key) in ("driver_version", "cuda_version"):
            node[slug(key).removesuffix("_version")] = value.strip()
    return Report(claimed, tuple(Gpu(walk.device, walk.values, tuple(walk.migs)) for walk in walks), node)


def from_xml(text: str) -> Report | None:
    """`nvidia-smi -q -x`; None where the document is not whole. Documents that define entities were refused before."""
    try:
        root = ET.fromstring(text)
    except (ET.ParseError, ValueError, RecursionError):
        return None
    if root.tag != "nvidia_smi_log":
        return None
    claimed = (root.findtext("attached_gpus") or "").strip()
    gpus: list[Gpu] = []
    for element in root.findall("gpu"):
        values: dict[str, str] = {}
        migs = tuple(_flat(mig) for mig in element.iter("mig_device"))
        for child in element:
            if child.tag not in ("mig_devices", "processes"):
                values.update(_flat(child, child.tag))
        gpus.append(Gpu(pci(element.get("id")) or pci(values.get("pci/pci_bus_id")), values, migs))
    names = {"driver": "driver_version", "cuda": "cuda_version"}
    node = {name: (root.findtext(tag) or "").strip() for name, tag in names.items() if root.findtext(tag)}
    return Report(int(claimed[:6]) if claimed.isdigit() else None, tuple(gpus), node)


def _flat(element: ET.Element, prefix: str = "") -> dict[str, str]:
    out: dict[str, str] = {}
    work = [(element, prefix)]
    while work:
        current, path = work.pop()
        if len(current) == 0:
            out[path] = (current.text or "").strip()
        work.extend((child, f"{path}/{child.tag}".lstrip("/")) for child in current)
    return out
