"""Foreign systems, one module each: the only place where their libraries are imported.

Here: implementations of `fleet.ports` over SSH, Ansible, Slurm, Redfish, SQL. Not here: choices of policy, or knowledge
of each other. One reason: a foreign system can be replaced, or faked, without anything else noticing.
"""
