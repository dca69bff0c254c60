"""Slurm's state words: a base and a set of flags, whoever prints them, by `slurm_states.csv`.

sinfo is lossy: one word with one character for a flag, which hides others and often the base. scontrol prints base
and flags with plus signs (order differs by release: a set), older ones with `*#~` behind the base, and `?` for bits
without a name.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from fleet import facts

BASES = frozenset(("IDLE", "ALLOCATED", "MIXED", "DOWN", "FUTURE", "UNKNOWN", "ERROR"))
LEGACY_BASES = frozenset(("REBOOT",))
_ALIASES = {
    "NORESP": "NOT_RESPONDING",
    "NO_RESPOND": "NOT_RESPONDING",
    "MAINT": "MAINTENANCE",
    "RES": "RESERVED",
    "REBOOT_REQ": "REBOOT_REQUESTED",
    "DRAINED": "DRAIN",
    "DRAINING": "DRAIN",
    "FAILING": "FAIL",
    "INVAL": "INVALID_REG",
    "POWERING_UP_NODE": "POWERING_UP",
}
_SUFFIXES = {
    "*": "NOT_RESPONDING",
    "#": "POWERING_UP",
    "~": "POWERED_DOWN",
    "%": "POWERING_DOWN",
    "$": "MAINTENANCE",
    "@": "REBOOT_REQUESTED",
    "^": "REBOOT_ISSUED",
    "!": "POWER_DOWN",
    "-": "PLANNED",
    "+": "COMPLETING",
}
_WORK = {"yes": True, "no": False}
_NOT_FOR_WORK = frozenset(("CLOUD", "DYNAMIC_NORM", "DYNAMIC_FUTURE", "RESERVED", "PLANNED"))
TRANSITIONS = frozenset(
    ("POWERING_UP", "POWERING_DOWN", "POWER_DOWN", "POWER_UP", "REBOOT_REQUESTED", "REBOOT_ISSUED", "REBOOT_CANCEL")
)
OFF = frozenset(("POWERED_DOWN", "POWER"))


@dataclass(frozen=True, slots=True)
class State:
    """`base` None: not printed, or one of several. `has_work` None: words alone do not tell. `unknown`: of no list."""

    base: str | None
    flags: frozenset[str]
    has_work: bool | None
    unknown: tuple[str, ...] = ()
    hides: bool = False
    """the word hides every other flag, jobs included"""

    @property
    def out(self) -> bool:
        """Out of service for new work."""
        return self.base in ("DOWN", "FUTURE", "ERROR") or bool(self.flags & {"DRAIN", "FAIL", "INVALID_REG"})

    @property
    def usable(self) -> bool:
        """Takes new jobs now, as far as the words tell."""
        closed = {"NOT_RESPONDING", "MAINTENANCE", "RESERVED", "BLOCKED", *TRANSITIONS, *OFF}
        return not self.out and not self.unknown and not self.flags & closed and self.base != "UNKNOWN"


NOTHING_READ = State(None, frozenset(), None, ("",))


def flag(word: str) -> str:
    """One spelling for one flag."""
    return _ALIASES.get(word, word)


@cache
def _known_flags() -> frozenset[str]:
    words = {
        "CLOUD",
        "DYNAMIC_NORM",
        "DYNAMIC_FUTURE",
        "BLOCKED",
        "EXTERNAL",
        "POWER_DRAIN",
        "UNDRAIN",
        "POWER_UP",
        "REBOOT_CANCEL",
        "PERFCTRS",
        "LAUNCH_FAILED",
        "RESUME",
        "CERT_FLUSH",
    }
    for row in facts.table("slurm_states"):
        text = row["certain_flags"].partition(" (")[0]
        words.update(flag(word) for word in text.split("+") if word and word != "?")
    return frozenset(words) - BASES


@cache
def _sinfo_rows() -> dict[str, State]:
    rows: dict[str, State] = {}
    for row in facts.table("slurm_states"):
        if row["printed_by"] != "sinfo":
            continue
        bases = row["possible_base"].split("/")
        flags = frozenset(flag(word) for word in row["certain_flags"].split("+") if word)
        hides = row["text"].startswith("inval")
        state = State(bases[0] if len(bases) == 1 else None, flags, _WORK.get(row["job_on_node"]), (), hides)
        for text in (row["text"], row["short_text"]):
            rows.setdefault(text, state)
    return rows


@cache
def _scontrol_work() -> dict[frozenset[str], bool | None]:
    work: dict[frozenset[str], bool | None] = {}
    for row in facts.table("slurm_states"):
        text = row["text"]
        if row["printed_by"] == "scontrol" and re.fullmatch(r"[A-Z_+]+", text):
            words = frozenset(flag(word) for word in text.split("+")) - _NOT_FOR_WORK
            work.setdefault(words, _WORK.get(row["job_on_node"]))
    return work


def from_sinfo(text: str) -> State:
    """The state behind one of sinfo's words, long or short; upper case is scontrol's form."""
    word = text.strip()
    if found := _sinfo_rows().get(word):
        return found
    if word.upper() == word and word:
        return from_scontrol(word)
    return State(None, frozenset(), None, (word,))


def from_scontrol(text: str) -> State:
    """The state of `State=` in `scontrol show node`."""
    return from_words(text.strip().split("+"))


def from_words(words: Iterable[str]) -> State:
    """The state of a list of words: base first where it is printed at all."""
    base: str | None = None
    flags: set[str] = set()
    unknown: list[str] = []
    for at, raw in enumerate(words):
        word = raw.strip().upper()
        while word and word[-1] in _SUFFIXES and len(word) > 1:
            flags.add(_SUFFIXES[word[-1]])
            word = word[:-1]
        word = flag(word)
        if word in BASES and base is None:
            base = word
        elif word in LEGACY_BASES and at == 0:
            flags.add("REBOOT_REQUESTED")
        elif word in _known_flags():
            flags.add(word)
        elif word:
            unknown.append(word)
            if at > 0 or base is not None:
                flags.add(word)
    work = None if unknown else _work(base, frozenset(flags))
    return State(base, frozenset(flags), work, tuple(unknown))


def _work(base: str | None, flags: frozenset[str]) -> bool | None:
    """Whether jobs are on the node, by the table first; one that was given up while silent may still run some."""
    words = (frozenset([base]) if base else frozenset[str]()) | flags
    if (known := words - _NOT_FOR_WORK) in _scontrol_work():
        return _scontrol_work()[known]
    if base in ("ALLOCATED", "MIXED"):
        return True
    if base == "DOWN":
        doubtful = flags & {"NOT_RESPONDING", "COMPLETING"} or (
            flags & {"POWERING_DOWN", "POWERING_UP"} and "DRAIN" not in flags
        )
        return None if doubtful else False
    if "COMPLETING" in flags:
        return True
    return False if base in ("IDLE", "FUTURE") else None
