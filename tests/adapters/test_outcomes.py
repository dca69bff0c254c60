"""What an event of ansible-runner means for a node: a table of events as they were recorded."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from fleet.adapters.ansible.outcomes import outcome_of
from fleet.model.ids import Verb
from fleet.model.order import Again, Done, Failed, Lost, Outcome

REACH = 'Task failed: Data could not be sent to remote host "10.77.1.4". Make sure this host can be reached over ssh: '
UNREACHABLE, OK, FAILED = "runner_on_unreachable", "runner_on_ok", "runner_on_failed"


def data(res: dict[str, Any], action: str = "fleet_step", **more: Any) -> dict[str, Any]:
    return {"host": "n01", "task": "carry the step out", "task_action": action, "res": res, **more}


def gone(text: str) -> dict[str, Any]:
    return data({"unreachable": True, "msg": REACH + text})


@pytest.mark.parametrize(
    ("verb", "event", "given", "kind"),
    [
        pytest.param(Verb.CONVERGE, OK, data({"code": 0, "detail": "x"}), Done, id="done"),
        pytest.param(Verb.CONVERGE, FAILED, data({"code": 1, "why": "dpkg: no"}), Failed, id="failed"),
        pytest.param(Verb.CONVERGE, FAILED, data({"code": 78, "why": "digest"}), Failed, id="artifact refused"),
        pytest.param(Verb.CONVERGE, FAILED, data({"code": 124, "why": "late"}), Failed, id="out of time on the node"),
        pytest.param(Verb.CONVERGE, FAILED, data({"code": 75, "why": "busy"}), Again, id="another step runs"),
        pytest.param(Verb.CONVERGE, FAILED, data({"code": 76, "why": "old"}), Again, id="fenced off"),
        pytest.param(Verb.CONVERGE, FAILED, data({"code": 77, "why": "job"}), Again, id="work on the node"),
        pytest.param(Verb.CONVERGE, FAILED, data({"code": None, "why": "exit 143"}), Lost, id="ended in the middle"),
        pytest.param(Verb.VERIFY, FAILED, data({"code": None, "why": "143"}), Again, id="the same, nothing changed"),
        pytest.param(Verb.CONVERGE, FAILED, data({"msg": "x", "exception": "Traceback"}), Lost, id="plugin broke down"),
        pytest.param(Verb.CONVERGE, FAILED, data({"msg": "x"}, "copy"), Failed, id="a task before the step failed"),
        pytest.param(Verb.CONVERGE, FAILED, data({"msg": "x"}, "copy", ignore_errors=True), None, id="ignored"),
        pytest.param(Verb.CONVERGE, OK, data({"changed": True}, "copy"), None, id="a task before the step"),
        pytest.param(Verb.CONVERGE, "playbook_on_stats", {"ok": {}}, None, id="no node's event"),
        pytest.param(
            Verb.CONVERGE, UNREACHABLE, gone("ssh: connect to host 10.77.1.4 port 22: Connection refused"), Again,
            id="refused: nothing was done",
        ),
        pytest.param(
            Verb.CONVERGE, UNREACHABLE, gone("Connection timed out during banner exchange"), Again, id="banner",
        ),
        pytest.param(
            Verb.CONVERGE, UNREACHABLE, gone("@@@@@@@\r\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @"), Again,
            id="another host key",
        ),
        pytest.param(
            Verb.CONVERGE, UNREACHABLE, gone("Timeout, server 10.77.1.4 not responding."), Lost, id="broke midway",
        ),
        pytest.param(Verb.VERIFY, UNREACHABLE, gone("Connection reset by peer"), Again, id="broke, nothing changed"),
        pytest.param(
            Verb.CONVERGE, UNREACHABLE, gone("root@10.77.1.4: Permission denied (publickey)."), Again, id="key refused",
        ),
        pytest.param(
            Verb.REVOKE, UNREACHABLE, gone("root@10.77.1.4: Permission denied (publickey)."), Done,
            id="key refused after it was revoked",
        ),
    ],
)  # fmt: skip
def test_events(verb: Verb, event: str, given: dict[str, Any], kind: type[Outcome] | None) -> None:
    found = outcome_of(verb, event, given)
    assert (None if found is None else type(found[1])) is kind
    assert found is None or found[0] == "n01"


def test_a_changed_host_key_is_called_that() -> None:
    settled = outcome_of(Verb.VERIFY, UNREACHABLE, gone("@@@@\r\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @"))
    assert settled == (
        "n01",
        Again(timedelta(seconds=60), "unreachable: it shows another host key than the pinned one"),
    )


def test_the_address_and_advice_around_an_ssh_message_are_left_out() -> None:
    settled = outcome_of(Verb.VERIFY, UNREACHABLE, gone("ssh: connect to host 10.77.1.4 port 22: Connection refused"))
    assert settled is not None
    assert settled[1] == Again(
        timedelta(seconds=60), "unreachable: ssh: connect to host 10.77.1.4 port 22: Connection refused"
    )
