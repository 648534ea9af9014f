"""SWE-bench: statuses in small logs, what resolves an instance, and logs without a valid run."""

from __future__ import annotations

import json

import pytest

from loadgen.plugins.evals.grading import swe_bench_pro
from loadgen.plugins.evals.grading.swe_bench.infrastructure import infrastructure_failure
from loadgen.plugins.evals.grading.swe_bench.resolution import Resolution, resolution_of
from loadgen.plugins.evals.grading.swe_bench.test_log import END, START, statuses_in
from workloads.errors import MalformedError
from workloads.task import parse

DJANGO = """test_a (app.tests.A) ... ok
test_b (app.tests.A) ... FAIL
test_c (app.tests.A) ... skipped 'no database'
test_d (app.tests.A) ... ERROR
test_e (app.tests.A) ... some output
ok
FAIL: test_f (app.tests.A)
Applying sites.0002_alter_domain_unique...test_no_migrations (m.T) ... ok
test_g (app.tests.A) ... Testing against Django installed in '/x'
System check identified no issues (0 silenced).
ok"""

LOGS = [
    (
        "pallets/flask",
        "PASSED t.py::a\nFAILED t.py::b - assert 1\nSKIPPED [1] t.py:3: why\nXFAIL t.py::c\nERROR",
        {"t.py::a": "PASSED", "t.py::b": "FAILED", "t.py::c": "XFAIL"},
    ),
    (
        "psf/requests",
        "PASSED t.py::a[/home/x/file.txt]\nPASSED t.py::a[//two]\nPASSED t.py::b",
        {"t.py::a[/file.txt]": "PASSED", "t.py::a[//two]": "PASSED", "t.py::b": "PASSED"},
    ),
    ("matplotlib/matplotlib", "PASSED t.py::a[MouseButton.LEFT]", {"t.py::a[1]": "PASSED"}),
    (
        "astropy/astropy",
        "\x1b[32mPASSED\x1b[0m t.py::a[x y]\nt.py::b PASSED\nFAILED t.py::c[1 - 2]",
        {"t.py::a[x y]": "PASSED", "t.py::b": "PASSED", "t.py::c[1": "FAILED"},
    ),
    (
        "mwaskom/seaborn",
        "FAILED t.py::a - x\nt.py::b PASSED [ 9%]\nPASSED t.py::c",
        {"t.py::a": "FAILED", "t.py::b": "PASSED", "t.py::c": "PASSED"},
    ),
    (
        "sympy/sympy",
        "test_a ok\ntest_b F\ntest_c E\n___ sympy/core/tests/test_x.py:test_b ___",
        {
            "test_a": "PASSED",
            "test_b": "FAILED",
            "test_c": "ERROR",
            "sympy/core/tests/test_x.py:test_b": "FAILED",
        },
    ),
    (
        "django/django",
        DJANGO,
        {
            "test_a (app.tests.A)": "PASSED",
            "test_b (app.tests.A)": "FAILED",
            "test_c (app.tests.A)": "SKIPPED",
            "test_d (app.tests.A)": "ERROR",
            "test_e (app.tests.A)": "PASSED",
            "test_f": "FAILED",
            "test_no_migrations (m.T)": "PASSED",
            "test_g (app.tests.A)": "PASSED",
        },
    ),
]


@pytest.mark.parametrize(("repository", "output", "expected"), LOGS, ids=[case[0] for case in LOGS])
def test_statuses(repository: str, output: str, expected: dict[str, str]) -> None:
    """Each parser on the lines that make it differ from the others."""
    assert statuses_in(repository, f"before\n{START}\n{output}\n{END}\nafter") == expected


def test_the_full_benchmark() -> None:
    """All of its instances, of twelve repositories whose logs can be read; Verified is the default."""
    full, default = parse("swe_bench:subset=full").source, parse("swe_bench").source
    assert (full.hub, full.rows, full.columns) == ("SWE-bench/SWE-bench", 2294, default.columns)
    assert default.hub == "SWE-bench/SWE-bench_Verified"
    repositories = (
        *("astropy/astropy", "django/django", "matplotlib/matplotlib", "mwaskom/seaborn", "pallets/flask"),
        *("psf/requests", "pydata/xarray", "pylint-dev/pylint", "pytest-dev/pytest"),
        *("scikit-learn/scikit-learn", "sphinx-doc/sphinx", "sympy/sympy"),
    )
    for repository in repositories:
        assert statuses_in(repository, f"{START}\n{END}\n") is None


def test_logs_without_a_valid_run() -> None:
    """A patch that does not apply, no marks, no statuses, and an exit code that contradicts the statuses."""
    passed = f"{START}\nPASSED t.py::a\n{END}\n"
    assert statuses_in("pallets/flask", passed) == {"t.py::a": "PASSED"}
    assert statuses_in("pallets/flask", passed + ">>>>> Test Exit Code: 0") is not None
    invalid = [
        passed + ">>>>> Test Exit Code: 1",
        passed + ">>>>> Tests Timed Out",
        ">>>>> Patch Apply Failed",
        "PASSED t.py::a",
        f"{START}\nnothing\n{END}",
        "",
    ]
    assert [statuses_in("pallets/flask", log) for log in invalid] == [None] * len(invalid)
    failed = f"{START}\nFAILED t.py::a\n{END}\n>>>>> Test Exit Code: 1"
    assert statuses_in("pallets/flask", failed) == {"t.py::a": "FAILED"}
    with pytest.raises(MalformedError, match="did you mean 'pallets/flask'"):
        statuses_in("pallets/flaks", passed)


def test_a_log_of_the_first_harness() -> None:
    """What comes after the model's patch counts."""
    log = ">>>>> Applied Patch (test)\nPASSED t.py::a\n>>>>> Applied Patch (pred)\nFAILED t.py::a"
    assert statuses_in("pallets/flask", log) == {"t.py::a": "FAILED"}


@pytest.mark.parametrize(
    ("statuses", "resolution"),
    [
        ({"a": "PASSED", "b": "XFAIL", "c": "SKIPPED"}, Resolution.FULL),
        ({"a": "PASSED", "c": "PASSED"}, Resolution.PARTIAL),
        ({"a": "PASSED", "b": "SKIPPED", "c": "PASSED"}, Resolution.PARTIAL),
        ({"a": "PASSED", "b": "PASSED"}, Resolution.NONE),
        ({"a": "PASSED", "b": "PASSED", "c": "FAILED"}, Resolution.NONE),
        ({"c": "PASSED"}, Resolution.NONE),
        ({}, Resolution.NONE),
    ],
)
def test_resolution(statuses: dict[str, str], resolution: Resolution) -> None:
    """FAIL_TO_PASS a and b, PASS_TO_PASS c."""
    assert resolution_of(statuses, ["a", "b"], ["c"]).resolution is resolution


def test_an_identifier_that_is_cut() -> None:
    """It stands for all tests that begin with it, if all of them pass or none does."""
    agree = {"t[log(a b]": "PASSED", "t[log(a c]": "XFAIL"}
    assert resolution_of(agree, ["t[log(a"], []).resolution is Resolution.FULL
    assert resolution_of({**agree, "t[log(a d]": "FAILED"}, ["t[log(a"], []).unresolved == ("t[log(a",)
    assert resolution_of({"test_long": "PASSED"}, ["test"], []).resolution is Resolution.NONE


def test_signs_of_the_environment() -> None:
    """The first sign in the official order counts; source code can be the cause of some."""
    sign = infrastructure_failure("collected 0 items\nKilled\n")
    assert sign == ("out_of_memory", True)
    assert infrastructure_failure("ModuleNotFoundError: x") == ("missing_module", False)
    assert infrastructure_failure("AssertionError") is None


def test_swe_bench_pro() -> None:
    """All tests of both lists must be PASSED; other tests do not matter."""
    tests = [{"name": "a", "status": "PASSED"}, {"name": "b", "status": "FAILED"}]
    passed = swe_bench_pro.passed_tests(json.dumps({"tests": tests}))
    assert swe_bench_pro.is_resolved(passed, ["a"], [])
    assert not swe_bench_pro.is_resolved(passed, ["a"], ["b"])
    assert not swe_bench_pro.is_resolved(passed, ["a"], ["missing"])
    for broken in ("", "[]", '{"tests": [1]}', '{"tests": [{"name": "a"}]}'):
        with pytest.raises(MalformedError):
            swe_bench_pro.passed_tests(broken)
