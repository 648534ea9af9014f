"""Terminal-Bench 1: test results in the last pane of a task's terminal, and the verdict.

laude-institute/terminal-bench, `parsers/pytest_parser.py` and `harness/harness.py`: the tests run after the
agent, also after one that ran out of time; the summary of pytest (`-rA`) is read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SUMMARY: Final = re.compile(r"=+\s*short test summary info\s*=+", re.IGNORECASE)
_LINE: Final = re.compile(r"(PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR)\s+(.+)")
_PASSING: Final = frozenset({"PASSED", "SKIPPED", "XFAIL"})


def results_of_tests(pane: str) -> dict[str, bool]:
    """Whether each test passed, by the last part of the identifier.

    A skipped test and one that fails as expected pass; one that passes unexpectedly does not. A later line
    of the same test replaces an earlier one. As officially, an error keeps its message in the
    identifier, and only what follows the last " - " of a failure is cut.

    Raises:
        MalformedError: The pane has no summary of pytest (`parse_error` in Terminal-Bench).
    """
    parts = _SUMMARY.split(pane, maxsplit=1)
    if len(parts) == 1:
        raise MalformedError("the pane of the tests has no 'short test summary info'")
    results = {}
    for raw in parts[1].splitlines():
        match = _LINE.match(raw.strip())
        if match is not None:
            status, rest = match.groups()
            test = rest.rsplit(" - ", maxsplit=1)[0] if status == "FAILED" else rest
            results[test.split("::", 1)[-1].strip()] = status in _PASSING
    return results


def is_resolved(results: Mapping[str, bool]) -> bool:
    """Whether there are results, and all tests passed."""
    return bool(results) and all(results.values())
