"""What an accelerator-hour costs and emits: every figure here was computed by hand, the sum stands beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fleet.feasibility.carbon import hired_carbon, owned_carbon
from fleet.feasibility.cost import Hired, PoolCost, cost
from fleet.feasibility.offers import egress, offer, offers_for
from fleet.feasibility.problem import Level, Problem
from fleet.feasibility.what_if import side, what_if
from fleet.model.economy import Burst, Economy, OwnPrice
from fleet.model.hardware import NodeModel
from fleet.model.ids import NodeId, PoolId, ReleaseId
from fleet.model.plant import Plant, Rack
from fleet.model.policy import Policy
from fleet.model.topology import Declared, DeclaredNode, Disposition, Pool
from fleet.render.cost import cost_facts, cost_lines, what_if_facts, what_if_lines
from fleet.render.text import plain

BOX = NodeModel("Box", accelerators=8, accelerator="H100-SXM5", max_w=8000, idle_w=2000, price=280_320)
ECONOMY = Economy(
    energy_price=0.08, grid_gco2_per_kwh=400, pue=1.25, staff_per_month=29_200, life_years=4, utilisation=0.8
)
SPILL = Burst("spill", "train", "aws", ("eu-west-2",), ("p5.48xlarge",), 2, 500, 50_000)
GIB_10240 = 10_995.11627776  # GB


def declared(
    economy: Economy = ECONOMY, model: NodeModel | None = BOX, count: int = 10, burst: Burst | None = None
) -> Declared:
    pool = Pool(PoolId("train"), "H100", "nvidia", ReleaseId("r"), Policy())
    nodes = {
        NodeId(f"n{i}"): DeclaredNode(NodeId(f"n{i}"), pool.id, f"S{i}", (), accelerators=8, rack="r1", model=model)
        for i in range(count)
    }
    plant = Plant(racks={"r1": Rack("r1")}, power_w=150_000)
    bursts = {burst.name: burst} if burst is not None else {}
    return Declared("here", nodes, {pool.id: pool}, plant=plant, economy=economy, bursts=bursts)


def one(found: Declared) -> PoolCost:
    (only,) = cost(found)
    return only


def hired(found: Declared, label: str) -> Hired:
    return next(each for each in one(found).hired if each.offer.label == label and not each.spot)


def test_owned() -> None:
    owned = one(declared()).owned
    parts = {part.name: part.per_hour for part in owned.parts}
    assert parts["machines"] == pytest.approx(1.0)  # 280,320 / 8 / (4 x 8,760)
    assert parts["energy"] == pytest.approx(0.1)  # 1 kW x 1.25 x 0.08
    assert parts["staff"] == pytest.approx(0.5)  # 29,200 / (80 x 730)
    assert owned.per_hour == pytest.approx(1.6)
    assert owned.working == pytest.approx(0.075)  # (1 - 0.25) kW x 1.25 x 0.08
    assert owned.standing == pytest.approx(1.525)
    assert owned.per_month == pytest.approx(92_564)  # 58,400 h x (1.525 + 0.8 x 0.075)
    assert owned.per_hour_of_work == pytest.approx(1.98125)  # 1.585 / 0.8


def test_without_idle_draw_energy_is_paid_all_hours() -> None:
    owned = one(declared(model=replace(BOX, idle_w=None))).owned
    assert owned.per_month == pytest.approx(58_400 * 1.6)


def test_measured_draw_holds_over_the_nameplate() -> None:
    owned = one(declared(model=replace(BOX, measured_w=4000))).owned
    assert owned.parts[1].per_hour == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("economy", "model", "missing"),
    [
        (ECONOMY, None, "no price: no model (10 nodes)"),
        (ECONOMY, replace(BOX, price=None), "no price: Box (10 nodes)"),
        (replace(ECONOMY, life_years=None), BOX, "no life of machines"),
        (replace(ECONOMY, pue=None), BOX, "no pue in `economy`"),
        (replace(ECONOMY, energy_price=None, pue=None), BOX, "no energy_price and no pue in `economy`"),
        (replace(ECONOMY, staff_per_month=None), BOX, "no staff_per_month"),
    ],
)
def test_what_is_not_said_is_unknown_and_not_nothing(economy: Economy, model: NodeModel | None, missing: str) -> None:
    found = one(declared(economy, model))
    assert found.owned.per_hour is None
    assert found.owned.per_month is None
    assert missing in "; ".join(found.owned.missing)
    assert all(each.break_even is None for each in found.hired)


def test_nothing_at_all_is_said() -> None:
    text = plain(cost_lines(declared(Economy(), None), cost(declared(Economy(), None)), 100))
    assert "unknown" in text
    assert " 0.000" not in text


def test_break_even() -> None:
    found = hired(declared(), "aws p5.48xlarge")
    assert found.per_hour == pytest.approx(6.88)  # 55.04 / 8
    assert found.break_even == pytest.approx(0.224100, abs=1e-6)  # 1.525 / (6.88 - 0.075)
    assert found.verdict == "owning is cheaper above 22% of hours"
    assert found.per_month == pytest.approx(321_433.6)  # 58,400 x 0.8 x 6.88


def test_break_even_with_egress() -> None:
    found = hired(declared(burst=replace(SPILL, egress_gb_per_month=GIB_10240)), "aws p5.48xlarge")
    assert found.egress is not None
    assert found.egress.amount == pytest.approx(912.6)  # 100 x 0 + 10,140 x 0.09
    assert found.break_even == pytest.approx(0.221804, abs=1e-6)  # (1.525 - 912.6 / 58,400) / 6.805
    assert found.per_month == pytest.approx(322_346.2)
    assert found.declared_by == "spill"


@pytest.mark.parametrize(
    ("price", "verdict", "share"),
    [
        (8.0, "hiring is cheaper even when busy all hours", 1.6486),  # 1.525 / (1 - 0.075)
        (0.4, "hiring is always cheaper: an hour of it costs less than our energy", None),
    ],
)
def test_hiring_may_be_cheaper(price: float, verdict: str, share: float | None) -> None:
    economy = replace(ECONOMY, cloud_prices={"p5.48xlarge": OwnPrice(price, None, "contract", "2026-11-01")})
    found = hired(declared(economy), "aws p5.48xlarge")
    assert found.verdict == verdict
    assert found.break_even == (pytest.approx(share, abs=1e-4) if share else None)
    assert (found.offer.source, found.offer.date, found.offer.confidence) == (
        "contract",
        "2026-11-01",
        "the site's own",
    )


def test_a_price_that_is_not_published_is_unknown() -> None:
    found = offer("aws", "p5e.48xlarge", ECONOMY)
    assert found is not None
    assert found.per_hour is None
    assert found.price(spot=True) is None


def test_every_offer_carries_its_date_source_and_confidence() -> None:
    for board in ("H100", "H200", "MI300X", "A100", "B200-SXM6"):
        found = offers_for(board, ECONOMY)
        assert found
        assert all(each.date and each.source and each.confidence for each in found)


def test_boards_have_several_names() -> None:
    assert {each.board for each in offers_for("A100-SXM4-80G", ECONOMY)} == {"A100-80G"}
    assert {each.board for each in offers_for("A100", ECONOMY)} == {"A100-40G", "A100-80G"}
    assert {each.board for each in offers_for("NVIDIA H100", ECONOMY)} == {"H100"}
    assert {each.board for each in offers_for("H100-NVL", ECONOMY)} == {"H100 NVL"}
    assert offers_for("", ECONOMY) == ()


def test_another_currency_needs_a_rate() -> None:
    found = offer("aws", "p5.48xlarge", replace(ECONOMY, currency="EUR", per_usd=0.5))
    assert found is not None
    assert found.per_hour == pytest.approx(27.52)
    found = offer("aws", "p5.48xlarge", replace(ECONOMY, currency="EUR"))
    assert found is not None
    assert found.per_hour is None
    assert "per_usd" in found.note


@pytest.mark.parametrize(
    ("provider", "gigabytes", "amount"),
    [
        ("aws", GIB_10240, 912.6),
        ("azure", GIB_10240, 882.18),  # 10,140 x 0.087
        ("gcp", GIB_10240, 1136.64),  # 1,024 x 0.12 + 9,216 x 0.11
        ("oci", GIB_10240, 0.0),
        ("aws", 20 * GIB_10240, 14_122.2),  # 0 + 10,140 x .09 + 40,960 x .085 + 102,400 x .07 + 51,200 x .05
        ("aws", 0.0, 0.0),
    ],
)
def test_egress_by_tiers(provider: str, gigabytes: float, amount: float) -> None:
    assert egress(provider, gigabytes, ECONOMY).amount == pytest.approx(amount, abs=0.05)


def test_egress_that_nobody_publishes_is_unknown() -> None:
    assert egress("crusoe", 1000, ECONOMY).amount is None
    own = replace(ECONOMY, egress_prices={"crusoe": OwnPrice(0.01)})
    assert egress("crusoe", 1000, own).amount == pytest.approx(10)


def test_carbon_says_which_factors_it_used() -> None:
    assert owned_carbon(ECONOMY, 1000).grams == pytest.approx(500)  # 1 kW x 1.25 x 400
    assert owned_carbon(replace(ECONOMY, grid_gco2_per_kwh=None), 1000).grams is None
    (london,) = hired_carbon(replace(SPILL, provider="gcp", regions=("europe-west2",)), 1000)
    (other,) = hired_carbon(SPILL, 1000)
    assert (london.grams, other.grams) == (pytest.approx(105.94), pytest.approx(225))
    assert "gcp_2024" in london.source
    assert "aws_ccf" in other.source
    assert "PUE" in other.sum
    (nowhere,) = hired_carbon(replace(SPILL, regions=("mars-1",)), 1000)
    assert nowhere.grams is None


def test_retired_nodes_and_nodes_without_accelerators_cost_nothing_here() -> None:
    found = declared()
    gone = replace(found.nodes[NodeId("n0")], disposition=Disposition.RETIRED)
    login = replace(found.nodes[NodeId("n1")], accelerators=0)
    found = replace(found, nodes={**found.nodes, NodeId("n0"): gone, NodeId("n1"): login})
    assert (one(found).owned.nodes, one(found).owned.accelerators) == (8, 64)


def test_a_side_in_figures() -> None:
    found = side(declared(burst=SPILL), ())
    assert (found.nodes, found.accelerators, found.hired_accelerators) == (10, 80, 16)
    assert found.peak_w == 80_000
    assert found.headroom_w == pytest.approx(50_000)  # 150 kW - 80 kW x 1.25
    assert found.hired_month == pytest.approx(50_000)  # least of 2 x 55.04 x 730 = 80,358, 500 x 730 and the budget
    assert found.month == pytest.approx(142_564)
    assert found.per_hour == pytest.approx(1.6)
    assert found.grams == pytest.approx(500)


def test_what_is_not_known_of_a_side_stays_unknown() -> None:
    found = side(
        declared(Economy(), None, burst=replace(SPILL, ceiling=None, budget_per_hour=None, budget_per_month=None)), ()
    )
    figures = (found.peak_w, found.headroom_w, found.owned_month, found.hired_month, found.per_hour, found.grams)
    assert figures == (None,) * 6
    assert found.hired_accelerators is None
    assert "train: no price: no model (10 nodes)" in found.missing


def test_problems_that_come_and_go_whatever_their_line() -> None:
    old, stays, new = (Problem(code, Level.ERROR, "a.yaml:1", code, "mend", "rule") for code in "abc")
    found = what_if(declared(), declared(count=12), (old, stays), (replace(stays, place="a.yaml:9"), new))
    assert (found.new, found.gone) == ((new,), (old,))
    text = plain(what_if_lines(found, "here", "there", 100))
    assert "nodes                             10      12       +2" in text
    assert "+16" in text
    assert "new problems" in text
    assert "problems gone" in text
    facts = what_if_facts(found)
    assert facts["then"]["nodes"] == 12  # type: ignore[index]


def test_the_table_shows_sums_and_sources() -> None:
    found = declared(burst=replace(SPILL, egress_gb_per_month=GIB_10240))
    text = " ".join(plain(cost_lines(found, cost(found), 120)).split())
    for words in (
        "pool train: 80 x H100 in 10 nodes",
        "35,040 USD each / (4 years x 8,760 h)",
        "1.000 kW x PUE 1.25 x 0.08 USD/kWh",
        "29,200 USD a month / (80 accelerators x 730 h)",
        "92,564 USD a month at 80%; 1.981 per hour of work",
        "owning is cheaper above 22% of hours",
        "price of 2026-11-30, from memory",
        "Not counted: storage",
    ):
        assert words in text
    facts = cost_facts(found, cost(found))
    (pool,) = facts["pools"]  # type: ignore[misc]
    assert {"price_date", "source", "confidence"} <= set(pool["hired"][0])


@pytest.mark.parametrize("width", [40, 80, 200])
def test_lines_fit(width: int) -> None:
    found = declared(burst=SPILL)
    assert max(len(text) for text in plain(cost_lines(found, cost(found), width)).splitlines()) <= max(width, 60)


def test_ten_thousand_nodes_in_a_moment() -> None:
    import time

    found = declared(count=10_000, burst=SPILL)
    began = time.process_time()
    cost(found)
    side(found, ())
    assert time.process_time() - began < 1.0
