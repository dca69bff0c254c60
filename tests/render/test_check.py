"""What `fleet check` prints."""

from __future__ import annotations

from fleet.errors import Problem as Unread
from fleet.feasibility import Level, Problem
from fleet.render.check import findings, listing, verdict
from fleet.render.text import plain

FOUND = (
    Problem("power-rack-over", Level.ERROR, "inventory/a/racks.yaml:7", "rack r1 draws 30 kW and is rated for 25 kW",
            "move 5 kW to another rack", "sum of nameplates", sum="3 x 10 kW = 30 kW > 25 kW"),
    Problem("power-headroom", Level.WARNING, "inventory/a/racks.yaml:3", "rack r2 keeps 5 kW free, and 8 are wanted",
            "", ""),
    Problem("power-unknown", Level.UNKNOWN, "inventory/a/nodes.yaml:2", "the draw of Box is not known", "say it", "x"),
)  # fmt: skip

PRINTED = """\
inventory/a/nodes.yaml
  not judged  nodes.yaml:2  power-unknown
    the draw of Box is not known
    mend  say it
    rule  x

inventory/a/racks.yaml
  error  racks.yaml:7  power-rack-over
    rack r1 draws 30 kW and is rated for 25 kW
    sum   3 x 10 kW = 30 kW > 25 kW
    mend  move 5 kW to another rack
    rule  sum of nameplates
  warning  racks.yaml:3  power-headroom
    rack r2 keeps 5 kW free, and 8 are wanted"""


def test_problems_stand_under_their_file_errors_first() -> None:
    assert plain(listing(findings(FOUND), 80)) == PRINTED


def test_no_line_is_wider_than_the_terminal() -> None:
    for width in (50, 80, 200):
        assert max(len(each) for each in plain(listing(findings(FOUND), width)).splitlines()) <= width


def test_the_verdict_counts() -> None:
    assert plain([verdict("inventory/a", findings(FOUND), None)]) == "inventory/a: 1 error, 1 warning, 1 not judged"
    assert plain([verdict("inventory/a", findings(FOUND[1:]), None)]) == "inventory/a: good, 1 warning, 1 not judged"
    assert plain([verdict("inventory/a", (), None)]) == "inventory/a: good"


def test_what_cannot_be_read_stands_among_them() -> None:
    (found,) = findings([Unread("a/nodes.yaml", 3, "unknown key 'bmcc' in nodes.n1", "did you mean 'bmc'?")])
    assert (found.code, found.level, found.line) == ("inventory", Level.ERROR, 3)
