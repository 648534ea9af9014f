"""Any server that answers with server-sent events: the user says where the text is in each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client import plain_json

if TYPE_CHECKING:
    from collections.abc import Mapping

BODY: Final[Mapping[str, Any]] = {**plain_json.BODY, "stream": True}
"""What is asked with unless the user says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainSSE(plain_json.PlainJson):
    """A protocol that the user describes: its places are those of every event.

    Attributes:
        cumulative: Whether each event has the whole text so far.
    """

    body: Mapping[str, Any] = field(default_factory=lambda: BODY)
    cumulative: bool = False  # type: ignore[misc]  # one protocol of this kind never is, the other may be
