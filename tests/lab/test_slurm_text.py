"""The scheduler's configuration as written from the layout, and its answers as read."""

from __future__ import annotations

import pytest

from fleet.lab import slurm
from fleet.lab.layout import layout

JOBCOMP = (
    "JobId=1 UserId=alice(1000) GroupId=alice(1000) Name=work JobState=COMPLETED Partition=train TimeLimit=10 "
    "StartTime=2026-01-01T00:00:00 EndTime=2026-01-01T00:00:20 NodeList=n[01-02] NodeCnt=2 ProcCnt=8 WorkDir=/tmp \n"
    "JobId=3 UserId=alice(1000) GroupId=alice(1000) Name=long JobState=PENDING Partition=train TimeLimit=20 "
    "StartTime=2026-01-01T00:00:00 EndTime=2026-01-01T00:01:00 NodeList=n03 NodeCnt=1 ProcCnt=4 WorkDir=/tmp \n"
)
JOBS = (
    "JobId=3 JobName=long UserId=alice(1000) JobState=RUNNING Reason=None Requeue=1 Restarts=1 BatchFlag=1 "
    "NodeList=n03 BatchHost=n03\n"
)
NODES = (
    "NodeName=n01 Arch=x86_64 CPUAlloc=8 State=MIXED+DRAIN ThreadsPerCore=1\n"
    "NodeName=n02 CoresPerSocket=1 State=DOWN* ThreadsPerCore=1\n"
)


def test_each_pool_is_a_partition_with_its_nodes() -> None:
    text = slurm.configuration(layout(6))
    assert "PartitionName=train Nodes=n01,n02,n03,n04 Default=YES" in text
    assert "PartitionName=infer Nodes=n05,n06 Default=NO" in text


def test_every_node_has_eight_accelerators_in_both_files() -> None:
    plan = layout(6)
    assert slurm.configuration(plan).count(":8 ") == 6
    assert slurm.gres(plan).count("NodeName=") == 6


@pytest.mark.parametrize(
    "setting",
    ["JobCompType=jobcomp/filetxt", "MinJobAge=86400", "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none"],
)
def test_settings_that_the_proofs_rest_on(setting: str) -> None:
    assert setting in slurm.configuration(layout(6)).splitlines()


def test_a_requeue_is_a_record_with_the_state_pending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "inside", lambda *args, **kwargs: JOBCOMP)
    assert [(r.job, r.state, r.nodes) for r in slurm.completions()] == [
        (1, "COMPLETED", "n[01-02]"),
        (3, "PENDING", "n03"),
    ]


def test_restarts_are_counted_by_the_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "inside", lambda *args, **kwargs: JOBS)
    assert [(job.job, job.state, job.restarts) for job in slurm.jobs()] == [(3, "RUNNING", 1)]


def test_node_states_are_the_schedulers_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "inside", lambda *args, **kwargs: NODES)
    assert slurm.node_states() == {"n01": "MIXED+DRAIN", "n02": "DOWN*"}
