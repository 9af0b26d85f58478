"""The last responses, which a client can continue. Each client has its own, only in memory."""

from collections import Counter, OrderedDict
from dataclasses import dataclass

from server.chat import Json, Message

MOST_OF_ONE = 200
MOST_OF_ALL = 1000
MOST_BYTES = 128 * 1024 * 1024


@dataclass(slots=True)
class KeptResponse:
    """A response, the items it was asked with, and the conversation with its answer."""

    owner: str
    request_id: str
    response: Json
    items: tuple[Json, ...] = ()
    messages: tuple[Message, ...] = ()

    @property
    def bytes(self) -> int:
        """The approximate size of its texts and images."""
        texts = sum(len(message.content) for message in self.messages)
        images = sum(len(image.data) for message in self.messages for image in message.images)
        return texts + images


class ResponseMemory:
    """A bounded store: the client with the most loses its oldest first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, KeptResponse] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, kept: KeptResponse) -> None:
        self._kept[kept.response["id"]] = kept
        self._kept.move_to_end(kept.response["id"])
        while len(self._kept) > 1 and self._is_full():
            del self._kept[self._oldest_of_most()]

    def find(self, owner: str, response_id: str) -> KeptResponse | None:
        """Finds a response of this owner; None for another owner's, so that nobody learns of it.

        An owner is a page, a slash and a key. A request without a key finds the responses of the
        same page under any key: some libraries send a placeholder if no key is needed, and the
        next request of the same program may send none.
        """
        kept = self._kept.get(response_id)
        if kept is None:
            return None
        is_without_key = owner.endswith("/") and kept.owner.startswith(owner)
        return kept if kept.owner == owner or is_without_key else None

    def forget(self, owner: str, response_id: str) -> None:
        if self.find(owner, response_id) is not None:
            del self._kept[response_id]

    def _is_full(self) -> bool:
        if len(self._kept) > MOST_OF_ALL or self._most()[1] > MOST_OF_ONE:
            return True
        return sum(kept.bytes for kept in self._kept.values()) > MOST_BYTES

    def _most(self) -> tuple[str, int]:
        return Counter(kept.owner for kept in self._kept.values()).most_common(1)[0]

    def _oldest_of_most(self) -> str:
        owner, _ = self._most()
        return next(name for name, kept in self._kept.items() if kept.owner == owner)
