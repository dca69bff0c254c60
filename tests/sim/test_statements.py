"""The language of statements: what is read from a line."""

from __future__ import annotations

import pytest

from fleet.errors import Misuse
from fleet.sim.claims import compare
from fleet.sim.declare import amount, blocks, named, seconds
from fleet.sim.statements import claim, parse


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("90s", 90),
        ("1h30m", 5400),
        ("2d", 172800),
        ("20m30s", 1230),
        ("-3h", -10800),
    ],
)
def test_durations(text: str, found: float) -> None:
    assert seconds(text) == found


@pytest.mark.parametrize("text", ["", "90", "soon", "1x", "1h 30m"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(Misuse, match="duration"):
        seconds(text)


@pytest.mark.parametrize(
    ("value", "text"), [(2, "2"), ("25%", "25%"), ({"nodes": 3}, "3"), ({"share": "0%"}, "0%")], ids=str
)
def test_amounts(value: object, text: str) -> None:
    assert str(amount(value)) == text


def test_a_value_that_cannot_be_read_is_not_no_limit() -> None:
    with pytest.raises(Misuse, match="neither a number of nodes nor a percentage"):
        amount("abcdef")


def test_nodes_come_in_equal_blocks_and_the_first_racks_take_what_is_left_over() -> None:
    ids = named("n01..n08")
    assert list(blocks(ids, ["a1", "a2", "a3"]).values()) == ["a1"] * 3 + ["a2"] * 3 + ["a3"] * 2  # type: ignore[arg-type]


def test_always_and_never_cover_from_included_to_excluded() -> None:
    statement = parse({"never from 10m to 1h": "begin(all)"})
    assert (statement.covers(599), statement.covers(600), statement.covers(3599), statement.covers(3600)) == (
        False,
        True,
        True,
        False,
    )


def test_eventually_ends_in_its_limit() -> None:
    statement = parse({"eventually": "in_service(n01) and on_release(n01, r42) by 1h15m"})
    assert statement.until == 4500
    assert statement.condition is not None
    assert [each.name for each in statement.condition.then] == ["in_service", "on_release"]


def test_implies_has_two_sides() -> None:
    statement = parse({"always": "rollout().state == done implies on_release(pool=train, r42) == 6"})
    assert statement.condition is not None
    assert [each.name for each in statement.condition.given] == ["rollout"]
    assert statement.condition.then[0].args == ("pool=train", "r42")


def test_a_claim_has_a_field_an_operator_and_values() -> None:
    found = claim("not held(n03).reason in [rollout_halted, gate_failed]")
    assert (found.negated, found.name, found.args, found.field, found.op) == (True, "held", ("n03",), "reason", "in")
    assert found.value == ("rollout_halted", "gate_failed")


def test_an_address_is_a_value() -> None:
    assert claim("case(n02).device == 0000:ab:00").value == ("0000:ab:00",)


def test_order_is_a_chain() -> None:
    assert [each.name for each in parse({"order": "drain(n01) < reboot(n01) < verify(n01)"}).chain] == [
        "drain",
        "reboot",
        "verify",
    ]


@pytest.mark.parametrize("entry", [{"sometimes": "in_service(n01)"}, {"always": "n01 is fine"}, {"a": 1, "b": 2}])
def test_what_is_no_statement(entry: dict[str, str]) -> None:
    with pytest.raises(Misuse):
        parse(entry)


@pytest.mark.parametrize(
    ("value", "op", "wanted", "true"),
    [
        (4.0, "<=", "4", True),
        (1000.0, "<=", "15m", False),
        ("done", "in", "halted", False),
        (("alice", "bob"), "includes", "bob", True),
        ("alice", "includes", "alice", False),
    ],
)
def test_comparing(value: float | str | tuple[str, ...], op: str, wanted: str, true: bool) -> None:
    assert compare(value, op, (wanted,)) is true
