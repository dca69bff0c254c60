"""Policies that can never be met, take more than there is, or name what does not exist.

Each area of the rules is a module: amounts of nodes, time, remedies, people. What is the same for all pools under one
policy is told once.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.feasibility.policy_amounts import amounts
from fleet.feasibility.policy_people import people
from fleet.feasibility.policy_remedies import remedies
from fleet.feasibility.policy_time import times
from fleet.feasibility.policy_waves import waves
from fleet.feasibility.problem import Problem
from fleet.feasibility.scope import scopes
from fleet.model.topology import Declared


def policies(declared: Declared) -> Iterator[Problem]:
    """Everything that is wrong with the policies of pools that have nodes."""
    told: set[Problem] = set()
    for scope in scopes(declared):
        for area in (amounts, waves, times, remedies, people):
            for problem in area(declared, scope):
                if problem not in told:
                    told.add(problem)
                    yield problem
