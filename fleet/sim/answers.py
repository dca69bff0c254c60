"""How the world answers our verbs where a story says so. The newest answer that still counts is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet.model.ids import NodeId


@dataclass(slots=True)
class Answer:
    """One rule: what a verb on some nodes (or for a job) gives, what it really does, how long it takes, how often."""

    verb: str
    nodes: frozenset[NodeId]
    says: str = "done"  # done passed failed in_use lost exit_143 running
    really: str = ""
    takes: float | None = None
    times: int | None = None
    why: str = ""
    job: str = ""
    figure: Mapping[str, float] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        """Whether it says that the verb went well."""
        return self.says in ("done", "passed")

    @property
    def acts(self) -> bool:
        """Whether the verb really does what it is for."""
        if self.really:
            return self.really == "done"
        return self.good


class Answers:
    """All rules of a story, newest last."""

    def __init__(self) -> None:
        self._rules: list[Answer] = []

    def add(self, answer: Answer) -> None:
        """From now on."""
        self._rules.append(answer)

    def peek(self, verb: str, node: NodeId) -> Answer | None:
        """What the next such verb would be answered."""
        for rule in reversed(self._rules):
            if rule.verb == verb and node in rule.nodes and rule.times != 0:
                return rule
        return None

    def take(self, verb: str, node: NodeId) -> Answer | None:
        """The answer to a verb that begins now; an answer that counts only so often is used up by it."""
        rule = self.peek(verb, node)
        if rule is not None and rule.times is not None:
            rule.times -= 1
        return rule

    def for_job(self, job: str, verb: str) -> Answer | None:
        """The answer of a job (to a request for a checkpoint)."""
        for rule in reversed(self._rules):
            if rule.verb == verb and rule.job == job and rule.times != 0:
                return rule
        return None
