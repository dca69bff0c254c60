"""Resources that are declarations only: what they are is what the state of Pulumi says of them.

Site, Rack and Pool have no counterpart outside that could be asked. They exist in Pulumi so that a preview shows what
git changed about them, and so that nodes hang beneath them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fleet.provider.properties import Properties
from fleet.provider.resource import Ask, Flaw, Gone, Made, Refused, changed, flaws_of_shape, text


def _nothing(_olds: Properties, _news: Properties) -> Sequence[Flaw]:
    return ()


@dataclass(frozen=True, slots=True)
class Declaration:
    """A resource whose outputs are its inputs.

    `key` is the input that is its id and may never change; `further` are checks beyond shape and identity.
    """

    key: str
    shape: Mapping[str, type | tuple[type, ...]]
    optional: frozenset[str] = field(default_factory=frozenset)
    further: Callable[[Properties, Properties], Sequence[Flaw]] = _nothing

    def check(self, olds: Properties, news: Properties) -> Sequence[Flaw]:
        """Shape, identity, and what else there is to say."""
        found = flaws_of_shape(news, self.shape, self.optional)
        if olds and text(olds, self.key) != text(news, self.key):
            found.append(
                Flaw(self.key, f"`{text(olds, self.key)}` can't become `{text(news, self.key)}`: declare a new one")
            )
        return [*found, *self.further(olds, news)]

    def diff(self, old_inputs: Properties, outputs: Properties, news: Properties) -> Sequence[str]:
        """Every changed input is an update in place."""
        return changed(old_inputs or outputs, news)

    def create(self, inputs: Properties, ask: Ask) -> Made | Refused:
        """Takes note."""
        return Made(text(inputs, self.key), inputs)

    def read(self, id: str, inputs: Properties, outputs: Properties) -> Made | Gone | Refused:
        """As last noted."""
        return Made(id, outputs or inputs, inputs=inputs or outputs)

    def update(self, id: str, inputs: Properties, outputs: Properties, ask: Ask) -> Made | Refused:
        """Takes note."""
        return Made(id, inputs)

    def delete(self, id: str, outputs: Properties) -> Gone | Refused:
        """Forgets; the nodes beneath it went before, or the engine would not ask."""
        return Gone()
