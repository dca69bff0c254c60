"""`fleet read`: what a reader makes of an input. Reads files, calls the reader, prints."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from fleet.cli import say
from fleet.errors import Misuse
from fleet.readers import registry
from fleet.readers.guess import guess
from fleet.readers.reading import Beside, Reading
from fleet.render.text import Line, line, table, title

_LIMIT_BYTES = 1 << 30
_STYLES = {"fault": "bad", "critical": "bad", "warn": "warn", "warning": "warn", "info": "dim"}
_LISTED = 200


def read(
    words: Annotated[list[str], typer.Argument(metavar="[KIND] FILE [ALSO...]", help="An input; - is standard input.")],
    context: Annotated[
        Path | None, typer.Option("--context", metavar="FILE", help="What the reader must be told.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
    kinds: Annotated[bool, typer.Option("--kinds", hidden=True)] = False,
) -> None:
    """Show what a reader makes of a log or a tool's output: findings, gaps and facts.

    KIND is guessed where it is not given. Compressed files (.gz) are read as they are. ALSO are further inputs of the
    same observation, such as the kernel log beside a scrape. The context (YAML or JSON) tells what the text does not:
    the driver, the time zone, what is expected. Nothing is contacted and nothing is changed.

    Examples:

      fleet read /var/log/kern.log

      journalctl -k -o short-iso-precise | fleet read -

      fleet read nvidia_smi_q smi.txt --json

      fleet read scontrol_show_node nodes.txt --context known.yaml
    """
    if kinds:
        say.out([line(kind) for kind in registry.READERS])
        return
    kind = words.pop(0) if words[0] in registry.READERS and len(words) > 1 else None
    place, *others = words
    content = _content(place)
    known = _context(context)
    kind = kind or guess(content)
    if kind is None:
        why = "no reader knows this kind of text" if content.strip() else "it is empty"
        raise Misuse(place, why, "name the kind, as in `fleet read kernel_log FILE`; `fleet read --kinds -` lists them")
    reading = registry.read(kind, content, {"file": Path(place).name, **known}, _beside(place, others, known))
    if json:
        facts = {key: value for key, value in reading.as_json().items() if key not in ("schema", "kind")}
        say.as_json(kind, facts)
    else:
        say.out(_lines(reading, say.width()))


def _content(place: str) -> bytes:
    """The bytes of a file or of standard input, unpacked where they are compressed."""
    try:
        raw = sys.stdin.buffer.read(_LIMIT_BYTES) if place == "-" else Path(place).read_bytes()
    except OSError as error:
        raise Misuse(
            place, error.strerror or str(error), "give a file that can be read, or - for standard input"
        ) from error
    return _unpacked(raw, place) if raw[:2] == b"\x1f\x8b" else raw


def _unpacked(raw: bytes, place: str) -> bytes:
    """What a gzip file holds, up to its end or to where it was cut."""
    out: list[bytes] = []
    size = 0
    while raw[:2] == b"\x1f\x8b" and size < _LIMIT_BYTES:
        member = zlib.decompressobj(wbits=31)
        try:
            out.append(member.decompress(raw, _LIMIT_BYTES - size))
        except zlib.error as error:
            raise Misuse(place, f"not a gzip file: {error}", "give the file as it is, or unpacked") from error
        size += len(out[-1])
        raw = member.unused_data
    return b"".join(out)


def _context(place: Path | None) -> Mapping[str, Any]:
    if place is None:
        return {}
    try:
        known = yaml.safe_load(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise Misuse(str(place), error.strerror or str(error), "give a YAML or JSON file") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Misuse(str(place), " ".join(str(error).split())[:200], "give a YAML or JSON file") from error
    if not isinstance(known, Mapping):
        raise Misuse(str(place), "a context is a mapping of names to values", "write it as `driver: 570.158.01`")
    return known


def _beside(place: str, others: list[str], known: Mapping[str, Any]) -> tuple[Beside, ...]:
    """The further inputs that were named, and those that the context names in the folder of the first."""
    found = [Beside(Path(other).name, _content(other)) for other in others]
    named = known.get("with_files")
    names = [*(named if isinstance(named, list) else []), known.get("previous_file")]
    for name in names:
        beside = Path(place).parent / Path(name).name if isinstance(name, str) and place != "-" else None
        if beside is not None and beside.is_file() and beside.name not in {one.name for one in found}:
            found.append(Beside(beside.name, _content(str(beside))))
    return tuple(found)


def _lines(reading: Reading, width: int) -> list[Line]:
    """The reading for people."""
    body = reading.as_json()
    found: list[Line] = [title(reading.kind)]
    rows = [_finding(entry) for entry in [*body["findings"], *body.get("problems", [])]]
    found += (
        [*table(["severity", "what", "where", "action", "more"], rows[:_LISTED], width)]
        if rows
        else [line("  no findings; what was not measured is below" if body["gaps"] else "  no findings")]
    )
    if body["gaps"]:
        found += [(), title("not known")]
        found += table(["what", "why"], [(_gap(gap), gap["why"]) for gap in body["gaps"][:_LISTED]], width)
    if body["facts"]:
        found += [(), title("facts")]
        facts = [(entry["device"] or "node", entry["name"], _value(entry)) for entry in body["facts"][:_LISTED]]
        found += table(["device", "fact", "value"], facts, width)
    rest = {
        key: value
        for key, value in body.items()
        if key not in ("schema", "kind", "findings", "problems", "gaps", "facts")
    }
    if rest:
        text = yaml.safe_dump(
            rest, sort_keys=False, allow_unicode=True, width=max(width - 4, 40), default_flow_style=None
        )
        found += [(), *(line(f"  {each}") for each in text.splitlines())]
    return found


def _finding(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    from fleet.render.text import Span

    severity = str(entry.get("severity", entry.get("kind", "")))
    code = entry.get("code")
    what = (
        " ".join(f"{key} {value}" for key, value in code.items())
        if isinstance(code, Mapping)
        else str(entry.get("kind"))
    )
    notes = [f"{entry['count']} times"] if entry.get("count", 1) != 1 else []
    notes += [str(entry["state"])] if entry.get("state", "open") != "open" else []
    notes += [f"then {entry['then']}"] if "then" in entry else []
    notes += [f"follows {' '.join(map(str, entry['follows'].values()))}"] if "follows" in entry else []
    where = entry.get("device") or entry.get("where") or entry.get("scope")
    return (Span(severity, _STYLES.get(severity, "")), what, str(where), str(entry.get("action")), ", ".join(notes))


def _gap(gap: Mapping[str, Any]) -> str:
    line_number = f" (line {gap['line']})" if "line" in gap else ""
    return f"{gap['what']}{' of ' + gap['device'] if gap['device'] else ''}{line_number}"


def _value(entry: Mapping[str, Any]) -> str:
    return f"{entry['value']}{' ' + entry['unit'] if entry.get('unit') else ''}"
