"""A small real fleet on one machine: containers as nodes, a Redfish emulator as their BMCs, Slurm as the scheduler.

Here live the makers of that fleet and the faults that can be put into it; every stand-in says so in its own header.
The product itself may not know that any of this exists: it meets the lab through SSH, Redfish, `scontrol` and apt,
as it would meet a machine hall. One reason to change: what a real fleet does that the lab should do too.
"""
