"""What a pool says of itself: boards that exist, quotas that fit, data that may lie where it lies."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.feasibility.boards import is_known, near_board
from fleet.feasibility.problem import Level, Problem
from fleet.model.topology import Declared, Disposition, Pool


def pools(declared: Declared) -> Iterator[Problem]:
    """Accelerators that nobody knows, quotas larger than the pool, and data outside the regions that it may lie in."""
    boards: dict[str, int] = {}
    for node in declared.nodes.values():
        if node.disposition is not Disposition.RETIRED:
            boards[node.pool] = boards.get(node.pool, 0) + node.accelerators
    for pool in declared.pools.values():
        yield from _accelerator(declared, pool)
        yield from _quotas(pool, boards.get(pool.id, 0))
        if pool.id in boards:
            yield from _region(declared, pool)


def _accelerator(declared: Declared, pool: Pool) -> Iterator[Problem]:
    if not pool.accelerator or is_known(pool.accelerator, declared):
        return
    what = f"pool {pool.id} has {pool.accelerator} accelerators, which no table knows: nothing can be judged by them"
    fix = near_board(pool.accelerator, declared) or "describe the board in models.yaml under `boards`"
    source = "hardware.yaml, rocm_matrix.yaml, cuda_matrix.yaml and cloud_gpus.yaml of the facts"
    yield Problem("pool-accelerator-unknown", Level.UNKNOWN, pool.place, what, fix, source)


def _quotas(pool: Pool, accelerators: int) -> Iterator[Problem]:
    for tenant in pool.tenants:
        if accelerators and tenant.accelerators is not None and tenant.accelerators > accelerators:
            quota = f"a quota of {tenant.accelerators} accelerators"
            what = f"tenant {tenant.name} has {quota} in pool {pool.id}, which has {accelerators}"
            counted = f"{tenant.accelerators} > {accelerators} accelerators in the pool"
            place, rule = tenant.place or pool.place, "a quota is a part of its pool"
            yield Problem("pool-quota-large", Level.ERROR, place, what, f"write {accelerators} or less", rule, counted)


def _region(declared: Declared, pool: Pool) -> Iterator[Problem]:
    """Whether the site lies where the pool's data may lie. Regions are compared as they are written, but for case."""
    if not pool.regions:
        return
    allowed = ", ".join(pool.regions)
    if not declared.region:
        what = f"the data of pool {pool.id} may lie in {allowed} only, and site {declared.site} doesn't say where it is"
        fix, level, code = "write `region: ...` in site.yaml", Level.UNKNOWN, "residency-site-unknown"
    elif declared.region.lower() not in {region.lower() for region in pool.regions}:
        what = f"the data of pool {pool.id} may lie in {allowed} only, and site {declared.site} is in {declared.region}"
        fix, level, code = f"add {declared.region} to its regions, or move the pool", Level.ERROR, "residency-site"
    else:
        return
    yield Problem(code, level, pool.place, what, fix, "`regions` of the pool")
