"""The reason trail: append-only, chained, anchored outside the ledger; whoever alters it is found out."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.adapters.ledger_sql import SqlLedger, open_ledger
from fleet.adapters.ledger_sql.trail import verdict
from fleet.errors import LedgerError
from fleet.model.ids import Purpose, Verb
from fleet.model.order import Done, StepRecord
from fleet.model.plan import OrderClosed
from tests.adapters.ledgers import AT, HOLDER, N1, O1, TTL, later, opened, order, step, walked


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqlLedger]:
    with opened(tmp_path) as found:
        order(found)
        walked(found, Verb.CORDON, Done("closed", {"driver": "1"}))
        found.note(N1, "alice", "note", "looks fine\udcff to me", later(hours=1))
        yield found


def raw(tmp_path: Path, *statements: str) -> None:
    """Somebody with the file and a tool of their own."""
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def unlocked(*statements: str) -> tuple[str, ...]:
    return ("DROP TRIGGER trail_refuses_update", "DROP TRIGGER trail_refuses_delete", *statements)


def test_tells_who_what_and_why(ledger: SqlLedger) -> None:
    found = ledger.trail()
    told = [(entry.who, entry.what, entry.node, entry.order, entry.why) for entry in found]
    assert told == [
        (HOLDER, "lease taken", "", "", ""),
        (HOLDER, "order opened", N1, O1, "because"),
        (HOLDER, "step began", N1, O1, ""),
        (HOLDER, "step ended", N1, O1, "closed"),
        ("alice", "note", N1, "", "looks fine? to me"),
    ]
    assert found[2].detail["boot"] == "b1"
    assert found[3].detail["shown"] == {"driver": "1"}


def test_asked_by_node_order_time_and_number(ledger: SqlLedger) -> None:
    assert len(ledger.trail(node=N1)) == 4
    assert len(ledger.trail(order=O1)) == 3
    assert [entry.what for entry in ledger.trail(since=later(minutes=1))] == ["step ended", "note"]
    assert [entry.what for entry in ledger.trail(limit=2)] == ["step ended", "note"]


def test_the_chain_holds(ledger: SqlLedger) -> None:
    found = ledger.verify_trail()
    assert (found.good, found.entries) == (True, 5)
    assert (found.entries, found.head) == ledger.head()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE trail SET why = 'nothing' WHERE seq = 2",
        "DELETE FROM trail WHERE seq = 2",
    ],
)
def test_the_database_refuses_to_rewrite_it(ledger: SqlLedger, tmp_path: Path, statement: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        raw(tmp_path, statement)
    assert ledger.verify_trail().good


@pytest.mark.parametrize(
    ("statement", "bad", "why"),
    [
        ("UPDATE trail SET why = 'nothing' WHERE seq = 2", 2, "altered"),
        ("UPDATE trail SET who = 'bob' WHERE seq = 5", 5, "altered"),
        ("""UPDATE trail SET detail = '{"token":9}' WHERE seq = 3""", 3, "altered"),
        ("UPDATE trail SET detail = 'torn' WHERE seq = 3", 3, "altered"),
        ("UPDATE trail SET at = '2026-03-01T12:00:01.000000Z' WHERE seq = 1", 1, "altered"),
        ("DELETE FROM trail WHERE seq = 2", 2, "missing"),
        ("DELETE FROM trail WHERE seq = 1", 1, "missing"),
        (f"UPDATE trail SET previous = '{'0' * 64}' WHERE seq = 4", 4, "does not follow"),
    ],
)
def test_who_goes_round_it_is_found(ledger: SqlLedger, tmp_path: Path, statement: str, bad: int, why: str) -> None:
    raw(tmp_path, *unlocked(statement))
    found = ledger.verify_trail()
    assert (found.good, found.bad, found.entries) == (False, bad, bad - 1)
    assert why in found.why


def test_the_end_cut_off_is_found_by_the_anchor(ledger: SqlLedger, tmp_path: Path) -> None:
    ledger.note(None, "alice", "note", "a new day", later(days=1))
    assert ledger.verify_trail().good
    raw(tmp_path, *unlocked("DELETE FROM trail WHERE seq > 3"))
    found = ledger.verify_trail()
    assert (found.good, found.bad) == (False, None)
    assert "ends at entry 3" in found.why


def test_exported_and_checked_elsewhere(ledger: SqlLedger) -> None:
    lines = [json.dumps(entry) for entry in ledger.export_trail()]
    assert verdict([json.loads(text) for text in lines]) == ledger.verify_trail()
    lines[2] = lines[2].replace("cordon", "reboot")
    assert verdict([json.loads(text) for text in lines]).bad == 3


def test_a_moment_without_zone_is_no_moment(ledger: SqlLedger) -> None:
    before = ledger.head()
    with pytest.raises(ValueError, match="without a time zone"):
        ledger.note(None, "alice", "note", "when?", AT.replace(tzinfo=None))
    assert ledger.head() == before


class TestAnchor:
    def lines(self, tmp_path: Path) -> list[str]:
        return (tmp_path / "anchor").read_text().splitlines()

    def test_dropped_when_the_lease_changes_hands_and_daily(self, ledger: SqlLedger, tmp_path: Path) -> None:
        assert len(self.lines(tmp_path)) == 1
        ledger.take(HOLDER, later(seconds=10), TTL)
        ledger.note(None, "alice", "note", "same day", later(hours=3))
        assert len(self.lines(tmp_path)) == 1
        for hours in (24, 25, 26):
            ledger.note(None, "alice", "note", "next day", later(hours=hours))
        assert len(self.lines(tmp_path)) == 2
        ledger.take("ctl:2", later(days=2), TTL)
        assert [json.loads(line)["seq"] for line in self.lines(tmp_path)[:2]] == [1, 6]

    def restored(self, tmp_path: Path) -> Path:
        """An older copy of the ledger put back beside the anchor of the newer one."""
        copy = tmp_path / "backup.db"
        with sqlite3.connect(tmp_path / "ledger.db") as source, sqlite3.connect(copy) as into:
            source.backup(into)
        with open_ledger(tmp_path / "ledger.db") as ledger:
            order_token = ledger.begin(step(Verb.REBOOT), StepRecord(Verb.REBOOT, 0, AT), HOLDER)
            ledger.end(step(Verb.REBOOT), order_token, Done(), AT)
            ledger.take("ctl:2", later(days=1), TTL)
        for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)
        shutil.copy(copy, tmp_path / "ledger.db")
        return tmp_path / "ledger.db"

    def test_an_older_copy_may_only_look(self, ledger: SqlLedger, tmp_path: Path) -> None:
        ledger.close()
        with open_ledger(self.restored(tmp_path)) as old:
            assert "older copy" in old.records().observe_only
            assert "fleet trail accept" in old.records().observe_only
            old.take("ctl:3", later(days=2), TTL)
            with pytest.raises(LedgerError, match="older copy"):
                old.begin(step(Verb.CONVERGE), StepRecord(Verb.CONVERGE, 0, AT), "ctl:3")
            assert not old.verify_trail().good

    def test_until_a_person_takes_it_for_the_true_one(self, ledger: SqlLedger, tmp_path: Path) -> None:
        highest = ledger.highest_token()
        ledger.close()
        with open_ledger(self.restored(tmp_path)) as old:
            old.accept_history("alice", "the disk died", later(days=2))
            assert old.records().observe_only == ""
            old.take("ctl:3", later(days=2), TTL)
            token = old.begin(step(Verb.CONVERGE), StepRecord(Verb.CONVERGE, 0, AT), "ctl:3")
            assert token > highest + 1000, "nodes saw tokens that this ledger never gave"
            assert old.verify_trail().good
        with open_ledger(tmp_path / "ledger.db") as again:
            assert again.records().observe_only == ""

    def test_another_ledger_in_its_place_may_only_look(self, ledger: SqlLedger, tmp_path: Path) -> None:
        ledger.close()
        for path in tmp_path.glob("ledger.db*"):
            path.unlink()
        with open_ledger(tmp_path / "ledger.db") as empty:
            assert "older copy" in empty.records().observe_only
            for hour in range(5):
                empty.note(None, "alice", "note", "starting over", later(hours=hour))
        with open_ledger(tmp_path / "ledger.db") as other:
            assert "another ledger" in other.records().observe_only
        assert len(self.lines(tmp_path)) == 1, "a doubtful ledger is not anchored"

    @pytest.mark.parametrize("torn", ['{"at": "2026-03-02T', '{"at": 5}\n', "\x00\x00\n"])
    def test_a_torn_line_counts_as_not_written(self, ledger: SqlLedger, tmp_path: Path, torn: str) -> None:
        with (tmp_path / "anchor").open("a") as file:
            file.write(torn)
        ledger.close()
        with open_ledger(tmp_path / "ledger.db") as again:
            assert again.records().observe_only == ""
            again.note(None, "alice", "note", "a new day", later(days=1))
        assert json.loads(self.lines(tmp_path)[-1])["seq"] == 5

    def test_no_anchor_no_entry(self, ledger: SqlLedger, tmp_path: Path) -> None:
        (tmp_path / "anchor").unlink()
        (tmp_path / "anchor").mkdir()
        before = ledger.head()
        with pytest.raises(LedgerError, match="anchor"):
            ledger.commit([OrderClosed(O1, N1, good=True)], HOLDER, later(days=1))
        assert ledger.head() == before
        assert ledger.records().orders[N1].purpose is Purpose.UPGRADE
