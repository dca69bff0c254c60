"""A whole site: pools, racks and nodes as the inventory declares them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import pulumi

from fleet.components.inventory import Inventory
from fleet.components.rack import Rack
from fleet.components.resources import declare
from fleet.model.ids import PoolId
from fleet.model.topology import DeclaredNode
from fleet.provider import pool as pool_type
from fleet.provider import site as site_type
from fleet.provider.properties import Plain


class Site(pulumi.ComponentResource):
    """All that an inventory declares, or the part in `racks` where a site is spread over several stacks."""

    def __init__(
        self, inventory: Inventory, racks: Collection[str] | None = None, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        declared = inventory.declared
        super().__init__("fleet:components:Site", declared.site, None, opts)
        beneath = pulumi.ResourceOptions(parent=self)
        names: list[Plain] = [*sorted(declared.nodes)]
        site: dict[str, Plain] = {"site": declared.site, "nodes": names}
        if declared.region:
            site["region"] = declared.region
        itself = declare(site_type.TYPE, declared.site, site, beneath)
        beneath = pulumi.ResourceOptions(parent=self, depends_on=[itself])

        sizes: dict[PoolId, int] = defaultdict(int)
        by_rack: dict[str, list[tuple[DeclaredNode, str, bool]]] = defaultdict(list)
        for node in inventory.nodes():
            sizes[node.pool] += 1
            if racks is None or node.rack in racks:
                secret = inventory.bmc_secrets.get(node.id, "")
                by_rack[node.rack].append((node, secret, node.id in inventory.retired))

        pools: dict[PoolId, pulumi.Resource] = {}
        for pool in declared.pools.values():
            inputs: dict[str, Plain] = {
                "pool": pool.id,
                "site": declared.site,
                "accelerator": pool.accelerator,
                "vendor": pool.vendor,
                "release": pool.release,
                "nodes": sizes[pool.id],
            }
            if pool.partition:
                inputs["partition"] = pool.partition
            pools[pool.id] = declare(pool_type.TYPE, f"{declared.site}-{pool.id}", inputs, beneath)
        for rack, nodes in sorted(by_rack.items()):
            Rack(rack, declared.site, nodes, pools, beneath)
        self.register_outputs({})
