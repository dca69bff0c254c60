"""Slurm for the rest of the product: node records from whatever the scheduler prints."""

from collections.abc import Collection

from fleet.readers.reading import Text
from fleet.readers.slurm_nodes import NodeRecord
from fleet.readers.slurm_scontrol import expand, read_nodes

__all__ = ["NodeRecord", "expand", "read_scontrol_nodes"]


def read_scontrol_nodes(
    text: Text, our_reason_pattern: str | None, our_reservations: Collection[str] = ()
) -> dict[str, NodeRecord]:
    """The nodes of `scontrol show node` in any layout, by name. Unknown work is `has_work is None`, never False."""
    return read_nodes(text, our_reason_pattern, our_reservations)
