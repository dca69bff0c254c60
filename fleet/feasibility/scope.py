"""What a policy is judged against: its pool, the nodes that aren't retired, and the domains that they fail with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fleet.model.policy import Policy
from fleet.model.topology import Declared, DeclaredNode, Disposition, Domain, Pool


@dataclass(frozen=True, slots=True)
class Scope:
    """One pool under its policy. `sizes` are the members of every domain, those of other pools too."""

    pool: Pool
    nodes: tuple[DeclaredNode, ...]
    sizes: Mapping[Domain, int]
    inside: Mapping[Domain, int]  # how many of `nodes` are in each domain

    @property
    def policy(self) -> Policy:
        """The pool's rules."""
        return self.pool.policy

    def place(self, *keys: str) -> str:
        """Where a rule is written; the pool's own place where that isn't known."""
        return self.policy.place(*keys) or self.pool.place

    def budget(self, domain: Domain) -> int | None:
        """Most nodes of a domain that may be out; None where nothing is said."""
        amount = self.policy.budget.get(domain.kind)
        if amount is None:
            return None
        return amount.as_budget(self.sizes[domain], at_least_one=self.policy.at_least_one)

    def spare(self, domain: Domain) -> int | None:
        """What the floor of a domain leaves; None where there is none."""
        amount = self.policy.floor.get(domain.kind)
        return None if amount is None else self.sizes[domain] - amount.as_floor(self.sizes[domain])

    def slots(self, domain: Domain) -> int | None:
        """Most nodes of a domain that may be out with nothing else out; None where nothing limits them."""
        limits = [limit for limit in (self.budget(domain), self.spare(domain)) if limit is not None]
        return min(limits) if limits else None

    def most_out(self) -> int:
        """No more of the pool's nodes than this can be out at once: for each kind the slots of its domains added up."""
        least = len(self.nodes)
        for kind in dict.fromkeys(domain.kind for domain in self.inside):
            domains = [domain for domain in self.inside if domain.kind == kind]
            shares = sorted((self._share(domain) for domain in domains), reverse=True)
            outside = len(self.nodes) - sum(self.inside[domain] for domain in domains)
            least = min(least, sum(shares[: self.policy.domains_out.get(kind)]) + max(outside, 0))
        return max(least, 0)

    def _share(self, domain: Domain) -> int:
        slots = self.slots(domain)
        return self.inside[domain] if slots is None else min(max(slots, 0), self.inside[domain])


def scopes(declared: Declared) -> Iterator[Scope]:
    """Every pool that has nodes; in all one pass over nodes and their domains."""
    sizes: dict[Domain, int] = {}
    members: dict[str, list[DeclaredNode]] = {}
    inside: dict[str, dict[Domain, int]] = {}
    for node in declared.nodes.values():
        if node.disposition is Disposition.RETIRED:
            continue
        members.setdefault(node.pool, []).append(node)
        own = inside.setdefault(node.pool, {})
        for domain in node.domains:
            sizes[domain] = sizes.get(domain, 0) + 1
            own[domain] = own.get(domain, 0) + 1
    for pool in declared.pools.values():
        if pool.id in members:
            yield Scope(pool, tuple(members[pool.id]), sizes, inside[pool.id])


def named(things: Iterable[object], most: int = 3) -> str:
    """Things by name, the first few of many: `rack a1, rack a2 and 38 more`."""
    texts = [str(thing) for thing in things]
    if len(texts) <= most + 1:
        return ", ".join(texts[:-1]) + (" and " if len(texts) > 1 else "") + texts[-1] if texts else "nothing"
    return f"{', '.join(texts[:most])} and {len(texts) - most} more"


def spoken(seconds: float) -> str:
    """A length of time as a person says it: `1 h 35 min`, `45 s`, `3 d 2 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.3g} s"
    parts = []
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        count, whole = divmod(whole, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])
