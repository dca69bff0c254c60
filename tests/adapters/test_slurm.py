"""Slurm's one slot for a reason, and several owners who want it. The stand-in prints what Slurm 22.05 prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from fleet.adapters.slurm import SlurmSchedule
from fleet.model.ids import NodeId, OrderId, PoolId
from fleet.model.order import Again, Done, Failed
from fleet.model.topology import DeclaredNode

N1, N2, ORDER = NodeId("n01"), NodeId("n02"), OrderId("o-17")
NODES = [DeclaredNode(node, PoolId("train"), f"S-{node}", ()) for node in (N1, N2)]


@dataclass
class Row:
    """One node as slurmctld keeps it."""

    state: str = "IDLE"
    reason: str = ""
    user: str = "root"
    comment: str = ""
    cpus: int = 0

    def shown(self, name: str) -> str:
        line = (
            f"NodeName={name} Arch=x86_64 CoresPerSocket=1 CPUAlloc={self.cpus} CPUTot=64 CPULoad=0.1 "
            f"State={self.state} ThreadsPerCore=1 Partitions=train BootTime=2026-11-30T20:00:00 CfgTRES=cpu=64 "
            f"AllocTRES={f'cpu={self.cpus}' if self.cpus else ''} CapWatts=n/a"
        )
        line += f" Reason={self.reason} [{self.user}@2026-11-30T21:16:05]" if self.reason else ""
        return line + (f" Comment={self.comment}" if self.comment else "")


@dataclass
class Slurm:
    """`scontrol` and `squeue` over two nodes. `says` replaces an answer; `forgets` takes changes and does nothing."""

    rows: dict[str, Row] = field(default_factory=lambda: {"n01": Row(), "n02": Row()})
    queue: list[str] = field(default_factory=list)
    says: dict[str, tuple[int | None, str, str]] = field(default_factory=dict)
    forgets: bool = False
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def __call__(self, argv: Sequence[str], limit: float) -> tuple[int | None, str, str]:
        words = tuple(word for word in argv if word not in ("env", "TZ=UTC"))
        self.asked.append(words)
        for start, answer in self.says.items():
            if " ".join(words).startswith(start):
                return answer
        if words[0] == "squeue":
            return 0, "".join(line + "\n" for line in self.queue), ""
        if words[1] == "show":
            names = [word for word in words[3:] if not word.startswith("--")] or list(self.rows)
            return 0, "".join(self.rows[name].shown(name) + " \n" for name in names), ""
        if words[1] == "update" and not self.forgets:
            settings = dict(word.split("=", 1) for word in words[2:])
            self.update(self.rows[settings["nodename"]], settings)
        return 0, "", ""

    @staticmethod
    def update(row: Row, settings: dict[str, str]) -> None:
        base, _, flags = row.state.partition("+")
        match settings.get("state"):
            case "drain":
                row.state, row.reason = f"{base}+DRAIN", settings["reason"]
            case "undrain":
                row.state, row.reason = "+".join([base, *(f for f in flags.split("+") if f and f != "DRAIN")]), ""
            case "resume":
                row.state, row.reason = "IDLE", ""
        row.comment = settings.get("comment", row.comment)


def owners(slurm: Slurm, node: NodeId = N1) -> list[str]:
    return [cordon.owner for cordon in SlurmSchedule(slurm).look(NODES)[node].cordons]


def test_our_cordon_carries_the_order_and_goes_again() -> None:
    slurm = Slurm()
    assert isinstance(SlurmSchedule(slurm).cordon(N1, ORDER, "upgrade to r2"), Done)
    assert slurm.rows["n01"].reason == "fleet:o-17 upgrade to r2"
    assert SlurmSchedule(slurm).look(NODES)[N1].ours
    assert isinstance(SlurmSchedule(slurm).uncordon(N1, ORDER), Done)
    assert (slurm.rows["n01"].state, owners(slurm)) == ("IDLE", [])


class TestForeign:
    """never 2: a foreign reason survives our success, our failure and our doing nothing."""

    def drained(self, **more: str) -> Slurm:
        return Slurm({"n01": Row("IDLE+DRAIN", "fan 3 is loud", user="carol", **more), "n02": Row()})

    def test_we_claim_beside_it_and_take_only_our_claim_back(self) -> None:
        slurm = self.drained()
        assert isinstance(SlurmSchedule(slurm).cordon(N1, ORDER, "repair"), Done)
        assert (slurm.rows["n01"].reason, owners(slurm)) == ("fan 3 is loud", ["carol", "fleet"])
        assert isinstance(SlurmSchedule(slurm).uncordon(N1, ORDER), Done)
        assert (slurm.rows["n01"].state, slurm.rows["n01"].reason) == ("IDLE+DRAIN", "fan 3 is loud")
        assert owners(slurm) == ["carol"]

    def test_a_comment_that_was_there_is_there_again(self) -> None:
        slurm = self.drained(comment="asset 4711")
        SlurmSchedule(slurm).cordon(N1, ORDER, "repair")
        assert slurm.rows["n01"].comment == "fleet:o-17 repair | asset 4711"
        SlurmSchedule(slurm).uncordon(N1, ORDER)
        assert slurm.rows["n01"].comment == "asset 4711"

    def test_uncordon_of_what_was_never_ours_does_nothing(self) -> None:
        slurm = self.drained()
        SlurmSchedule(slurm).uncordon(N1, ORDER)
        assert not [words for words in slurm.asked if words[1] == "update"]

    def test_a_reason_that_only_mentions_us_is_not_ours(self) -> None:
        slurm = Slurm({"n01": Row("IDLE+DRAIN", "see fleet:o-17", user="carol"), "n02": Row()})
        assert owners(slurm) == ["carol"]

    def test_theirs_goes_and_ours_is_still_needed(self) -> None:
        slurm = self.drained()
        schedule = SlurmSchedule(slurm)
        schedule.cordon(N1, ORDER, "repair")
        slurm.update(slurm.rows["n01"], {"state": "undrain"})
        assert not schedule.look(NODES)[N1].ours, "the claim alone closes nothing, so the plan cordons again"
        schedule.cordon(N1, ORDER, "repair")
        assert slurm.rows["n01"].reason == "fleet:o-17 repair"


class TestPeople:
    def test_a_persons_cordon_is_foreign_and_only_that_person_lifts_it(self) -> None:
        slurm = Slurm()
        schedule = SlurmSchedule(slurm)
        assert isinstance(schedule.cordon_as(N1, "alice", "looking at fans"), Done)
        (cordon,) = schedule.look(NODES)[N1].cordons
        assert (cordon.owner, cordon.by_machine) == ("alice", False)
        assert isinstance(schedule.uncordon_as(N1, "bob"), Failed)
        assert isinstance(schedule.cordon_as(N1, "bob", "mine"), Failed)
        assert isinstance(schedule.uncordon_as(N1, "alice"), Done)
        assert slurm.rows["n01"].state == "IDLE"

    def test_a_person_takes_the_slot_from_us_and_we_get_it_back(self) -> None:
        slurm = Slurm()
        schedule = SlurmSchedule(slurm)
        schedule.cordon(N1, ORDER, "upgrade")
        schedule.cordon_as(N1, "alice", "wait")
        assert owners(slurm) == ["alice", "fleet"]
        schedule.uncordon_as(N1, "alice")
        assert (slurm.rows["n01"].reason, slurm.rows["n01"].comment) == ("fleet:o-17 upgrade", "")


class TestOpening:
    """Undrain before down makes a black hole."""

    def test_a_node_that_does_not_answer_is_not_opened(self) -> None:
        slurm = Slurm({"n01": Row("DOWN+DRAIN+NOT_RESPONDING", "fleet:o-17 x"), "n02": Row()})
        assert isinstance(SlurmSchedule(slurm).uncordon(N1, ORDER), Again)
        assert "DRAIN" in slurm.rows["n01"].state

    def test_a_node_that_slurm_put_down_at_its_reboot_is_resumed(self) -> None:
        slurm = Slurm({"n01": Row("DOWN+DRAIN", "fleet:o-17 x"), "n02": Row()})
        assert isinstance(SlurmSchedule(slurm).uncordon(N1, ORDER), Done)
        assert slurm.rows["n01"].state == "IDLE"


class TestUnknown:
    """never 7: no usable answer is no idle node."""

    @pytest.mark.parametrize(
        "answer",
        [
            pytest.param((0, "", ""), id="empty behind exit 0"),
            pytest.param(
                (0, "", "slurm_load_node error: Unable to contact slurm controller"), id="error behind exit 0"
            ),
            pytest.param((1, "", "slurm_load_node error: Unable to contact slurm controller"), id="controller down"),
            pytest.param((None, "", ""), id="no end in time"),
            pytest.param((127, "", "scontrol: No such file or directory"), id="not installed"),
        ],
    )
    def test_scontrol_says_nothing(self, answer: tuple[int | None, str, str]) -> None:
        slurm = Slurm(says={"scontrol": answer})
        for seen in SlurmSchedule(slurm).look(NODES).values():
            assert (seen.has_work, seen.scheduler_up, seen.cordons) == (None, None, ())
            assert seen.gaps[0].what == "scheduler"
        assert isinstance(SlurmSchedule(slurm).cordon(N1, ORDER, "x"), Again)
        assert isinstance(SlurmSchedule(slurm).uncordon(N1, ORDER), Again)

    def test_without_the_queue_an_empty_node_may_hold_a_suspended_job(self) -> None:
        slurm = Slurm({"n01": Row(), "n02": Row("ALLOCATED", cpus=64)}, says={"squeue": (1, "", "error: timed out")})
        seen = SlurmSchedule(slurm).look(NODES)
        assert (seen[N1].has_work, seen[N2].has_work) == (None, True)
        assert seen[N1].gaps[0].what == "queue"

    def test_a_node_that_slurm_does_not_know(self) -> None:
        slurm = Slurm({"n02": Row()})
        assert SlurmSchedule(slurm).look(NODES)[N1].gaps[0].why == "Slurm doesn't know the node"

    def test_a_state_of_no_list(self) -> None:
        slurm = Slurm({"n01": Row("FROBNICATED"), "n02": Row()})
        seen = SlurmSchedule(slurm).look(NODES)[N1]
        assert (seen.has_work, bool(seen.gaps)) == (None, True)

    def test_a_change_that_is_not_seen_afterwards_did_not_happen(self) -> None:
        slurm = Slurm(forgets=True)
        assert isinstance(SlurmSchedule(slurm).cordon(N1, ORDER, "x"), Again)


def test_work_is_told_with_its_end_and_all_of_its_nodes() -> None:
    slurm = Slurm(
        {"n01": Row("MIXED", cpus=8), "n02": Row()},
        queue=[
            "41|RUNNING|alice|2026-11-30T22:00:00|n[01-02]",
            "42|PENDING|alice|N/A|",
            "43|SUSPENDED|bob|NONE|n02",
        ],
    )
    seen = SlurmSchedule(slurm).look(NODES)
    assert [job.id for job in seen[N1].work] == ["41"]
    assert [job.id for job in seen[N2].work] == ["41", "43"]
    assert seen[N1].work[0].nodes == (N1, N2)
    assert seen[N1].work[0].ends == datetime(2026, 11, 30, 22, tzinfo=UTC)
    assert seen[N2].work[1].ends is None
    assert seen[N2].has_work is True, "a suspended job keeps its processes though the books say idle"


def test_requeue_only_on_a_closed_node_and_only_its_jobs() -> None:
    slurm = Slurm(
        {"n01": Row("MIXED", cpus=8), "n02": Row()}, queue=["41|RUNNING|alice|N/A|n01", "42|RUNNING|bob|N/A|n02"]
    )
    assert isinstance(SlurmSchedule(slurm).requeue(N1, ORDER), Failed)
    slurm.rows["n01"] = replace(slurm.rows["n01"], state="MIXED+DRAIN", reason="fleet:o-17 x")
    assert isinstance(SlurmSchedule(slurm).requeue(N1, ORDER), Done)
    assert [words for words in slurm.asked if words[1] == "requeue"] == [("scontrol", "requeue", "41")]


@pytest.mark.parametrize("reason", ["two\nlines", "a | bar", "x" * 999, "Comment=fleet:o-9 forged"])
def test_a_reason_stays_one_line_and_forges_nothing(reason: str) -> None:
    slurm = Slurm()
    SlurmSchedule(slurm).cordon(N1, ORDER, reason)
    assert "\n" not in slurm.rows["n01"].reason
    assert len(slurm.rows["n01"].reason) <= 240
    assert "fleet" in owners(slurm)
