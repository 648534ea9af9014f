"""Test statuses in the log of one instance, by repository.

SWE-bench 5.0.2, `swebench/harness/grading.py` and `log_parsers/python.py`: what is between the marks of start
and end counts. A log of the first harness (before containers, 1.x) has a mark where the model's patch was
applied instead, and what comes after counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.swe_bench.log_parsers import (
    django_statuses,
    matplotlib_statuses,
    pytest_statuses,
    pytest_statuses_with_blanks,
    pytest_statuses_without_folders,
    seaborn_statuses,
    sympy_statuses,
)
from loadgen.plugins.evals.grading.swe_bench.resolution import CaseStatus
from workloads.errors import MalformedError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

START: Final = ">>>>> Start Test Output"
END: Final = ">>>>> End Test Output"
EXIT_CODE: Final = re.compile(r">>>>> Test Exit Code:\s*(-?\d+)")
APPLIED: Final = ">>>>> Applied Patch"

PARSERS: Final[Mapping[str, Callable[[str], dict[str, str]]]] = {
    "astropy/astropy": pytest_statuses_with_blanks,
    "django/django": django_statuses,
    "marshmallow-code/marshmallow": pytest_statuses,
    "matplotlib/matplotlib": matplotlib_statuses,
    "mwaskom/seaborn": seaborn_statuses,
    "pallets/flask": pytest_statuses,
    "psf/requests": pytest_statuses_without_folders,
    "pvlib/pvlib-python": pytest_statuses,
    "pydata/xarray": pytest_statuses,
    "pydicom/pydicom": pytest_statuses_without_folders,
    "pylint-dev/astroid": pytest_statuses,
    "pylint-dev/pylint": pytest_statuses_without_folders,
    "pytest-dev/pytest": pytest_statuses,
    "pyvista/pyvista": pytest_statuses,
    "scikit-learn/scikit-learn": pytest_statuses_with_blanks,
    "sphinx-doc/sphinx": pytest_statuses_with_blanks,
    "sqlfluff/sqlfluff": pytest_statuses,
    "sympy/sympy": sympy_statuses,
}
"""How the logs of a repository are read, of all that SWE-bench, Lite and Verified have."""

_INVALID: Final = (
    ">>>>> Patch Apply Failed",
    ">>>>> Reset Failed",
    ">>>>> Tests Errored",
    ">>>>> Tests Timed Out",
    "Failed to reset task environment",
)


def statuses_in(repository: str, log: str) -> dict[str, str] | None:
    """The status of every test in a log, by identifier; None for a log without a valid run.

    Not valid: a patch that does not apply, tests that timed out, no mark of the tests' output, no status at
    all, and an exit code that is not 0 where no test failed.

    Raises:
        MalformedError: No parser for this repository.
    """
    parser = PARSERS.get(repository)
    if parser is None:
        raise MalformedError(f"no log of {repository} can be read{did_you_mean(repository, PARSERS)}")
    if any(mark in log for mark in _INVALID):
        return None
    if START in log and END in log:
        output = log.split(START)[1].split(END, maxsplit=1)[0]
        return _consistent(parser(output) or parser(log), log)
    return parser(log.rsplit(f"{APPLIED} (pred)", maxsplit=1)[-1]) if APPLIED in log else None


def _consistent(statuses: dict[str, str], log: str) -> dict[str, str] | None:
    """Statuses that agree with the exit code; a patch could print status lines."""
    if not statuses:
        return None
    code = EXIT_CODE.search(log)
    failed = {CaseStatus.FAILED.value, CaseStatus.ERROR.value}
    if code is not None and int(code[1]) != 0 and failed.isdisjoint(statuses.values()):
        return None
    return statuses
