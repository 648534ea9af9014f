"""Whether the statuses of tests resolve an instance: SWE-bench 5.0.2, `swebench/harness/grading.py`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class CaseStatus(StrEnum):
    """Of one test in one log."""

    FAILED = "FAILED"
    PASSED = "PASSED"
    SKIPPED = "SKIPPED"
    ERROR = "ERROR"
    XFAIL = "XFAIL"


STATUSES: Final = tuple(status.value for status in CaseStatus)
"""As a log has them; `str.startswith` takes them as they are."""


_PASSING: Final = frozenset({CaseStatus.PASSED.value, CaseStatus.XFAIL.value})
_MAINTAINED: Final = _PASSING | {CaseStatus.SKIPPED.value}


class Resolution(StrEnum):
    """How far an instance is resolved."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Tests:
    """The tests of an instance that did not pass.

    Attributes:
        resolution: Full: all pass. Partial: some of FAIL_TO_PASS, and all of PASS_TO_PASS.
        unresolved: Of FAIL_TO_PASS.
        broken: Of PASS_TO_PASS.
    """

    resolution: Resolution
    unresolved: tuple[str, ...]
    broken: tuple[str, ...]


def resolution_of(
    statuses: Mapping[str, str], fail_to_pass: Sequence[str], pass_to_pass: Sequence[str]
) -> Tests:
    """Judge the statuses of a log.

    A test of FAIL_TO_PASS must be `PASSED` or `XFAIL`, one of PASS_TO_PASS may be `SKIPPED` as well. A test
    that the log does not have is failed.
    """
    unresolved = tuple(test for test in fail_to_pass if _status(test, statuses) not in _PASSING)
    broken = tuple(test for test in pass_to_pass if _status(test, statuses) not in _MAINTAINED)
    if broken or (unresolved and len(unresolved) == len(fail_to_pass)):
        resolution = Resolution.NONE
    else:
        resolution = Resolution.PARTIAL if unresolved else Resolution.FULL
    return Tests(resolution, unresolved, broken)


def _status(test: str, statuses: Mapping[str, str]) -> str | None:
    """A test's status.

    676 identifiers of SWE-bench Verified are cut within a parameter, as in `test_x[log(photon`. Such a one
    stands for all that begin with it, where these agree on whether they pass.
    """
    if test in statuses or test.count("[") <= test.count("]"):
        return statuses.get(test)
    matching = [status for name, status in statuses.items() if name.startswith(test)]
    agree = len({status in _PASSING for status in matching}) == 1
    return matching[0] if agree else None
