"""Test statuses in logs of Django's and SymPy's runners, as parsed by SWE-bench 5.0.2."""

from __future__ import annotations

import re
from typing import Final

from loadgen.plugins.evals.grading.swe_bench.status import CaseStatus

_PASSED: Final = (" ... ok", " ... OK", " ...  OK")
_ENDINGS: Final = ((" ... FAIL", CaseStatus.FAILED), (" ... ERROR", CaseStatus.ERROR))
_HEADINGS: Final = (("FAIL:", CaseStatus.FAILED), ("ERROR:", CaseStatus.ERROR))
_SKIPPED: Final = " ... skipped"
_VERSION_TEST: Final = "--version is equivalent to version"
_MIGRATION: Final = "Applying sites.0002_alter_domain_unique...test_no_migrations"
"""The output of a migration and the test after it, on one line (django-7188)."""

_INTERRUPTED: Final = tuple(
    re.compile(rf"^(.*?)\s\.\.\.\s{between}\nok$", re.MULTILINE)
    for between in (
        r"Testing against Django installed in (?s:.*?) silenced\)\.",
        r"Internal Server Error: /.*/",
        r"System check identified no issues \(0 silenced\)",
    )
)
"""A test whose output stands between its name and `ok`."""

_SYMPY_FAILED: Final = re.compile(r"(_*) (.*)\.py:(.*) (_*)")
_SYMPY_ENDINGS: Final = ((" E", CaseStatus.ERROR), (" F", CaseStatus.FAILED), (" ok", CaseStatus.PASSED))


def django_statuses(log: str) -> dict[str, str]:
    """Statuses in a log of Django's runner, `test_name (module.Class) ... ok`."""
    statuses: dict[str, str] = {}
    latest = None
    for raw in log.split("\n"):
        line = raw.strip()
        if _VERSION_TEST in line:
            statuses[_VERSION_TEST] = CaseStatus.PASSED.value
        if " ... " in line:
            latest = line.split(" ... ")[0]
        _read_django_line(line, statuses)
        if line.startswith("ok") and latest is not None:
            statuses[latest] = CaseStatus.PASSED.value
    for interrupted in _INTERRUPTED:
        statuses |= {match[1]: CaseStatus.PASSED.value for match in interrupted.finditer(log)}
    return statuses


def _read_django_line(line: str, statuses: dict[str, str]) -> None:
    ending = next((suffix for suffix in _PASSED if line.endswith(suffix)), None)
    if ending is not None:
        if line.startswith(_MIGRATION):
            line = line.split("...", 1)[-1].strip()
        statuses[line.rsplit(ending, 1)[0]] = CaseStatus.PASSED.value
    if _SKIPPED in line:
        statuses[line.split(_SKIPPED)[0]] = CaseStatus.SKIPPED.value
    for (suffix, status), (heading, _) in zip(_ENDINGS, _HEADINGS, strict=True):
        if line.endswith(suffix):
            statuses[line.split(suffix)[0]] = status.value
        if line.startswith(heading) and len(words := line.split()) > 1:
            statuses[words[1]] = status.value


def sympy_statuses(log: str) -> dict[str, str]:
    """Statuses in a log of SymPy's runner, `test_name ok`; a traceback's heading names the file, too."""
    statuses: dict[str, str] = {}
    for line in log.split("\n"):
        if ".py:" in line:
            headings = _SYMPY_FAILED.findall(line)
            statuses |= {f"{file}.py:{test}": CaseStatus.FAILED.value for _, file, test, _ in headings}
    for raw in log.split("\n"):
        line = raw.strip()
        for ending, status in _SYMPY_ENDINGS:
            if line.startswith("test_") and line.endswith(ending):
                statuses[line.split()[0]] = status.value
    return statuses
