"""A certificate of retirement in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet.render.text import Line, table, title


def certificate(found: Mapping[str, Any], width: int) -> list[Line]:
    """What it says, a row per fact."""
    rows = [
        ("node", str(found.get("node", ""))),
        ("serial", str(found.get("serial", ""))),
        ("order", str(found.get("order", ""))),
        ("confirmed by", str(found.get("confirmed_by", "") or "nobody")),
        ("grade", str(found.get("grade", ""))),
    ]
    for disk in found.get("disks", ()):
        seen = disk.get("verification", {})
        text = (
            f"{disk.get('method')}, {disk.get('grade')}; {seen.get('samples')} samples read back, {seen.get('bad')} bad"
        )
        rows.append(("disk", f"{disk.get('disk')}: {text}"))
    revoked = found.get("revoked", {})
    rows.append(("revoked", str(revoked.get("detail", revoked)) if isinstance(revoked, Mapping) else str(revoked)))
    rows += [(name.replace("_", " "), str(at)) for name, at in found.get("times", {}).items()]
    trail = found.get("trail", {})
    rows.append(("reason trail", f"entry {trail.get('seq')}, {str(trail.get('hash', ''))[:16]}"))
    return [title("certificate of retirement"), *table(("", ""), rows, width)]
