"""Remedies for a busy client, with figures computed from how busy it was."""

from __future__ import annotations

from math import ceil, inf
from typing import TYPE_CHECKING, Final

from reporter.run_facts import is_open_loop

if TYPE_CHECKING:
    from reporter.findings.check_inputs import CheckInputs

COMFORTABLE: Final = 0.7
"""The share of a core, or of all CPUs, up to which a client answers at once."""

FULL_SHARE: Final = 0.9
"""The share of a core, or of all CPUs, above which there is nothing left to take."""

WAIT_SHARE: Final = 0.1
"""The share of its time that a process waits for a CPU, above which something takes it away."""

KEEP_OFF: Final = (
    "Keep other work, including the server, off this machine, or reserve CPUs for the client (taskset)."
)


def relief(evidence: CheckInputs) -> str:
    """How to relieve the client: its CPUs for itself, further workers where CPUs are free, or less load."""
    if is_contended(evidence):
        return KEEP_OFF
    way = _more_workers(evidence) or _less_load(evidence)
    if evidence.client.is_known and max(worker_share(evidence), machine_share(evidence)) <= COMFORTABLE:
        return f"The client had CPU to spare: keep other work off this machine, or {way}."
    return f"{way[0].upper()}{way[1:]}."


def worker_share(evidence: CheckInputs) -> float:
    """The share of a core that the busiest worker used; 0 without readings."""
    return evidence.client.cpu_share_mean or 0.0


def machine_share(evidence: CheckInputs) -> float:
    """The share of the CPUs it may use that all the client's processes used; 0 where that is not known."""
    return (evidence.client.cpu_share_sum or 0.0) / (evidence.usable_cpus or inf)


def is_contended(evidence: CheckInputs) -> bool:
    """Whether a worker had to wait for a CPU that the client did not use itself."""
    waited = evidence.client.cpu_wait_share_mean or 0.0
    return waited > WAIT_SHARE and machine_share(evidence) <= FULL_SHARE


def lacks_cpu(evidence: CheckInputs) -> bool:
    """Whether the client waited for a CPU, or used more than is comfortable."""
    return is_contended(evidence) or max(worker_share(evidence), machine_share(evidence)) > COMFORTABLE


def _more_workers(evidence: CheckInputs) -> str | None:
    """A number of workers at which each has CPU time to spare, where there is a CPU for each."""
    if not evidence.client.is_known or not evidence.usable_cpus or machine_share(evidence) > COMFORTABLE:
        return None
    if worker_share(evidence) <= COMFORTABLE:
        # A worker that has not used up its CPU gains nothing from another one.
        return None
    workers = evidence.client.workers or 1
    needed = max(workers + 1, ceil(workers * worker_share(evidence) / COMFORTABLE))
    # The process that writes the log needs a CPU too.
    if needed >= evidence.usable_cpus:
        return None
    return f"use --workers {needed}, {_in_words(needed - workers)} more: CPUs are free"


def _less_load(evidence: CheckInputs) -> str:
    """The load that would have left the client CPU time to spare, if its work is proportional to the load."""
    share = max(worker_share(evidence), machine_share(evidence))
    part = COMFORTABLE / share if share > COMFORTABLE else None
    kind, streams = evidence.load.get("kind"), evidence.load.get("concurrency")
    if is_open_loop(evidence.load):
        rate = _issued_rate(evidence)
        lower = f"lower the rate{f' to about {_two_digits(rate * part)} req/s' if rate and part else ''}"
    elif kind == "closed":
        lower = f"use fewer streams{f', about {max(1, int(streams * part))}' if streams and part else ''}"
    else:
        lower = "lower the load"
    return f"{lower}, or use a machine with more or quicker CPUs"


def _issued_rate(evidence: CheckInputs) -> float | None:
    """The req/s at which the client was as busy as it was: those issued, maybe fewer than asked for."""
    asked, span_ns = evidence.load.get("rate"), evidence.issued_span_ns
    return min(asked, evidence.counts.issued * 1e9 / span_ns) if asked and span_ns else asked


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):.10g}"


def _in_words(number: int) -> str:
    return {1: "one", 2: "two", 3: "three"}.get(number, str(number))
