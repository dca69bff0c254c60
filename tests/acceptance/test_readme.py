"""The first hour of README, command by command, on the lab."""

from __future__ import annotations

from tests.acceptance.small_fleet import Lab
from tools.pictures import README, between
from tools.transcript import differs, exchanges
from tools.trial import Trial


def test_the_first_hour_goes_as_readme_shows_it(lab: Lab, trial: Trial) -> None:
    assert trial.fleet("plan").code == 0
    played = exchanges(between(README.read_text(), "transcript"))
    assert played, "README has lost its transcript"
    wrong = []
    for exchange in played:
        said = trial.run("sh", "-c", exchange.command)
        difference = differs(exchange.shown, said.out if said.out.strip() else said.err)
        if difference:
            wrong.append(f"$ {exchange.command}\n{difference}\n{said.all}")
    assert not wrong, "\n\n".join(wrong)
