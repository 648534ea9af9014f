"""What two runs must have in common to be compared."""

from __future__ import annotations

from typing import Any

import pytest

from reporter.compare.comparable import facts, run_faults, unlike

REPORT: dict[str, Any] = {
    "run": {
        "ended": "completed",
        "model": "m",
        "load": {"kind": "closed", "concurrency": 8},
        "max_tokens": 64,
        "seed": 0,
        "url": "http://a",
        "dataset": {"name": "synthetic", "sha256": "aa", "rows": 100},
        "timestamp_source": "kernel",
        "workers": 1,
        "versions": {"llm-loadgen": "1", "python": "3.11"},
        "percentile_method": "linear",
    },
    "tokens": {"source": "server_usage"},
    "validity": {"valid": True, "reasons": []},
}
SETTINGS = {"temperature": 0.0, "extra_body": {}, "requests": 100, "options": {"url": "http://a"}}
MACHINE = {"host": "one", "cpus": 4}


def changed(path: str, value: object) -> dict[str, Any]:
    """The same report with another value."""
    *within, last = path.split("/")
    made = inner = {key: dict(part) for key, part in REPORT.items()}
    for key in within:
        inner[key] = dict(inner[key])
        inner = inner[key]
    inner[last] = value
    return made


@pytest.mark.parametrize(
    ("path", "value", "about", "what"),
    [
        ("run/model", "n", "settings", "model"),
        ("run/load/concurrency", 16, "settings", "load.concurrency"),
        ("run/load/kind", "poisson", "settings", "load.kind"),
        ("run/max_tokens", 128, "settings", "max_tokens"),
        ("run/dataset/sha256", "bb", "dataset", "sha256"),
        ("tokens/source", "chunks", "tokens", "source"),
        ("run/timestamp_source", "read", "client", "timestamp_source"),
        ("run/workers", 2, "client", "workers"),
        ("run/versions/python", "3.12", "versions", "python"),
        ("run/percentile_method", "loadgen_floor", "definitions", "percentile_method"),
    ],
)
def test_each_thing_that_figures_depend_on_is_named(path: str, value: object, about: str, what: str) -> None:
    """With the runs and both values."""
    [mismatch] = unlike(
        *("B", facts(changed(path, value), {}, {})),
        *("A", facts(REPORT, {}, {})),
    )
    assert (mismatch.about, mismatch.what, mismatch.run, mismatch.reference) == (about, what, "B", "A")
    assert mismatch.value == value
    assert mismatch.reference_value != value


@pytest.mark.parametrize("by_server", [True, False])
@pytest.mark.parametrize(("share", "differs"), [(25, False), (26, True), (15, False), (14, True)])
def test_other_shares_of_cached_tokens_are_named(*, by_server: bool, share: int, differs: bool) -> None:
    """By the usage of responses, else by the server's metrics; a few points apart are alike."""

    def run(pct: int) -> dict[str, Any]:
        if by_server:
            return {**REPORT, "server_side": {"prefix_hit_pct": pct}}
        return changed("tokens", {"source": "server_usage", "cached": pct, "input": 100})

    mismatches = unlike("B", facts(run(share), {}, {}), "A", facts(run(20), {}, {}))
    assert [(each.about, each.what, each.value) for each in mismatches] == [
        ("cache", "cached_pct", share)
    ] * differs


def test_what_is_meant_to_differ_is_not_named() -> None:
    """Where the server is, the seed, and how many requests there were."""
    other = changed("run/url", "http://b")
    other["run"]["seed"] = 7
    more = {**SETTINGS, "requests": 500, "options": {"url": "http://b"}}
    assert unlike("B", facts(other, more, MACHINE), "A", facts(REPORT, SETTINGS, MACHINE)) == []


def test_the_log_has_settings_and_the_machine() -> None:
    """A report alone does not, and a fact of only one of two runs is not a difference."""
    hot = facts(REPORT, {**SETTINGS, "temperature": 1.0}, {**MACHINE, "host": "two"})
    mismatches = unlike("B", hot, "A", facts(REPORT, SETTINGS, MACHINE))
    assert [(mismatch.about, mismatch.what) for mismatch in mismatches] == [
        ("settings", "temperature"),
        ("machine", "host"),
    ]
    assert unlike("B", hot, "A", facts(REPORT, {}, {})) == []


@pytest.mark.parametrize(
    ("report", "what", "value"),
    [
        (changed("validity", {"valid": False, "reasons": ["late", "slow"]}), "invalid", "late; slow"),
        (
            changed("validity", {"valid": False, "reasons": ["late"], "accepted": True}),
            "invalid",
            "accepted (--on-invalid warn): late",
        ),
        (changed("run/ended", "interrupted"), "ended", "interrupted"),
    ],
)
def test_a_run_with_a_fault_is_named_by_itself(report: dict[str, Any], what: str, value: str) -> None:
    """An invalid one with its reasons, one that did not end in order with how it ended; a good one is not."""
    [fault] = run_faults("B", report)
    assert (fault.what, fault.value, fault.reference) == (what, value, "")
    assert run_faults("A", REPORT) == []
