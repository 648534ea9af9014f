"""Headers that name the session of a request, so that a gateway sends its turns to one server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.driver.client.head import Head

AGENT: Final = "x-dynamo-session-id"
"""Has an id per agent of a session; `PARENT` has that of the agent that spawned a subagent."""
PARENT: Final = "X-Dynamo-Parent-Session-ID"
ECHOED: Final = "x-session-token"
"""Has what the server sent with an earlier response of the session; the first request lacks it."""

_MOST_TOKENS: Final = 65_536
"""Sessions with a token, of which the oldest are forgotten: more are not under way in one worker."""


class SessionHeaders:
    """The headers of the requests of one worker."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = [name for name in names if name.lower() != ECHOED]
        self._echoed = next((name for name in names if name.lower() == ECHOED), None)
        self._tokens: dict[str, str] = {}

    @property
    def learns(self) -> bool:
        """Whether the headers of responses are read."""
        return self._echoed is not None

    def of(self, request_id: str, more: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """The headers of a request."""
        session, tree = more.get("conversation", request_id), more.get("tree", {})
        headers = []
        for name in self._names:
            if name.lower() != AGENT:
                headers.append((name, session))
                continue
            headers.append((name, _agent(session, tree.get("stream", 0))))
            if "parent" in tree:
                headers.append((PARENT, _agent(session, tree["parent"])))
        if self._echoed is not None and session in self._tokens:
            headers.append((self._echoed, self._tokens[session]))
        return tuple(headers)

    def learn(self, more: Mapping[str, Any], response: Head | None) -> None:
        """Keep the token that a response brings for the later turns of its session."""
        if self._echoed is None or response is None or "conversation" not in more:
            return
        token = response.header(ECHOED)
        if token is not None:
            self._tokens[more["conversation"]] = token
            if len(self._tokens) > _MOST_TOKENS:
                del self._tokens[next(iter(self._tokens))]


def _agent(session: str, stream: int) -> str:
    return f"{session}-{stream}" if stream else session
