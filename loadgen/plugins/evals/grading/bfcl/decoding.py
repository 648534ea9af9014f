"""Extraction of calls from an answer: native tool calls, or calls in the text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.bfcl.python_text import python_calls
from loadgen.plugins.evals.grading.bfcl.source_calls import java_calls, javascript_calls
from loadgen.plugins.evals.grading.json_calls import UndecodableError, are_calls, json_calls
from workloads.errors import ExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workloads.answer import Answer

_SOURCES: Final[Mapping[str, Callable[[str], Any]]] = {
    "java": java_calls,
    "javascript": javascript_calls,
}


def decoded(answer: Answer, mode: str, language: str) -> Any:
    """Decode an answer.

    Args:
        answer: The answer.
        mode: `fc` for calls of tools, `prompt` for calls in the text; `auto` for calls of tools, or where the
            endpoint gave none, for calls in the text, whose names have underscores in place of dots.
        language: `python`, `java` or `javascript`.

    Returns:
        Mostly calls, see `are_calls`, but maybe something else that could be decoded.

    Raises:
        UndecodableError: The answer has nothing that can be decoded.
        ExtraError: The grammar of the language is not installed.
    """
    if mode == "fc" or (mode == "auto" and (answer.tool_calls or not answer.text.strip())):
        return guarded(_tool_calls, answer)
    if mode == "auto":
        return _with_underscores(guarded(_any_calls, answer.text, language))
    return guarded(calls_in, bracketed(answer.text), language)


def _any_calls(text: str, language: str) -> Any:
    """The calls of a text: as JSON, else in the language of the functions."""
    calls = json_calls(text)
    return calls_in(bracketed(text), language) if calls is None else calls


def _with_underscores(calls: Any) -> Any:
    """Calls with the function names of native tool calls."""
    if not are_calls(calls):
        return calls
    return [{name.replace(".", "_"): arguments for name, arguments in call.items()} for call in calls]


def bracketed(text: str) -> str:
    """A text without surrounding blanks and code marks, in brackets."""
    text = text.strip("`\n ")
    text = text if text.startswith("[") else f"[{text}"
    return text if text.endswith("]") else f"{text}]"


def calls_in(text: str, language: str) -> Any:
    """The calls of a bracketed text; of source code in other languages than Python, the first."""
    source = _SOURCES.get(language)
    return source(text[1:-1]) if source else python_calls(text)


def guarded(decode: Callable[..., Any], *arguments: Any) -> Any:
    """Decode with any exception of the decoder turned into `UndecodableError`."""
    try:
        return decode(*arguments)
    except (UndecodableError, ExtraError):
        raise
    except Exception as error:
        raise UndecodableError(f"{type(error).__name__}: {error}"[:200]) from error


def _tool_calls(answer: Answer) -> Any:
    if not answer.tool_calls:
        if answer.text:
            raise UndecodableError("no call of a tool, but text")
        return []
    functions = [call["function"] for call in answer.tool_calls]
    return [{function["name"]: json.loads(function["arguments"])} for function in functions]
