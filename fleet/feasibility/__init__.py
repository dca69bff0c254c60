"""Can this site work: what is declared, judged before anything is touched; declared -> problems, pure.

Here: rules over declared data, each with the sum that led to it and what would mend it. Not here: reading YAML
(`spec`), or anything observed. One reason: a mistake on paper costs nothing.
"""

from __future__ import annotations

from fleet.feasibility.compatibility import compatibility
from fleet.feasibility.cooling import cooling
from fleet.feasibility.hiring import hiring
from fleet.feasibility.plant_figures import plant_figures
from fleet.feasibility.policies import policies
from fleet.feasibility.pools import pools
from fleet.feasibility.power import power
from fleet.feasibility.problem import Level, Problem
from fleet.feasibility.space import space
from fleet.model.topology import Declared


def judge(declared: Declared) -> tuple[Problem, ...]:
    """All problems of a declaration: errors, warnings, then what can't be judged; each by place."""
    figures = plant_figures(declared)
    found = [
        *space(declared, figures),
        *power(declared, figures),
        *cooling(declared, figures),
        *pools(declared),
        *policies(declared),
        *hiring(declared),
        *compatibility(declared),
    ]
    ranks = {level: rank for rank, level in enumerate(Level)}
    return tuple(sorted(found, key=lambda problem: (ranks[problem.level], problem.place, problem.code)))


__all__ = ["Level", "Problem", "judge"]
