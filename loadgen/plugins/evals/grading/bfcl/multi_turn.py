"""Conversations of several turns: state and responses of the services after each turn.

ShishirPatil/gorilla at 6ea57973 (bfcl-eval 2026.3.23), `multi_turn_eval/multi_turn_checker.py`. The calls of
the model and the right ones are replayed on their own services. After each turn both must be in the same
state, and each result of the right calls must be among the results of the model's calls so far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.plugins.evals.environments.bfcl.services import ServiceCall, Services, parsed_call

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def fault_of(
    reference: Mapping[str, Any], turns: Sequence[Sequence[Sequence[Mapping[str, Any]]]]
) -> str | None:
    """The fault of a conversation; None for a right conversation.

    Args:
        reference: `classes`, `config`, `long_context`, and the right calls of each turn, `ground_truth`.
        turns: The calls of the model, by turn and by step, as members of `ServiceCall`; steps without
            calls are left out.
    """
    right: Sequence[Sequence[str]] = reference["ground_truth"]
    if len(turns) != len(right):
        return f"force_terminated: {len(turns)} of {len(right)} turns"
    theirs, expected = _services(reference), _services(reference)
    results: list[str] = []
    for number, (steps, right_calls) in enumerate(zip(turns, right, strict=True), 1):
        results += [theirs.call(ServiceCall(**call)) for step in steps for call in step]
        due = [expected.call(parsed_call(text)) for text in right_calls]
        if not right_calls:
            # A turn in which nothing can be done yet. Calls have been made all the same, for the next turn.
            continue
        if not any(steps):
            return f"empty_turn_model_response: no call in turn {number}"
        if theirs.state() != expected.state():
            return f"instance_state_mismatch: after turn {number}"
        if missing := _missing(due, results):
            return f"execution_response_mismatch: turn {number} lacks {missing[0][:200]}"
    return None


def _services(reference: Mapping[str, Any]) -> Services:
    return Services(reference["classes"], reference["config"], long_context=reference["long_context"])


def _missing(due: Sequence[str], results: Sequence[str]) -> list[str]:
    """The expected results that are missing, with multiplicity."""
    there, missing = list(results), []
    for result in due:
        if result in there:
            there.remove(result)
        else:
            missing.append(result)
    return missing
