"""What a ledger says of a file that is cut, foreign, newer, locked or read-only: thing, cause, next step."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import fleet.adapters.ledger_sql.migrations as migrations
from fleet.adapters.ledger_sql import SqlLedger, open_ledger, opening
from fleet.adapters.ledger_sql.schema import HEAD, metadata
from fleet.errors import LedgerError
from fleet.model.ids import Verb
from fleet.model.order import StepRecord
from tests.adapters.ledgers import AT, HOLDER, N1, later, opened, order, step, walked


def filled(directory: Path) -> Path:
    with opened(directory) as ledger:
        order(ledger)
        for _ in range(30):
            walked(ledger, Verb.CONVERGE)
    return directory / "ledger.db"


def look(path: Path) -> None:
    with open_ledger(path) as ledger:
        ledger.records()
        ledger.verify_trail()


def refusal(path: Path) -> LedgerError:
    with pytest.raises(LedgerError) as caught:
        look(path)
    assert caught.value.next_step, "an error says what to do"
    assert str(path) in caught.value.thing
    return caught.value


class TestVersions:
    def test_the_code_knows_the_newest_migration(self) -> None:
        config = Config()
        config.set_main_option("script_location", str(Path(migrations.__file__).parent))
        config.set_main_option("path_separator", "os")
        assert ScriptDirectory.from_config(config).get_current_head() == HEAD

    def test_migrations_make_the_tables_of_the_code(self, tmp_path: Path) -> None:
        with open_ledger(tmp_path / "ledger.db") as ledger, ledger._engine.connect() as connection:
            assert compare_metadata(MigrationContext.configure(connection), metadata) == []

    def test_a_newer_one_is_left_alone(self, tmp_path: Path) -> None:
        path = filled(tmp_path)
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.close()
        before = path.read_bytes()
        error = refusal(path)
        assert "9999" in error.cause
        assert "newer fleet" in error.next_step
        assert path.read_bytes() == before

    def test_opened_by_many_at_once(self, tmp_path: Path) -> None:
        program = "import sys, pathlib, fleet.adapters.ledger_sql as l; l.open_ledger(pathlib.Path(sys.argv[1]))"
        command = [sys.executable, "-c", program, str(tmp_path / "ledger.db")]
        several = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
        told = [process.communicate(timeout=120)[1] for process in several]
        assert [process.returncode for process in several] == [0, 0, 0], told


class TestDamage:
    def test_cut_short(self, tmp_path: Path) -> None:
        path = filled(tmp_path)
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])
        error = refusal(path)
        assert "cut short" in str(error)
        assert "backup" in error.next_step

    def test_cut_to_nothing_is_no_new_ledger(self, tmp_path: Path) -> None:
        path = filled(tmp_path)
        path.write_bytes(b"")
        with open_ledger(path) as ledger:
            assert "older copy" in ledger.records().observe_only

    @pytest.mark.parametrize("data", [b"SQLite format 3\x00", b"hello\n" * 50, b"\x00" * 4096])
    def test_something_else(self, tmp_path: Path, data: bytes) -> None:
        (tmp_path / "ledger.db").write_bytes(data)
        assert "no ledger" in str(refusal(tmp_path / "ledger.db"))
        assert (tmp_path / "ledger.db").read_bytes() == data

    def test_overwritten_inside(self, tmp_path: Path) -> None:
        path = filled(tmp_path)
        data = bytearray(path.read_bytes())
        data[4096 : len(data)] = b"\xa5" * (len(data) - 4096)
        path.write_bytes(bytes(data))
        assert "damaged" in str(refusal(path))

    def test_a_directory_in_its_place(self, tmp_path: Path) -> None:
        (tmp_path / "ledger.db").mkdir()
        refusal(tmp_path / "ledger.db")

    def test_a_file_in_the_place_of_its_directory(self, tmp_path: Path) -> None:
        (tmp_path / "home").write_text("")
        refusal(tmp_path / "home" / "ledger.db")


class TestReading:
    def test_beside_a_writer(self, tmp_path: Path) -> None:
        path = filled(tmp_path)
        with open_ledger(path) as writer, open_ledger(path, read_only=True) as reader:
            writer.note(N1, "alice", "note", "hello", later(hours=1))
            assert reader.trail(limit=1)[0].why == "hello"
            with pytest.raises(LedgerError, match="opened to be read"):
                reader.note(N1, "bob", "note", "hello", AT)

    def test_alone(self, tmp_path: Path) -> None:
        with open_ledger(filled(tmp_path), read_only=True) as reader:
            assert N1 in reader.records().orders

    def test_makes_no_ledger(self, tmp_path: Path) -> None:
        with pytest.raises(LedgerError, match="there is no ledger"):
            open_ledger(tmp_path / "ledger.db", read_only=True)
        assert not (tmp_path / "ledger.db").exists()

    def test_a_name_that_means_something_in_a_uri(self, tmp_path: Path) -> None:
        path = tmp_path / "a?mode=ro#b%41" / "ledger.db"
        with open_ledger(path) as ledger:
            ledger.note(None, "alice", "note", "here", AT)
        assert path.exists()


def test_a_writer_that_does_not_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path)
    monkeypatch.setattr(opening, "_BUSY_SECONDS", 0.2)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        with open_ledger(path) as ledger:
            assert N1 in ledger.records().orders, "readers don't wait for it"
            with pytest.raises(LedgerError, match="another process holds it"):
                ledger.note(None, "alice", "note", "hello", AT)
    finally:
        other.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB of its own."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount a small tmpfs")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(ledger: SqlLedger) -> None:
    for _ in range(10_000):
        ledger.note(None, "alice", "note", "x" * 2000, AT)


def walk_on(ledger: SqlLedger) -> None:
    for _ in range(1000):
        walked(ledger, Verb.CONVERGE)


class TestFullDisk:
    def test_nothing_is_lost_and_it_goes_on(self, small_disk: Path) -> None:
        with opened(small_disk) as ledger:
            order(ledger)
            token = ledger.begin(step(), StepRecord(Verb.CORDON, 0, AT), HOLDER)
            with pytest.raises(LedgerError, match="disk is full") as caught:
                fill(ledger)
            assert "free space" in caught.value.next_step
            before = ledger.head()
            running = ledger.records().orders[N1].running
            assert running is not None
            assert running.token == token, "what was committed is there"
        with open_ledger(small_disk / "ledger.db", read_only=True) as again:
            assert again.head() == before
            assert again.verify_trail().good
        subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
        with open_ledger(small_disk / "ledger.db") as ledger:
            ledger.note(None, "alice", "note", "more room", AT)
            assert ledger.verify_trail().good

    def test_no_entry_no_step(self, small_disk: Path) -> None:
        with opened(small_disk) as ledger:
            order(ledger)
            with pytest.raises(LedgerError):
                fill(ledger)
            with pytest.raises(LedgerError, match="full"):
                walk_on(ledger)
            steps = ledger.records().orders[N1].steps
            told = [entry for entry in ledger.trail(order="o1") if entry.what == "step began"]
            assert len(steps) == len(told), "a step is in the ledger with its entry, or not at all"

    def test_a_new_ledger_on_a_full_disk(self, small_disk: Path) -> None:
        (small_disk / "rest").write_bytes(b"x" * ((2 << 20) - 8192))
        assert "full" in str(refusal(small_disk / "ledger.db"))

    def test_read_only_file_system(self, small_disk: Path) -> None:
        path = filled(small_disk)
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
        with open_ledger(path) as ledger:
            assert N1 in ledger.records().orders, "looking goes on"
            with pytest.raises(LedgerError, match="can't be written") as caught:
                ledger.note(None, "alice", "note", "hello", AT)
        assert "writable" in caught.value.next_step
