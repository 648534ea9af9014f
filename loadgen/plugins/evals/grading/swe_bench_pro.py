"""SWE-bench Pro: scaleapi/SWE-bench_Pro-os at ca10a60a, `swe_bench_pro_eval.py`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterable


def passed_tests(output: str) -> frozenset[str]:
    """Names of passed tests in the `output.json` that an instance's parser writes.

    Raises:
        MalformedError: It is not JSON of the form `{"tests": [{"name": …, "status": …}]}`.
    """
    try:
        tests: Any = json.loads(output)["tests"]
        return frozenset(test["name"] for test in tests if test["status"] == "PASSED")
    except (ValueError, KeyError, TypeError) as error:
        raise MalformedError(f"output.json has no list of tests with name and status: {error}") from error


def is_resolved(passed: Iterable[str], fail_to_pass: Iterable[str], pass_to_pass: Iterable[str]) -> bool:
    """Whether all tests that should pass did; a test without a result did not."""
    return (set(fail_to_pass) | set(pass_to_pass)) <= set(passed)
