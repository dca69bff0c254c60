"""What inventory/lab declares, made to exist."""

from fleet.components import Site, load

Site(load())
