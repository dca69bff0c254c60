"""What may be hired, what owning costs and who approves, as YAML."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from fleet.errors import InventoryError
from fleet.model.economy import Burst, OwnPrice
from fleet.model.ids import PoolId
from fleet.model.policy import Approval, Matter
from fleet.model.topology import Declared
from fleet.spec import load
from fleet.spec.signature import principals
from tests.spec.sites import FILES, write

ECONOMY = """
economy:
  currency: EUR
  energy_price: 0.12 EUR/kWh
  grid: {carbon: 0.35 kg/kWh, source: our supplier}
  pue: 1.3
  staff_per_month: 60000
  life: 4 years
  utilisation: 85 %
  per_usd: 0.5
  cloud_prices: {p5.48xlarge: {price: 40 USD/h, spot: 10, source: contract, date: 2026-11-01}, other: 7 EUR/h}
  egress_prices: {aws: 0.02 USD/GB}
"""
BURST = """bursts:
  spill:
    pool: train
    provider: azure
    regions: [westeurope]
    types: [Standard_ND96isr_MI300X_v5]
    ceiling: 6
    budget: {hour: 400 USD/h, month: 100000}
    lifetime: 3d
    buy: spot
    may_not_leave: [patient]
    egress_per_month: 20 TB
"""


def site(tmp_path: Path, economy: str = ECONOMY, burst: str = BURST, policy: str | None = None) -> Path:
    files = {"site.yaml": FILES["site.yaml"] + economy, "burst.yaml": burst}
    return write(tmp_path, {**files, **({"policy.yaml": policy} if policy else {})})


def told(path: Path) -> list[str]:
    with pytest.raises(InventoryError) as caught:
        load(path)
    return [str(problem).replace(f"{path}/", "") for problem in caught.value.problems]


def test_economy(tmp_path: Path) -> None:
    found = load(site(tmp_path)).economy
    assert (found.currency, found.energy_price, found.staff_per_month) == ("EUR", 0.12, 60000)
    assert (found.grid_gco2_per_kwh, found.grid_source, found.pue) == (350, "our supplier", 1.3)
    assert (found.life_years, found.utilisation, found.per_usd) == (4, 0.85, 0.5)
    assert found.cloud_prices["p5.48xlarge"] == OwnPrice(20, 10, "contract", "2026-11-01")
    assert found.cloud_prices["other"].amount == 7
    assert found.egress_prices["aws"].amount == 0.01
    assert found.place.endswith("site.yaml:8")


def test_burst(tmp_path: Path) -> None:
    found = load(site(tmp_path)).bursts["spill"]
    assert found == Burst(
        "spill", "train", "azure", ("westeurope",), ("Standard_ND96isr_MI300X_v5",), 6, 200, 100000, 3 * 86400, True,
        ("patient",), 20000, found.place,
    )  # fmt: skip
    assert found.place.endswith("burst.yaml:2")


def test_nothing_said_is_unknown(tmp_path: Path) -> None:
    found = load(write(tmp_path))
    assert found.bursts == {}
    assert found.economy.energy_price is None
    assert found.approvers == ()


@pytest.mark.parametrize(
    ("economy", "text"),
    [
        ("energy_price: 0,12", "site.yaml:8: economy.energy_price: '0,12' has a comma (write it with a point, as"),
        ("energy_price: cheap", "'cheap' is no price (write it as 0.12 EUR/kWh)"),
        ("energy_price: 0.12 EUR/h", "'0.12 EUR/h' is per h, and it is per kWh"),
        ("grid: 350", "'350' is no carbon intensity (write it as 350 g/kWh)"),
        ("life: 4", "'4' is no life of a machine (write it as 4 years)"),
        ("pue: 0.9", "economy.pue"),
        ("utilisation: 85", "'85' is no share (write it as 85 %)"),
        ("enrgy_price: 1", "unknown key 'enrgy_price' in economy (did you mean 'energy_price'?)"),
        ("energy_price: 0.12 EUR/kWh", "0.12 EUR, and the site counts in USD (write it in USD)"),
        ("{currency: EUR, energy_price: 0.12 USD/kWh}", "or say in site.yaml what a dollar costs"),
    ],
)
def test_economy_mistakes(tmp_path: Path, economy: str, text: str) -> None:
    lines = f"economy: {economy}\n" if economy.startswith("{") else f"economy:\n  {economy}\n"
    assert text in "\n".join(told(site(tmp_path, lines, "bursts: {}\n")))


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("pool: train", "pool: trian", "burst.yaml:3: spill: there is no pool 'trian' (did you mean 'train'?)"),
        (
            "provider: azure",
            "provider: azur",
            "burst.yaml:4: spill: there is no provider 'azur' (did you mean 'azure'?)",
        ),
        ("ceiling: 6", "ceilng: 6", "unknown key 'ceilng' in bursts.spill (did you mean 'ceiling'?)"),
        ("lifetime: 3d", "lifetime: 3", "'3' is no duration"),
        ("20 TB", "20", "'20' has no unit (write it as 2 TB)"),
        ("buy: spot", "buy: spots", "'spots' is not known (did you mean 'spot'?)"),
    ],
)
def test_burst_mistakes(tmp_path: Path, old: str, new: str, text: str) -> None:
    assert text in "\n".join(told(site(tmp_path, burst=BURST.replace(old, new))))


def test_approvals(tmp_path: Path) -> None:
    policy = """roles: {admin: [alice@here, bob@here], lead: [carol@here]}
policies:
  default:
    budget: {pool: 1}
    approvals:
      rollout: admin
      irreversible: {role: [admin, lead], people: 2}
      expires: 12h
"""
    found = load(site(tmp_path, policy=policy)).pools[PoolId("train")].policy
    assert found.approvals.matters == {
        Matter.ROLLOUT: Approval(("admin",)), Matter.IRREVERSIBLE: Approval(("admin", "lead"), 2),
    }  # fmt: skip
    assert found.approvals.people(Matter.IRREVERSIBLE) == ("alice@here", "bob@here", "carol@here")
    assert found.approvals.people(Matter.OVERRIDE) is None
    assert found.approvals.expires == timedelta(hours=12)
    assert found.place("approvals", "irreversible", "people").endswith("policy.yaml:7")
    assert found.place("budget", "rack").endswith("policy.yaml:4")
    assert found.place("floor").endswith("policy.yaml:3")


def test_where_a_line_stands_decides_nothing(tmp_path: Path) -> None:
    def pool(text: str) -> Declared:
        return load(site(tmp_path, policy=text))

    first = pool("policies:\n  default: {budget: {pool: 1}}\n").pools
    assert first == pool("# a comment\npolicies:\n  default: {budget: {pool: 1}}\n").pools


def test_who_may_sign() -> None:
    text = b"""# people
alice@here namespaces="fleet-approval,fleet-release" ssh-ed25519 AAAA alice
bob@here,*@north ssh-ed25519 AAAA
releases@here namespaces="fleet-release" ssh-ed25519 AAAA
old@here valid-before="20200101",namespaces="fleet-*" ssh-ed25519 AAAA
"""
    found = principals(text, "fleet-approval", date(2026, 1, 1))
    assert found == ("alice@here", "bob@here", "*@north")
    assert principals(text, "fleet-approval", date(2019, 1, 1))[-1] == "old@here"
