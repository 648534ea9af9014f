"""Scripted replies: a JSONL file that says what is answered to which request.

A line is a JSON object:

    match   answer requests whose last user message (or prompt) contains this; without it, any request
    reply   the text of the answer
    ttft    a distribution that takes the place of --ttft
    itl     a distribution that takes the place of --itl
    status  fail instead, with this HTTP status (400 to 599), at once or after `ttft`
    error   the message of that failure

The first line that matches wins. A line has either `reply` or `status`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from loadgen.mock_endpoint.errors import RepliesError
from workloads import distribution

_TYPES: Final = {"match": str, "reply": str, "ttft": str, "itl": str, "status": int, "error": str}
_FAILURES: Final = range(400, 600)
_TOKEN: Final = re.compile(r"\s*\S+|\s+$")


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered to a request.

    Attributes:
        match: What the question must contain; the empty string is in every question.
        tokens: The answer, split so that joining gives the text.
        ttft: Draws the seconds to the first token; None keeps the server's distribution.
        itl: Likewise, the seconds between tokens.
        status: Fail with this HTTP status; None answers.
        error: The message of the failure.
    """

    match: str
    tokens: tuple[str, ...]
    ttft: distribution.Sampler | None
    itl: distribution.Sampler | None
    status: int | None
    error: str


def split(text: str) -> tuple[str, ...]:
    """Cut a text into tokens: words with the white space before them. Joined, they are the text again."""
    return tuple(_TOKEN.findall(text))


def load(path: str | Path) -> list[Reply]:
    """Read a replies file. Empty lines are skipped.

    Raises:
        RepliesError: The file or one of its lines cannot be used; the message names file and line.
    """
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise RepliesError(f"{path} cannot be read: {error.strerror}") from error
    return [_line(text, f"{path}, line {number}") for number, text in enumerate(lines, 1) if text.strip()]


def _line(text: bytes, where: str) -> Reply:
    try:
        fields = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise RepliesError(f"{where} is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise RepliesError(f'{where} is not a JSON object such as {{"match": "2+2", "reply": "4"}}')
    try:
        _check(fields)
        ttft, itl = (distribution.duration(fields[key]) if key in fields else None for key in ("ttft", "itl"))
    except ValueError as error:
        raise RepliesError(f"{where}: {error}") from error
    return Reply(
        match=fields.get("match", ""),
        tokens=split(fields.get("reply", "")),
        ttft=ttft,
        itl=itl,
        status=fields.get("status"),
        error=fields.get("error", "a scripted failure"),
    )


def _check(fields: dict[str, Any]) -> None:
    for key, value in fields.items():
        if key not in _TYPES:
            raise ValueError(f"there is no key {key!r}; possible are {', '.join(_TYPES)}")
        if type(value) is not _TYPES[key]:
            raise ValueError(f"{key} is not {'a whole number' if _TYPES[key] is int else 'a text'}")
    if ("reply" in fields) == ("status" in fields):
        raise ValueError("a line has either a reply or a status, not both and not none")
    if "status" in fields and fields["status"] not in _FAILURES:
        raise ValueError(f"status {fields['status']} is not a failure, which has 400 to 599")
