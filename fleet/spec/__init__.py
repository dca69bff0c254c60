"""Declared state: from YAML in git to the model, with every mistake named by file and line.

Here: reading `inventory/<site>/`, checking its references and its signatures. Not here: whether what is declared can
work (feasibility) and what is to be done about it (planning). One reason: past this layer no value needs checking.
"""

from fleet.spec.access import Access
from fleet.spec.find import find_inventories, find_inventory, project_root
from fleet.spec.load import load, load_access

__all__ = ["Access", "find_inventories", "find_inventory", "load", "load_access", "project_root"]
