"""Headers that name sessions: an id for all turns, the parent of a subagent, and echoed tokens."""

from __future__ import annotations

import pytest

from loadgen.driver.client.endpoint import Request, check_session_header, endpoint
from loadgen.driver.client.head import head
from loadgen.driver.errors import EndpointError
from loadgen.driver.requests.session_headers import SessionHeaders

MAIN = {"conversation": "abc", "tree": {"stream": 0}}
SUBAGENT = {"conversation": "abc", "tree": {"stream": 2, "parent": 0}}
NESTED = {"conversation": "abc", "tree": {"stream": 3, "parent": 2}}


def test_a_session_has_one_id() -> None:
    """All agents of a session have its id; a request that is alone has its own."""
    headers = SessionHeaders(["X-Session-ID", "X-SMG-Routing-Key"])
    for more in (MAIN, SUBAGENT, {"conversation": "abc"}):
        assert headers.of("r1", more) == (("X-Session-ID", "abc"), ("X-SMG-Routing-Key", "abc"))
    assert headers.of("r1", {}) == (("X-Session-ID", "r1"), ("X-SMG-Routing-Key", "r1"))


def test_agents_of_dynamo_name_their_parents() -> None:
    """An id per agent, and that of the agent above."""
    headers = SessionHeaders(["X-Dynamo-Session-ID"])
    assert headers.of("r1", MAIN) == (("X-Dynamo-Session-ID", "abc"),)
    assert headers.of("r1", SUBAGENT) == (
        ("X-Dynamo-Session-ID", "abc-2"),
        ("X-Dynamo-Parent-Session-ID", "abc"),
    )
    assert headers.of("r1", NESTED)[1] == ("X-Dynamo-Parent-Session-ID", "abc-2")


def test_a_token_is_echoed_within_its_session() -> None:
    """The first request has none; a later response can replace the token."""
    headers = SessionHeaders(["x-session-token"])
    assert headers.of("r1", MAIN) == ()
    headers.learn(MAIN, head(200, ((b"X-Session-Token", b"t1"),)))
    assert headers.of("r2", SUBAGENT) == (("x-session-token", "t1"),)
    assert headers.of("r2", {"conversation": "other"}) == ()
    headers.learn(MAIN, head(200, ((b"x-session-token", b"t2"),)))
    headers.learn(MAIN, head(200, ()))
    headers.learn(MAIN, None)
    assert headers.of("r3", MAIN) == (("x-session-token", "t2"),)


def test_headers_are_in_the_request() -> None:
    """Also when it is sent again."""
    request = Request("POST", "/x", "id", b"{}", headers=(("X-Session-ID", "abc"),))
    target = endpoint("http://localhost", {})
    assert b"\r\nX-Session-ID: abc\r\n" in target.http1(request)
    assert b"\r\nX-Session-ID: abc\r\n" in target.http1(request.resent())


@pytest.mark.parametrize("name", ["", "a b", "x:y", "Host", "x-request-id"])
def test_names_that_are_refused(name: str) -> None:
    """Refused before anything is sent."""
    with pytest.raises(EndpointError, match="--session-header"):
        check_session_header(name)
