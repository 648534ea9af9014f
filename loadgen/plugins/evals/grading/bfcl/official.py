"""The definition of version 4: which answers are right."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.bfcl.allowed import Fault
from loadgen.plugins.evals.grading.bfcl.checking import CallRule, fault_of
from loadgen.plugins.evals.grading.bfcl.decoding import decoded
from loadgen.plugins.evals.grading.bfcl.source_calls import parser
from loadgen.plugins.evals.grading.json_calls import UndecodableError, are_calls
from workloads.score import Score, graded, unparsed

if TYPE_CHECKING:
    from workloads.answer import Answer
    from workloads.scorer import Reference

IRRELEVANCE: Final = frozenset({"irrelevance", "live_irrelevance"})
"""Where no function helps: a right answer has no call."""

RELEVANCE: Final = frozenset({"live_relevance"})
"""Where a function helps: a right answer has a call, whichever."""


def grade(reference: Reference, answer: Answer) -> Score:
    """Judge an answer.

    Args:
        reference: `category`, `mode` and `language`; where calls are compared, also the `functions` and the
            expected `answers`, see `loadgen.plugins.evals.grading.bfcl.checking`.
        answer: The answer.
    """
    try:
        calls = decoded(answer, reference["mode"], reference["language"])
    except UndecodableError as error:
        return undecoded(reference, str(error))
    return judged(reference, calls)


def require(reference: Reference) -> None:
    """Make sure that the grammar is there which calls in a text are read by.

    Raises:
        ExtraError: It is not installed.
    """
    if reference["mode"] != "fc" and reference["language"] != "python":
        parser(reference["language"])


def undecoded(reference: Reference, why: str) -> Score:
    """The score of an answer without decodable calls."""
    why = f"ast_decoder:decoder_failed: {why}"
    if reference["category"] in IRRELEVANCE | RELEVANCE:
        return called(reference, None, why)
    return unparsed(why)


def judged(reference: Reference, calls: Any) -> Score:
    """The score of decoded calls."""
    if reference["category"] in IRRELEVANCE | RELEVANCE:
        return called(reference, calls if are_calls(calls) else None)
    if not are_calls(calls):
        return unparsed(f"ast_decoder:decoder_wrong_output_format: {written(calls)}")
    rule = CallRule(reference["language"], reference["mode"] != "prompt")
    try:
        fault = fault_of(reference["category"], reference["functions"], calls, reference["answers"], rule)
    except Exception as error:  # noqa: BLE001 (whatever a model can make of a value)
        fault = unjudged(error)
    return graded(fault is None, written(calls), "" if fault is None else f"{fault.kind}: {fault.detail}")


def unjudged(error: Exception) -> Fault:
    """The fault of calls on which the official checker fails, and says nothing."""
    return Fault("checker_failed", f"{type(error).__name__}: {error}")


def called(reference: Reference, calls: Any, why: str = "") -> Score:
    """The score of an answer that should have a call, or should not.

    Where it should not, whatever cannot be decoded is right; the reason says so.
    """
    if reference["category"] in IRRELEVANCE:
        reason = "irrelevance_error:decoder_success: a call" if calls else why
        return graded(not calls, written(calls) if calls else None, reason)
    reason = "" if calls else f"relevance_error:decoder_failed: {why or 'no call'}"
    return graded(bool(calls), written(calls) if calls else None, reason)


def written(calls: Any) -> str:
    """Calls in Python notation; empty for calls without one."""
    with contextlib.suppress(RecursionError, ValueError):
        return repr(calls)
    return ""
