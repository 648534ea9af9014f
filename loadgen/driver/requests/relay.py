"""The relay of a closed loop: compiled code issues the next turn where a plain request ends (`_relay.c`).

Python prepares turns ahead, and learns of those that have left some ms later, several at a time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from loadgen.driver.requests.turn_outcome import AnswerUse
from recorder.event import EventType
from recorder.schema import row

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.client.http_transport import HttpTransport
    from loadgen.driver.phase import Phase
    from loadgen.driver.requests.issued_turn import IssuedTurn, TurnMaker
    from loadgen.driver.requests.turn_protocols import TurnCounts

MOST_AHEAD: Final = 512
"""The most prepared turns: Python may be busy for as long as compiled code takes to issue these turns."""

MOST_BYTES: Final = 1 << 20
"""The most bytes of prepared bodies, plus one body."""

_FIRST_AT_ONCE: Final = 16
_STEP_S: Final = 0.01
_ISSUED: Final = EventType.LOADGEN_ISSUE_CALLED
_ISSUED_AT: Final = '{"scheduled_ns":'
_MEASURED: Final = AnswerUse.MEASURED
_NEVER_NS: Final = 2**63 - 1


class _Prepared(NamedTuple):
    request: int
    size: int  #: of the body, in bytes
    turn: IssuedTurn | None  #: None for a turn that can be made again


class TurnRelay:
    """Keeps turns of a phase prepared, and counts those that have left.

    Args:
        maker: Makes the turns.
        transport: Sends the turns.
        turns: The counts of all turns; a prepared turn is open there until issued.
        phase: The phase of the turns.
        claim: Claims a number and a session of one turn; None where there is nothing to claim now.
        session: Makes the session of a number once more.
        users: How many take turns: a turn is prepared once Python has sent plain requests for half of them.
            Before, most users would take a prepared turn back.
        ahead: How many turns to prepare at most; None for `MOST_AHEAD`.
    """

    def __init__(
        self,
        maker: TurnMaker,
        transport: HttpTransport,
        turns: TurnCounts,
        phase: Phase,
        claim: Callable[[], tuple[int, Any] | None],
        session: Callable[[int], Any],
        users: int,
        ahead: int | None,
    ) -> None:
        self._maker = maker
        self._transport = transport
        self._turns = turns
        self._phase = phase
        self._claim = claim
        self._session = session
        self._ahead = min(ahead or MOST_AHEAD, MOST_AHEAD)
        self._unsent = (users + 1) // 2
        self._prepared: dict[int, _Prepared] = {}
        self._under_way: dict[int, _Prepared] = {}
        self._apart: deque[tuple[int, Any]] = deque()
        self._bytes = 0
        self._is_open = True
        transport.begin_relay(self, _NEVER_NS if phase.end_ns is None else phase.end_ns, self._ahead // 2)

    def _begin(self) -> None:
        """Prepare the first turns, in steps, while requests are under way."""
        if self.fill(_FIRST_AT_ONCE):
            asyncio.get_running_loop().call_later(_STEP_S, self._begin)

    def sent(self) -> None:
        """Learn that Python has sent a plain request."""
        self._unsent -= 1
        if not self._unsent:
            self._begin()
        elif self._unsent < 0:
            self.fill(1)

    def fill(self, limit: int) -> bool:
        """Prepare the next turns, at most `limit`; tell whether there is room for more."""
        for _ in range(limit):
            is_full = len(self._prepared) >= self._ahead or self._bytes >= MOST_BYTES
            if not self._is_open or is_full or self._apart or (claimed := self._claim()) is None:
                return False
            self._prepare(*claimed)
        return True

    def _prepare(self, request: int, session: Any) -> None:
        maker, phase = self._maker, self._phase.name
        turn, data = maker.make(session.sample, session.body, 0, phase, 0, session.more, _MEASURED)
        code, _, sample_uuid, payload, texts, _ = row((_ISSUED, 0, turn.request.request_id, data))
        assert payload is not None  # noqa: S101 (no row of an issue is empty)
        before, after = payload[: len(_ISSUED_AT)], payload[len(_ISSUED_AT) + 1 :]
        parts = turn.sent_members, code, sample_uuid, before, after, texts
        if self._transport.prepare(maker.made, turn.request, *parts):
            is_drawn = turn.trace is not None or turn.more or maker.refused is not None
            self._prepared[maker.made] = _Prepared(request, len(session.body), turn if is_drawn else None)
            self._bytes += len(session.body)
        else:
            self._apart.append((request, session))
        self._turns.open()

    def take(self, fields: tuple[int, list[int], list[int], list[float], int]) -> None:
        """Count turns that have ended, and those that have left in their place.

        Args:
            fields: 0, the tickets of both, TTFTs in ms, and the output tokens of all.
        """
        _, ended, left, ttfts_ms, tokens = fields
        for before, ticket in zip(ended, left, strict=True):
            self._under_way.pop(before, None)
            self._under_way[ticket] = self._taken(ticket)
        self._turns.handed_over(ttfts_ms, tokens, self._phase)
        self.fill(2 * len(left))

    def turn(self, ticket: int) -> IssuedTurn:
        """Return the turn of a ticket, which Python follows from now on."""
        request, _, turn = self._under_way.pop(ticket)
        return turn or self._maker.again(ticket, self._session(request).body)

    def take_back(self) -> tuple[int, Any] | None:
        """Take the first prepared turn back, to be issued by Python; None for none."""
        if self._prepared and (ticket := self._transport.withdraw()) is not None:
            request = self._taken(ticket).request
            session = self._session(request)
        elif self._apart:
            request, session = self._apart.popleft()
        else:
            return None
        self._turns.close()
        self._maker.forget(session.sample)
        return request, session

    def _taken(self, ticket: int) -> _Prepared:
        prepared = self._prepared.pop(ticket)
        self._bytes -= prepared.size
        return prepared

    def close(self) -> None:
        """Let no prepared turn leave any more, and count those that have left."""
        self._is_open = False
        while self.take_back() is not None:
            pass
        self._transport.end_relay()
