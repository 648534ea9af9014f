"""Answers that are not streams: HTTP errors, redirects, and a JSON text where a stream was asked for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import orjson

from loadgen.mock_endpoint.scenarios import shapes
from loadgen.mock_endpoint.scenarios.frame_writers import ALL, OPENAI, WHOLE
from loadgen.mock_endpoint.scenarios.http import JSON, head, whole
from loadgen.mock_endpoint.scenarios.scenario import COMPLETED, Scenario
from loadgen.mock_endpoint.scenarios.steps import Close, ScenarioScript, Send
from loadgen.mock_endpoint.scenarios.timetable import END_MS, FIRST_MS, words

if TYPE_CHECKING:
    from loadgen.mock_endpoint.scenarios.dialect import Dialect

KEY: Final = "sk-conformance-000000"
"""The key that `loadgen selftest` sends, so that a scenario can repeat it."""

_A_LONG_TIME_S: Final = 86_400.0
_FAR: Final = "Fri, 31 Dec 2049 23:59:59 GMT"


def in_one_piece(dialect: Dialect) -> ScenarioScript:
    """The whole answer as one JSON text."""
    contents = words()
    return ScenarioScript(
        (replace(whole(END_MS, dialect.whole(contents)), contents=contents),), streamed=False
    )


def in_one_piece_until_close(dialect: Dialect) -> ScenarioScript:
    """A complete answer without a length: the end of the connection ends the body."""
    contents = words()
    start = head(JSON, "Connection: close", version="1.0")
    return ScenarioScript(
        (Send(END_MS, start + dialect.whole(contents), contents), Close(END_MS)),
        streamed=False,
    )


def cut_short(dialect: Dialect) -> ScenarioScript:
    """The first half of an answer, shorter than the announced length."""
    body = dialect.whole(words())
    return ScenarioScript(
        (whole(END_MS, body[: len(body) // 2], length=len(body)), Close(END_MS)), counted=False
    )


def refuse(status: int, message: str, field: str, _: Dialect) -> ScenarioScript:
    """An HTTP error in OpenAI's form."""
    body = orjson.dumps({"error": {"message": message, "type": "error", "code": status}})
    return ScenarioScript((whole(FIRST_MS, body, *filter(None, [field]), status=status),), counted=False)


def html_500(_: Dialect) -> ScenarioScript:
    """A proxy's error page."""
    page = b"<html><h1>500 Internal Server Error</h1></html>"
    return ScenarioScript((whole(FIRST_MS, page, status=500, content_type="text/html"),), counted=False)


def _refused(
    name: str,
    status: int,
    message: str,
    about: str,
    *,
    field: str = "",
    right: str = "",
    retry_after_s: tuple[float, float] | None = None,
    quoted: str | None = None,
) -> Scenario:
    return Scenario(
        name=name,
        about=about,
        right=right,
        script=partial(refuse, status, message, field),
        protocols=ALL,
        sees=(f"http_{status}",),
        requests=2,
        message=message if quoted is None else quoted,
        retry_after_s=retry_after_s,
    )


ANSWERS: Final = (
    Scenario(
        name="json_for_a_stream",
        about="`application/json` in one piece, although a stream was asked for",
        right="a success without TTFT and TPOT: when its tokens were made is unknown",
        script=in_one_piece,
        protocols=WHOLE,
    ),
    Scenario(
        name="json_until_close",
        about="the same, over HTTP/1.0 and without a length",
        right="complete: one JSON text",
        script=in_one_piece_until_close,
        protocols=WHOLE,
    ),
    Scenario(
        name="json_cut",
        about="one JSON text, of which only the first half comes",
        script=cut_short,
        protocols=WHOLE,
        sees=("truncated",),
        requests=2,
    ),
    Scenario(
        name="models_500",
        about="`GET /v1/models` answers 500, completions work",
        right="a measurement does not need the list of models",
        script=shapes.plain,
        protocols=OPENAI,
        sees=(COMPLETED,),
        models=500,
        requests=2,
    ),
    _refused(
        "http_429",
        429,
        "slow down",
        "429, `Retry-After: 7`",
        field="Retry-After: 7",
        retry_after_s=(7, 7),
    ),
    _refused(
        "http_429_date",
        429,
        "slow down",
        "429, `Retry-After` as a date",
        field=f"Retry-After: {_FAR}",
        retry_after_s=(_A_LONG_TIME_S, 1e10),
    ),
    _refused(
        "http_503",
        503,
        "overloaded",
        "503, `Retry-After: 1`",
        field="Retry-After: 1",
        retry_after_s=(1, 1),
    ),
    Scenario(
        name="http_500",
        about="500 with an HTML page",
        script=html_500,
        protocols=ALL,
        sees=("http_500",),
        requests=2,
        message="Internal Server Error",
    ),
    _refused(
        "http_401",
        401,
        f"wrong key: {KEY}",
        "401, and the message repeats the key",
        right="the key is in no log and no report",
        quoted="***",
    ),
    _refused("http_404", 404, "no such model", "404"),
    _refused(
        "http_302",
        302,
        "moved",
        "302 to another host",
        field="Location: http://elsewhere.invalid/v1/chat/completions",
        right="not followed: the key is for no other server",
        quoted="",
    ),
)
