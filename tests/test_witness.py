"""The witness of the demo and the acceptance tests must not be fooled by what a scheduler says of a node."""

from __future__ import annotations

import pytest

from tools.witness import Look, Witness, look_of

NODE = "NodeName={name} Arch=x86_64 CPUAlloc={cpus} CPUTot=64 State={state} Partitions=train Reason={reason} [root@x]\n"


def look(*nodes: tuple[str, str, int], at: float = 0, reason: str = "-") -> Look:
    lines = [NODE.format(name=name, state=state, cpus=cpus, reason=reason) for name, state, cpus in nodes]
    return look_of([*lines, "PENDING=3 RUNNING=2\n"], at)


@pytest.mark.parametrize(
    ("state", "serves"),
    [
        ("IDLE", True),
        ("MIXED", True),
        ("ALLOCATED", True),
        ("IDLE+COMPLETING", True),
        ("MIXED+DRAIN", False),
        ("IDLE+DRAIN", False),
        ("IDLE*", False),
        ("DOWN*+DRAIN", False),
        ("DOWN", False),
        ("IDLE+NOT_RESPONDING", False),
        ("UNKNOWN", False),
        ("IDLE+MAINTENANCE", False),
    ],
)
def test_who_takes_work(state: str, serves: bool) -> None:
    assert look(("n01", state, 0)).in_service(["n01"]) == int(serves)


def test_a_node_that_is_not_named_does_not_serve() -> None:
    assert look(("n01", "IDLE", 0)).in_service(["n01", "n02"]) == 1


def test_counts_of_the_queue() -> None:
    seen = look(("n01", "IDLE", 0))
    assert (seen.pending, seen.running) == (3, 2)


def test_lowest_and_drains_are_over_all_looks() -> None:
    witness = Witness(
        [
            look(("n01", "MIXED", 8), ("n02", "IDLE", 0), at=0),
            look(("n01", "MIXED+DRAIN", 8), ("n02", "IDLE+DRAIN", 0), at=1),
            look(("n01", "IDLE+DRAIN", 0), ("n02", "IDLE", 0), at=2.5),
            look_of(["slurm_load_node error: Unable to contact slurm controller\n"], 3),
        ]
    )
    assert witness.lowest(["n01", "n02"]) == 0
    assert witness.drains() == {"n01": True, "n02": False}
    assert witness.longest_gap() == 1.5
    assert len(witness.answered) == 3
