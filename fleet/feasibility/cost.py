"""What an accelerator-hour costs: owned, against everything that may be hired in its place.

Owned = machines over their life + energy at their highest draw x PUE + the site's staff over its accelerators. Storage,
networks, the building and machines without accelerators are not in it, and neither is what a cloud adds to its list.
Break-even is the share of hours u at which both cost the same:

    owned  N x 730 h x (F + V x u)      F: what runs on without work: machines, staff, idle draw
    hired  N x 730 h x P x u + egress   V: what work adds: energy above idle draw (0 where idle isn't known)

so u = (F - egress / (N x 730 h)) / (P - V). None is unknown, never 0, and what is missing is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fleet.feasibility.offers import HOURS_A_MONTH, Egress, Offer, egress, offer, offers_for
from fleet.model.economy import Burst, Economy
from fleet.model.ids import NodeId
from fleet.model.topology import Declared, DeclaredNode, Disposition, Pool

HOURS_A_YEAR = 8760.0


@dataclass(frozen=True, slots=True)
class Part:
    """One line of a cost, per accelerator-hour; `sum` is how it comes about, or what is missing."""

    name: str
    per_hour: float | None
    sum: str


@dataclass(frozen=True, slots=True)
class Owned:
    """What a pool's own machines cost. Watts are of one accelerator with its share of the machine, at the inlet."""

    pool: str
    board: str
    nodes: int
    accelerators: int
    parts: tuple[Part, ...]
    watts: float | None
    idle_watts: float | None
    utilisation: float | None
    energy_per_watt: float | None = None  # of one hour, PUE included

    @property
    def per_hour(self) -> float | None:
        """Per accelerator-hour, at full draw; None where a part is unknown."""
        found = [part.per_hour for part in self.parts if part.per_hour is not None]
        return sum(found) if len(found) == len(self.parts) else None

    @property
    def missing(self) -> tuple[str, ...]:
        """What must be declared before the whole is known."""
        return tuple(part.sum for part in self.parts if part.per_hour is None)

    @property
    def per_hour_of_work(self) -> float | None:
        """Per accelerator-hour in which it works, its idle hours paid too."""
        month = self.per_month
        if month is None or not self.utilisation:
            return None
        return month / (self.accelerators * HOURS_A_MONTH * self.utilisation)

    @property
    def standing(self) -> float | None:
        """F: per accelerator-hour whether it works or not."""
        return None if self.per_hour is None else self.per_hour - (self.working or 0.0)

    @property
    def working(self) -> float:
        """V: what an hour of work adds."""
        if self.watts is None or self.idle_watts is None or self.energy_per_watt is None:
            return 0.0
        return max(self.watts - self.idle_watts, 0.0) * self.energy_per_watt

    @property
    def per_month(self) -> float | None:
        """The whole pool for a month at the site's utilisation; at all hours where that isn't declared."""
        if self.standing is None:
            return None
        used = 1.0 if self.utilisation is None else self.utilisation
        return self.accelerators * HOURS_A_MONTH * (self.standing + self.working * used)


@dataclass(frozen=True, slots=True)
class Hired:
    """An offer in place of a pool's own machines. `per_hour` is of one accelerator; `break_even` a share of hours."""

    offer: Offer
    spot: bool
    per_hour: float | None
    per_month: float | None
    egress: Egress | None
    break_even: float | None
    verdict: str
    sum: str = ""
    declared_by: str = ""  # the burst that names it


@dataclass(frozen=True, slots=True)
class PoolCost:
    """One pool, owned and hired."""

    owned: Owned
    hired: tuple[Hired, ...] = field(default=())


def cost(declared: Declared) -> tuple[PoolCost, ...]:
    """Every pool with accelerators, in the order of the declaration."""
    nodes: dict[str, list[DeclaredNode]] = {}
    for node in declared.nodes.values():
        if node.disposition is not Disposition.RETIRED and node.accelerators:
            nodes.setdefault(node.pool, []).append(node)
    everywhere = sum(node.accelerators for members in nodes.values() for node in members)
    found = []
    for pool in declared.pools.values():
        if pool.id in nodes:
            owned = own(declared.economy, pool, nodes[pool.id], everywhere)
            found.append(PoolCost(owned, tuple(_hired(declared, pool, owned))))
    return tuple(found)


def own(economy: Economy, pool: Pool, nodes: list[DeclaredNode], everywhere: int) -> Owned:
    """A pool's own machines; `everywhere` are the accelerators of the whole site, which share its staff."""
    accelerators = sum(node.accelerators for node in nodes)
    watts = _each(nodes, {node.id: node.model.draw_w for node in nodes if node.model is not None}, accelerators)
    idle = _each(nodes, {node.id: node.model.idle_w for node in nodes if node.model is not None}, accelerators)
    price, pue = economy.energy_price, economy.pue
    rate = None if price is None or pue is None else price * pue / 1000
    return Owned(
        pool=pool.id,
        board=pool.accelerator,
        nodes=len(nodes),
        accelerators=accelerators,
        parts=(
            _machines(economy, nodes, accelerators),
            _energy(economy, nodes, watts, rate),
            _staff(economy, everywhere),
        ),
        watts=watts,
        idle_watts=idle,
        utilisation=economy.utilisation,
        energy_per_watt=rate,
    )


def _each(nodes: list[DeclaredNode], values: Mapping[NodeId, float | None], accelerators: int) -> float | None:
    """A figure of machines per accelerator; None where one of them doesn't say it."""
    known = [value for value in values.values() if value is not None]
    return sum(known) / accelerators if len(known) == len(nodes) else None


def _machines(economy: Economy, nodes: list[DeclaredNode], accelerators: int) -> Part:
    life, name = economy.life_years, "machines"
    prices = {node.id: node.model.price for node in nodes if node.model is not None}
    each = _each(nodes, prices, accelerators)
    if each is None:
        return Part(name, None, f"no price: {_lacking(nodes, 'price')}")
    if life is None:
        return Part(name, None, "no life of machines: `economy: {life: 4 years}`")
    said = f"{each:,.0f} {economy.currency} each / ({life:g} years x 8,760 h)"
    return Part(name, each / (life * HOURS_A_YEAR), said)


def _energy(economy: Economy, nodes: list[DeclaredNode], watts: float | None, rate: float | None) -> Part:
    if watts is None:
        return Part("energy", None, f"no power: {_lacking(nodes, 'draw_w')}")
    if rate is None:
        lacks = [key for key, value in (("energy_price", economy.energy_price), ("pue", economy.pue)) if value is None]
        return Part("energy", None, f"no {' and no '.join(lacks)} in `economy`")
    said = f"{watts / 1000:.3f} kW x PUE {economy.pue:g} x {economy.energy_price:g} {economy.currency}/kWh"
    return Part("energy", watts * rate, said)


def _staff(economy: Economy, everywhere: int) -> Part:
    month = economy.staff_per_month
    if month is None:
        return Part("staff", None, "no staff_per_month in `economy`")
    said = f"{month:,.0f} {economy.currency} a month / ({everywhere:,} accelerators x 730 h)"
    return Part("staff", month / (everywhere * HOURS_A_MONTH), said)


def _lacking(nodes: list[DeclaredNode], what: str) -> str:
    """Which models don't say a figure, and how many nodes those are."""
    found: dict[str, int] = {}
    for node in nodes:
        if node.model is None or getattr(node.model, what) is None:
            name = (node.model.name if node.model is not None else "") or "no model"
            found[name] = found.get(name, 0) + 1
    return ", ".join(f"{name} ({count} node{'s' if count != 1 else ''})" for name, count in found.items())


def _hired(declared: Declared, pool: Pool, owned: Owned) -> Iterator[Hired]:
    """Offers that the pool's bursts name first, then all others of its board, the cheapest first."""
    economy = declared.economy
    bursts = [burst for burst in declared.bursts.values() if burst.pool == pool.id]
    amounts = [burst.egress_gb_per_month for burst in bursts if burst.egress_gb_per_month is not None]
    most = max(amounts) if amounts else None
    seen: set[tuple[str, bool]] = set()
    for burst in bursts:
        for name in burst.types:
            found = offer(burst.provider, name, economy)
            if found is not None and (found.label, burst.spot) not in seen:
                seen.add((found.label, burst.spot))
                yield against(owned, found, burst.spot, burst.egress_gb_per_month, economy, burst)
    others = []
    for found in offers_for(pool.accelerator, economy):
        for spot in (False, True):
            if (found.label, spot) not in seen and (not spot or found.spot is not None):
                others.append(against(owned, found, spot, most, economy))
    yield from sorted(others, key=lambda one: (one.per_hour is None, one.per_hour or 0.0, one.offer.label))


def against(
    owned: Owned, found: Offer, spot: bool, gigabytes: float | None, economy: Economy, burst: Burst | None = None
) -> Hired:
    """One offer against a pool's own machines, with what a month's data costs to take out."""
    price = found.price(spot=spot)
    each = None if price is None or not found.count else price / found.count
    out = egress(found.provider, gigabytes, economy) if gigabytes is not None else None
    hours = owned.accelerators * HOURS_A_MONTH
    used = 1.0 if owned.utilisation is None else owned.utilisation
    month = None if each is None or (out is not None and out.amount is None) else each * hours * used
    if month is not None and out is not None:
        month += out.amount or 0.0
    share, verdict, said = _break_even(owned, each, out, hours)
    return Hired(found, spot, each, month, out, share, verdict, said, burst.name if burst is not None else "")


def _break_even(owned: Owned, each: float | None, out: Egress | None, hours: float) -> tuple[float | None, str, str]:
    """The share of hours above which owning is cheaper, what that means, and the sum."""
    standing, working = owned.standing, owned.working
    if each is None or standing is None:
        return None, f"unknown: {'the price' if each is None else 'what owning costs'} isn't known", ""
    if out is not None and out.amount is None:
        _, verdict, said = _break_even(owned, each, None, hours)
        return None, f"unknown with its egress; without it, {verdict}", said
    fixed = standing - ((out.amount or 0.0) / hours if out is not None else 0.0)
    said = f"({standing:.3f} - egress {standing - fixed:.3f})" if out is not None else f"{standing:.3f}"
    said += f" / ({each:.3f} - {working:.3f})" if working else f" / {each:.3f}"
    if fixed <= 0:
        return 0.0, "owning is cheaper even when idle: its egress alone costs more", said
    if each <= working:
        return None, "hiring is always cheaper: an hour of it costs less than our energy", said
    share = fixed / (each - working)
    said += f" = {share:.1%}"
    if share > 1:
        return share, "hiring is cheaper even when busy all hours", said
    return share, f"owning is cheaper above {share:.0%} of hours", said
