"""What to do about a client that is short of time, in figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.client_health import ClientHealth
from reporter.findings.check_inputs import CheckInputs
from reporter.findings.remedies import COMFORTABLE, KEEP_OFF, relief
from reporter.report import RequestCounts

RUN = CheckInputs(
    ended="completed", load={"kind": "closed", "concurrency": 64}, counts=RequestCounts(*[100] * 6, {}, 0)
)
IDLE = "The client had CPU to spare: keep other work off this machine"
MACHINE = "or use a machine with more or quicker CPUs."


def client(workers: int, share: float, parent: float = 0.0, **more: Any) -> ClientHealth:
    """Workers that are all as busy, and their parent."""
    return ClientHealth(
        readings=workers,
        workers=workers,
        cpu_share_mean=share,
        cpu_share_sum=workers * share + parent,
        **more,
    )


@pytest.mark.parametrize(
    ("busy", "cpus", "expected"),
    [
        (client(1, 0.95), 4, "Use --workers 2, one more: CPUs are free."),
        (client(2, 1.0, 0.1), 8, "Use --workers 3, one more: CPUs are free."),
        (client(4, 1.0, 0.2), 8, "Use --workers 6, two more: CPUs are free."),
        (client(10, 1.0), 32, "Use --workers 15, 5 more: CPUs are free."),
        (client(1, 1.0), 1, f"Use fewer streams, about 44, {MACHINE}"),
        (client(2, 0.9, 0.1), 2, f"Use fewer streams, about 47, {MACHINE}"),
        (client(3, 0.75), 3, f"Use fewer streams, about 59, {MACHINE}"),
        (client(1, 0.95), 2, f"Use fewer streams, about 47, {MACHINE}"),
        (client(1, 0.95), None, f"Use fewer streams, about 47, {MACHINE}"),
        (client(1, 0.3), 2, f"{IDLE}, or use fewer streams, {MACHINE}"),
        (client(1, 0.3), 1, f"{IDLE}, or use fewer streams, {MACHINE}"),
        (ClientHealth(), 4, f"Use fewer streams, {MACHINE}"),
        (client(1, 0.8, cpu_wait_share_mean=0.2), 2, KEEP_OFF),
        (client(2, 1.0, cpu_wait_share_mean=0.2), 2, f"Use fewer streams, about 44, {MACHINE}"),
    ],
)
def test_a_busy_client_has_a_remedy_that_suffices(
    busy: ClientHealth, cpus: int | None, expected: str
) -> None:
    """Workers where there are CPUs for them, else as many streams as would have left it comfortable."""
    assert relief(replace(RUN, client=busy, usable_cpus=cpus)) == expected


@pytest.mark.parametrize(
    ("load", "span_ns", "expected"),
    [
        ({"kind": "poisson", "rate": 1000.0}, 100_000_000, "Lower the rate to about 700 req/s"),
        ({"kind": "constant", "rate": 1000.0}, 200_000_000, "Lower the rate to about 350 req/s"),
        ({"kind": "constant", "rate": 123_456.0}, None, "Lower the rate to about 86000 req/s"),
        ({"kind": "poisson", "rate": 0.5}, None, "Lower the rate to about 0.35 req/s"),
        ({"kind": "poisson"}, None, "Lower the rate"),
        ({"kind": "closed", "concurrency": 1}, None, "Use fewer streams, about 1"),
        ({"kind": "closed"}, None, "Use fewer streams"),
        ({"kind": "offline"}, None, "Lower the load"),
    ],
)
def test_less_load_is_in_the_units_of_the_load(
    load: dict[str, Any], span_ns: int | None, expected: str
) -> None:
    """A rate is lowered from what was issued, not from what was asked for in vain."""
    remedy = relief(replace(RUN, load=load, issued_span_ns=span_ns, client=client(1, 1.0), usable_cpus=1))
    assert remedy == f"{expected}, {MACHINE}"


@given(workers=st.integers(1, 64), share=st.floats(COMFORTABLE, 1.0), cpus=st.integers(1, 256))
def test_the_suggested_workers_have_room(workers: int, share: float, cpus: int) -> None:
    """However many workers are advised: each would be comfortable, and the machine has a CPU for each."""
    remedy = relief(replace(RUN, client=client(workers, share), usable_cpus=cpus))
    if "--workers" in remedy:
        needed = int(remedy.split("--workers ")[1].split(",")[0])
        assert workers < needed < cpus
        assert workers * share / needed <= COMFORTABLE + 1e-9
    else:
        assert "fewer streams" in remedy
