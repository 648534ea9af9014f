"""One test for a rule that holds for every case of a list: it fails once, with every case that breaks it."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Any]:
    """Call a test function once per case, within one test.

    It takes what `pytest.mark.parametrize` takes. That reports each case as a test, at 1 ms each; this is for
    lists that the program or a table of facts makes, such as every metric or every built-in ruleset. Fixtures
    are made once for all cases.

    Args:
        names: The parameter that takes a case, or the parameters that take its items.
        cases: The cases, at least one.

    Raises:
        BaseExceptionGroup: Some cases fail: one exception for each, with its case as a note.
    """
    cases = list(cases)
    assert cases, f"no cases of {names}"

    def decorate(function: Callable[..., None]) -> Any:
        @functools.wraps(function)
        def test(**fixtures: Any) -> None:
            violations = []
            for case in cases:
                arguments = {names: case} if isinstance(names, str) else dict(zip(names, case, strict=True))
                try:
                    function(**fixtures, **arguments)
                except (Exception, pytest.fail.Exception) as violation:  # noqa: BLE001 (whatever fails a test)
                    violation.add_note(", ".join(f"{name} = {value}" for name, value in arguments.items()))
                    violations.append(violation)
            if violations:
                message = f"{len(violations)} of {len(cases)} cases fail"
                raise BaseExceptionGroup(message, violations)

        signature = inspect.signature(function)
        taken = {names} if isinstance(names, str) else set(names)
        assert taken <= set(signature.parameters), f"{function.__name__} does not take {taken}"
        others = [value for name, value in signature.parameters.items() if name not in taken]
        test.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return test

    return decorate
