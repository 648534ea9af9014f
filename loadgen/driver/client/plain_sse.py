"""Any server that answers with server-sent events: the user says where the text is in each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client import plain_json
from loadgen.driver.client.server_json import place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.driver.client.codec import Delta

BODY: Final[Mapping[str, Any]] = {**plain_json.BODY, "stream": True}
"""What is asked with unless the user says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainSSE(plain_json.PlainJson):
    """A user-described protocol of events: the places apply to every event.

    Attributes:
        ids_at: Where an event has the ids of its tokens, of all so far or of the new ones; None without.
    """

    body: Mapping[str, Any] = field(default_factory=lambda: BODY)
    cumulative: bool = False  # type: ignore[misc]  # one protocol of this kind never is, the other may be
    ids_at: str | None = None

    def chunk(self, payload: Any) -> Delta:
        """Read one event of a stream."""
        delta = plain_json.PlainJson.chunk(self, payload)
        tokens = delta.usage.output_tokens if delta.usage is not None else None
        ids = None if self.ids_at is None else place(self.ids_at).find(payload)
        if not isinstance(ids, list) or not ids or tokens is None or tokens <= 1:
            return delta
        return delta._replace(repeats=len(ids) >= tokens)
