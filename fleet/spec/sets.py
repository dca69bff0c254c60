"""Names in blocks: `n[001-200]` stands for 200 names, and what is said once is counted up or spread over them.

One rule each, everywhere: a set where one name is expected (`rack: r[01-50]`) is spread evenly and in order; a list
gives each its own, in order; an address that ends in `+` is counted up; `{name}` and `{i}` (from 1) stand in texts.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

MOST = 100_000
"""The widest range that is expanded; nobody has more nodes, and a slip of the finger shouldn't eat the memory."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_MAC = re.compile(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}")


def expand(text: str) -> tuple[str, ...]:
    """The names that a set stands for, in its order; ValueError (with what to write) where it is none."""
    if "[" not in text and "," not in text:
        return (_checked(text),)
    from ClusterShell.NodeSet import NodeSet, NodeSetException

    for low, high in re.findall(r"(\d{1,30})-(\d{1,30})", text):
        if int(high) - int(low) >= MOST:
            raise ValueError(f"{low}-{high} is a range of more than {MOST}; narrow the range")
    if re.search(r"[@*?!&^]", text):
        raise ValueError(f"'{text}' is no set of new names; write n[001-016]")
    try:
        found = NodeSet(text)
        if len(found) > MOST:
            raise ValueError(f"'{text}' is more than {MOST} names; narrow the ranges")
        return tuple(_checked(str(name)) for name in found)
    except (NodeSetException, IndexError) as error:
        raise ValueError(f"'{text}' is no set of names ({error}); write n[001-016]") from None


def spread(names: Sequence[str], index: int, count: int) -> str:
    """The name that the thing `index` of `count` gets, where `names` are spread over all of them evenly, in order."""
    return names[index * len(names) // count]


def counted(text: str, index: int, name: str) -> str:
    """A text for the thing `index`: placeholders filled, and an address that ends in `+` counted up."""
    if "{" in text:
        text = text.replace("{name}", name).replace("{i}", str(index + 1))
    if not text.endswith("+"):
        return text
    head, _, address = text[:-1].rpartition("/")
    head = f"{head}/" if head else ""
    if _MAC.fullmatch(address.lower()):
        number = int(address.replace(":", ""), 16) + index
        if number >= 1 << 48:
            raise ValueError(f"'{text}' has no {index + 1} addresses; begin lower")
        return head + ":".join(f"{number:012x}"[at : at + 2] for at in range(0, 12, 2))
    host, port = _split_port(address)
    try:
        first = ipaddress.ip_address(host.strip("[]"))
        following = first + index
    except (ValueError, ipaddress.AddressValueError):
        raise ValueError(f"'{text}' can't be counted up; write an IP or MAC address before the +") from None
    return head + (f"[{following}]" if host.startswith("[") else str(following)) + port


def _split_port(address: str) -> tuple[str, str]:
    found = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(:\d+)", address)
    return (found.group(1), found.group(2)) if found else (address, "")


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"'{name}' can't be a name; write letters, digits, '.', '_' and '-'")
    return name
