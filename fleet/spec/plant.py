"""racks.yaml as the model's Plant: blocks written out, references looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fleet.model.plant import AirUnit, Circuit, Code, Feed, Loop, Plant, Rack, Room, Ups
from fleet.spec.plant_file import CircuitFile, RackFile, RacksFile
from fleet.spec.reading import SiteReading
from fleet.spec.sets import MOST, expand, spread

PART = "racks"

REFERENCES = {"feed": "feeds", "leaf": "leaves", "loop": "loops", "room": "rooms"}
"""Keys of a rack that name something, and the section where it is declared."""


@dataclass(frozen=True, slots=True)
class Grid:
    """What site.yaml says of the power as a whole."""

    power_w: float | None = None
    code: Code | None = None
    next_rack_w: float | None = None


@dataclass(slots=True)
class _Writing:
    """The racks as they are written out."""

    reading: SiteReading
    tables: Mapping[str, Mapping[str, object]]
    racks: dict[str, Rack] = field(default_factory=dict)


def plant(reading: SiteReading, written: RacksFile, grid: Grid | None = None) -> Plant:
    """Everything of the building; what is named and not declared is a problem."""
    grid = grid or Grid()
    leaves = {name: None for block in written.leaves for name in _names(reading, ("leaves", block), block)}
    tables: dict[str, Mapping[str, object]] = {"feed": written.feeds, "leaf": leaves, "loop": written.loops}
    tables["room"] = written.rooms
    writing = _Writing(reading, tables)
    for block, rack in written.racks.items():
        _write_racks(writing, block, rack)
    for name, feed in written.feeds.items():
        reading.known_in(PART, ("feeds", name, "ups"), "UPS", feed.ups, written.ups)
    return Plant(
        rooms=dict(_rooms(reading, written)),
        racks=writing.racks,
        feeds={
            name: Feed(
                name,
                one.volts,
                one.phases,
                one.breaker,
                one.derating,
                one.power,
                one.ups or "",
                _at(reading, "feeds", name),
            )
            for name, one in written.feeds.items()
        },
        ups={name: Ups(name, one.power, _at(reading, "ups", name)) for name, one in written.ups.items()},
        loops={
            name: Loop(
                name,
                one.capacity,
                one.flow,
                one.supply,
                one.delta,
                one.units,
                one.redundancy,
                _at(reading, "loops", name),
            )
            for name, one in written.loops.items()
        },
        power_w=grid.power_w,
        code=grid.code,
        next_rack_w=grid.next_rack_w,
    )


def _rooms(reading: SiteReading, written: RacksFile) -> Iterator[tuple[str, Room]]:
    for name, one in written.rooms.items():
        units = tuple(AirUnit(unit, power, _at(reading, "rooms", name)) for unit, power in one.units.items())
        yield name, Room(name, one.air, units, one.redundancy, one.containment, _at(reading, "rooms", name))


def _write_racks(writing: _Writing, block: str, rack: RackFile) -> None:
    reading, place = writing.reading, ("racks", block)
    names = _names(reading, place, block)
    named = {key: _referred(writing, place, key, getattr(rack, key)) for key in REFERENCES}
    for index, circuit in enumerate(rack.circuits):
        where = (*place, "circuits", index, "feed")
        if circuit.feed not in writing.tables["feed"]:
            reading.known_in(PART, where, "feed", circuit.feed, writing.tables["feed"])
    if len(writing.racks) + len(names) > MOST:
        reading.say(PART, place, f"more than {MOST} racks", "split them into several sites")
        return
    at = reading.place(PART, place)
    circuits = tuple(each for one in rack.circuits for each in _circuits(one, at))
    for index, name in enumerate(names):
        if name in writing.racks:
            reading.say(PART, place, f"rack {name} is declared twice", "declare it once")
            continue
        own = {key: spread(words, index, len(names)) if words else "" for key, words in named.items()}
        feeds = tuple(dict.fromkeys([own["feed"]] if own["feed"] else [])) + tuple(
            dict.fromkeys(each.feed for each in circuits if each.feed != own["feed"])
        )
        writing.racks[name] = Rack(
            name=name,
            units=rack.units,
            room=own["room"],
            power_w=rack.power,
            coolant=rack.cooling,
            air_limit_w=rack.air_limit,
            circuits=circuits,
            redundancy=rack.redundancy,
            feeds=feeds,
            loop=own["loop"],
            leaf=own["leaf"],
            row=rack.row or "",
            headroom_w=rack.headroom,
            weight_limit_kg=rack.weight_limit,
            place=at,
        )


def _referred(writing: _Writing, place: tuple[object, ...], key: str, text: str | None) -> tuple[str, ...]:
    """The names that a rack refers to under a key; none where one of them isn't declared."""
    if text is None:
        return ()
    where = (*place, key)
    names = _names(writing.reading, where, text)
    table = writing.tables[key]
    known = [writing.reading.known_in(PART, where, key, name, table) for name in names if name not in table]
    return () if known else names


def _circuits(one: CircuitFile, place: str) -> Iterator[Circuit]:
    for _ in range(one.count):
        yield Circuit(one.feed, one.volts, one.phases, one.breaker, one.derating, place)


def _names(reading: SiteReading, place: tuple[object, ...], text: str) -> tuple[str, ...]:
    try:
        return expand(text)
    except ValueError as error:
        what, _, instead = str(error).partition("; ")
        reading.say(PART, place, what, instead)
        return ()


def _at(reading: SiteReading, section: str, name: str) -> str:
    return reading.place(PART, (section, name))
