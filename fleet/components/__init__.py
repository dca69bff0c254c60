"""The Pulumi components that stacks declare: Site, with its racks, pools and nodes.

Here: ComponentResources, and how a stack loads its inventory. Not here: what makes a node exist (`provider`), or any
reading of YAML (`spec`). One reason: a stack's program stays under 15 lines and has no logic.
"""

from fleet.components.inventory import Inventory, load
from fleet.components.rack import Rack
from fleet.components.site import Site

__all__ = ["Inventory", "Rack", "Site", "load"]
