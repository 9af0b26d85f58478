"""Which models were used last, remembered between starts."""

from PySide6.QtCore import QSettings

from server.face.core import Face, ModelCard, ModelStatus
from server.observe import Disconnect

KEPT = 20
_KEY = "models/recent"


class RecentModels:
    """Watches which model becomes ready; without a memory it knows only this run's."""

    def __init__(self, core: Face, memory: QSettings | None = None) -> None:
        self._memory = memory
        kept = memory.value(_KEY) if memory else None
        # One name alone comes back as a text and no list.
        self._names = [kept] if isinstance(kept, str) else []
        if isinstance(kept, list):
            self._names = [str(one) for one in kept]
        self.end: Disconnect = core.model.connect(self._see)

    def ordered(self, cards: tuple[ModelCard, ...]) -> list[ModelCard]:
        """Those used last first, the others by their names."""
        places = {name: place for place, name in enumerate(self._names)}
        return sorted(
            cards, key=lambda card: (places.get(card.name, len(places)), card.name.casefold())
        )

    def count(self, cards: tuple[ModelCard, ...]) -> int:
        """How many of these were ever used."""
        return sum(card.name in self._names for card in cards)

    def _see(self, model: ModelStatus) -> None:
        if model.phase != "ready" or not model.name or self._names[:1] == [model.name]:
            return
        others = [name for name in self._names if name != model.name]
        self._names = [model.name, *others][:KEPT]
        if self._memory is not None:
            self._memory.setValue(_KEY, self._names)
