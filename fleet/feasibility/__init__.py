"""Can this site work: what is declared, judged before anything is touched; declared -> problems, pure.

Here: rules over declared data, each with the sum that led to it and what would mend it. Not here: reading YAML
(`spec`), or anything observed. One reason: a mistake on paper costs nothing.
"""

from __future__ import annotations

from fleet.feasibility.compatibility import compatibility
from fleet.feasibility.policies import policies
from fleet.feasibility.problem import Level, Problem
from fleet.feasibility.space import space
from fleet.model.topology import Declared


def judge(declared: Declared) -> tuple[Problem, ...]:
    """All problems of a declaration, errors first, then by place."""
    found = [*space(declared), *policies(declared), *compatibility(declared)]
    return tuple(sorted(found, key=lambda problem: (problem.level is not Level.ERROR, problem.place, problem.code)))


__all__ = ["Level", "Problem", "judge"]
