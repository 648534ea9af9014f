"""Answers that are not streams: HTTP errors, redirects, and a JSON text where a stream was asked for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import orjson

from loadgen.mock_endpoint.scenarios import timetable
from loadgen.mock_endpoint.scenarios.frame_writers import ALL, OPENAI, WHOLE
from loadgen.mock_endpoint.scenarios.http import JSON, head, stream, whole
from loadgen.mock_endpoint.scenarios.scenario import Scenario, scenario
from loadgen.mock_endpoint.scenarios.steps import Close, ScenarioScript, Send
from loadgen.mock_endpoint.scenarios.timetable import END_MS, FIRST_MS, words

if TYPE_CHECKING:
    from loadgen.mock_endpoint.scenarios.dialect import Dialect

KEY: Final = "sk-conformance-000000"
"""The key that `loadgen selftest` sends, so that a scenario can repeat it."""

_A_LONG_TIME_S: Final = 86_400.0
_FAR: Final = "Fri, 31 Dec 2049 23:59:59 GMT"


@scenario(
    "`application/json` in one piece, although a stream was asked for",
    right="a success without TTFT and TPOT: when its tokens were made is unknown",
    protocols=WHOLE,
)
def _json_for_a_stream(dialect: Dialect) -> ScenarioScript:
    contents = words()
    return ScenarioScript(
        (replace(whole(END_MS, dialect.whole(contents)), contents=contents),), streamed=False
    )


@scenario("the same, over HTTP/1.0 and without a length", right="complete: one JSON text", protocols=WHOLE)
def _json_until_close(dialect: Dialect) -> ScenarioScript:
    contents = words()
    start = head(JSON, "Connection: close", version="1.0")
    return ScenarioScript(
        (Send(END_MS, start + dialect.whole(contents), contents), Close(END_MS)),
        streamed=False,
    )


@scenario("one JSON text, of which only the first half comes", protocols=WHOLE, sees=("truncated",))
def _json_cut(dialect: Dialect) -> ScenarioScript:
    body = dialect.whole(words())
    return ScenarioScript(
        (whole(END_MS, body[: len(body) // 2], length=len(body)), Close(END_MS)), counted=False
    )


@scenario(
    "`GET /v1/models` answers 500, completions work",
    right="a measurement does not need the list of models",
    protocols=OPENAI,
    requests=2,
    models=500,
)
def _models_500(dialect: Dialect) -> ScenarioScript:
    return stream(timetable.body(dialect))


def refuse(status: int, message: str, field: str, _: Dialect) -> ScenarioScript:
    """An HTTP error in OpenAI's form."""
    body = orjson.dumps({"error": {"message": message, "type": "error", "code": status}})
    return ScenarioScript((whole(FIRST_MS, body, *filter(None, [field]), status=status),), counted=False)


@scenario("500 with an HTML page", protocols=ALL, sees=("http_500",), message="Internal Server Error")
def _http_500(_: Dialect) -> ScenarioScript:
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
        name,
        about,
        partial(refuse, status, message, field),
        right=right,
        protocols=ALL,
        sees=(f"http_{status}",),
        message=message if quoted is None else quoted,
        retry_after_s=retry_after_s,
    )


ANSWERS: Final = (
    _json_for_a_stream,
    _json_until_close,
    _json_cut,
    _models_500,
    _refused(
        "http_429", 429, "slow down", "429, `Retry-After: 7`", field="Retry-After: 7", retry_after_s=(7, 7)
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
        "http_503", 503, "overloaded", "503, `Retry-After: 1`", field="Retry-After: 1", retry_after_s=(1, 1)
    ),
    _http_500,
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
