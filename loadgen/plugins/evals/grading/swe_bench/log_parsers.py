"""Test statuses in logs of pytest, and of Django's and SymPy's runners, as parsed by SWE-bench 5.0.2.

The summary of pytest (`-rA`) has lines such as `FAILED path::test - message`. A test's identifier is the
first word after the status, except where a parser says otherwise. A later line replaces an earlier one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.swe_bench.resolution import STATUSES, CaseStatus

if TYPE_CHECKING:
    from collections.abc import Callable

_SKIPPED_COUNT: Final = re.compile(r"\[\d+\]$")
"""`SKIPPED [1] path:line: reason` counts skipped tests, and names none."""

_PARAMETERS: Final = re.compile(r"(.*?)\[(.*)\]")
_COLOR: Final = re.compile(r"\[\d+m")
_CONTROL: Final = dict.fromkeys(range(1, 32))
_MATPLOTLIB: Final = (("MouseButton.LEFT", "1"), ("MouseButton.RIGHT", "3"))


def pytest_statuses(log: str, named: Callable[[str], str] = str) -> dict[str, str]:
    """Statuses in the summary of pytest."""
    statuses = {}
    for line in log.split("\n"):
        if not line.startswith(STATUSES):
            continue
        words = _words(line)
        if len(words) > 1 and not _counts_skipped(words):
            statuses[named(words[1])] = words[0]
    return statuses


def pytest_statuses_without_folders(log: str) -> dict[str, str]:
    """As `pytest_statuses`, with a parameter that is an absolute path shortened to the last part."""
    return pytest_statuses(log, _without_folders)


def matplotlib_statuses(log: str) -> dict[str, str]:
    """As `pytest_statuses`; mouse buttons in identifiers are written as numbers."""
    for button, number in _MATPLOTLIB:
        log = log.replace(button, number)
    return pytest_statuses(log)


def pytest_statuses_with_blanks(log: str) -> dict[str, str]:
    """Statuses of a log with colors, for identifiers with blanks.

    Old versions of pytest write the status after the identifier.
    """
    statuses = {}
    for raw in log.split("\n"):
        line = _COLOR.sub("", raw).translate(_CONTROL)
        if line.startswith(STATUSES):
            if line.startswith(CaseStatus.FAILED):
                line = line.split(" - ", 1)[0]
            words = line.split()
            if len(words) > 1 and not _counts_skipped(words):
                statuses[" ".join(words[1:])] = words[0]
        elif line.endswith(STATUSES) and len(words := line.split()) > 1:
            statuses[" ".join(words[:-1])] = words[-1]
    return statuses


def seaborn_statuses(log: str) -> dict[str, str]:
    """Passed and failed tests, with the status before or after the identifier."""
    statuses = {}
    for line in log.split("\n"):
        words = line.split()
        if len(words) < 2:  # noqa: PLR2004 (status and identifier)
            continue
        if line.startswith(CaseStatus.FAILED):
            statuses[words[1]] = CaseStatus.FAILED.value
        elif f" {CaseStatus.PASSED} " in line:
            if words[1] == CaseStatus.PASSED:
                statuses[words[0]] = CaseStatus.PASSED.value
        elif line.startswith(CaseStatus.PASSED):
            statuses[words[1]] = CaseStatus.PASSED.value
    return statuses


def _words(line: str) -> list[str]:
    return (line.replace(" - ", " ") if line.startswith(CaseStatus.FAILED) else line).split()


def _counts_skipped(words: list[str]) -> bool:
    return words[0] == CaseStatus.SKIPPED and _SKIPPED_COUNT.match(words[1]) is not None


def _without_folders(identifier: str) -> str:
    match = _PARAMETERS.search(identifier)
    if match is None:
        return identifier
    test, parameter = match.groups()
    if parameter.startswith("/") and not parameter.startswith("//") and "*" not in parameter:
        parameter = "/" + parameter.rsplit("/", 1)[-1]
    return f"{test}[{parameter}]"


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
