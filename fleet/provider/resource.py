"""What a resource of the provider is: the questions that the engine may ask of it, and the answers.

Check and Diff are local. Only Create, Read, Update and Delete ask ports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fleet.model.ids import NodeId
from fleet.ports import Clock, Enrol, Identity, PowerPort
from fleet.provider.properties import UNKNOWN, Plain, Properties


@dataclass(frozen=True, slots=True)
class Ports:
    """All that the resources may ask of the world. `busy` names the open order on a node, or nothing."""

    enrol: Enrol
    power: PowerPort
    identity: Identity
    clock: Clock
    busy: Callable[[NodeId], str]
    declared: Callable[[NodeId], Properties | None]  # a node's inputs as the inventory has them, for imports
    by: str = "pulumi"


@dataclass(frozen=True, slots=True)
class Ask:
    """How the engine asked: how long it may take, and whether the user has interrupted meanwhile."""

    seconds: float
    interrupted: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Flaw:
    """An input that can't be: its name, and why with what to do about it."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Made:
    """What exists now. `unfinished` says what of it isn't as declared: Pulumi keeps it and comes back to it."""

    id: str
    outputs: Properties
    unfinished: tuple[str, ...] = ()
    inputs: Properties | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """It exists no more, or never did."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was done: what, why, and what to do."""

    thing: str
    cause: str
    next_step: str

    def __str__(self) -> str:
        return f"{self.thing}: {self.cause}\nnext: {self.next_step}"


class Resource(Protocol):
    """One type of resource."""

    def check(self, olds: Properties, news: Properties) -> Sequence[Flaw]: ...
    def diff(self, old_inputs: Properties, outputs: Properties, news: Properties) -> Sequence[str]: ...
    def create(self, inputs: Properties, ask: Ask) -> Made | Refused: ...
    def read(self, id: str, inputs: Properties, outputs: Properties) -> Made | Gone | Refused: ...
    def update(self, id: str, inputs: Properties, outputs: Properties, ask: Ask) -> Made | Refused: ...
    def delete(self, id: str, outputs: Properties) -> Gone | Refused: ...


def changed(old_inputs: Properties, news: Properties) -> list[str]:
    """The names of inputs whose values differ."""
    return sorted(name for name in {*old_inputs, *news} if old_inputs.get(name) != news.get(name))


def flaws_of_shape(
    news: Properties, shape: Mapping[str, type | tuple[type, ...]], optional: frozenset[str]
) -> list[Flaw]:
    """What is missing, of the wrong type, or unknown to us in the inputs. What the engine doesn't know yet passes."""
    found = [
        Flaw(name, f"unknown input `{name}`; known are {', '.join(sorted(shape))}")
        for name in news
        if name not in shape
    ]
    for name, kind in shape.items():
        value: Plain = news.get(name)
        if value == UNKNOWN:
            continue
        if value is None:
            if name not in optional:
                found.append(Flaw(name, f"`{name}` is missing"))
        elif not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            found.append(Flaw(name, f"`{name}` is {value!r}, of the wrong type"))
        elif value == "" and name not in optional:
            found.append(Flaw(name, f"`{name}` is empty"))
    return found


def text(properties: Properties, name: str) -> str:
    """A property as text; empty where it isn't there."""
    value = properties.get(name)
    return "" if value is None else str(value)


def way_out(node: str) -> str:
    """The commands that make it legal for a node to go."""
    return (
        f"declare {node} `disposition: retired`, run `fleet retire {node}` and `pulumi up`; "
        "then remove it from the inventory and run `pulumi up` again"
    )
