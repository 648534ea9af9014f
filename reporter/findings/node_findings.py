"""Whether all nodes of a run of several machines are in the report, kept up, and had clocks that agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.number_text import counted
from reporter.report import Finding
from reporter.run_facts import is_open_loop

if TYPE_CHECKING:
    from reporter.findings.check_inputs import Check, CheckInputs
    from reporter.nodes import NodeReport, Nodes

RATE_DOUBT: Final = 0.01
"""The share by which clocks may put the rate in doubt without a warning."""


def _one_of_many(evidence: CheckInputs) -> Finding | None:
    if evidence.shard is None:
        return None
    node, nodes = evidence.shard
    return Finding(
        "one_node_alone",
        "error",
        f"These are the requests of {node} alone, one of {nodes} nodes of the run.",
        "Report on the folder of the run, which has the logs of all nodes.",
    )


def _incomplete(evidence: CheckInputs) -> Finding | None:
    if evidence.ended == "running":
        return None
    missing, cut_off = _of_state(evidence, "missing"), _of_state(evidence, "cut_off")
    if not (missing or cut_off):
        return None
    facts = []
    if missing:
        facts.append(f"the {_logs(missing)} missing: no figure includes requests of {_names(missing)}")
    if cut_off:
        facts.append(
            f"the {_logs(cut_off)} cut off: {counted(sum(node.in_flight for node in cut_off), 'request')} "
            "without an end, and later requests are missing"
        )
    return Finding(
        "nodes_incomplete",
        "error",
        f"The run is incomplete: of {counted(len(_each(evidence)), 'node')}, {'; '.join(facts)}.",
        "Copy missing logs from the nodes into the run's folder (shards/NODE/events.db), or run again.",
    )


def _node_behind(evidence: CheckInputs) -> Finding | None:
    """Name the nodes that were behind the schedule of an open loop."""
    if not is_open_loop(evidence.load) or evidence.load.get("max_concurrency") is not None:
        return None
    behind = sorted(
        (node for node in _each(evidence) if node.seconds_behind), key=lambda node: -node.seconds_behind
    )
    if not behind:
        return None
    facts = ", ".join(f"{node.node} in {node.seconds_behind} of {node.seconds} seconds" for node in behind)
    return Finding(
        "node_behind",
        "warning",
        f"{counted(len(behind), 'node')} of {len(_each(evidence))} fell behind the schedule: {facts}. "
        f"The worst issued {behind[0].issue_lag_p99_ms or 0:.0f} ms late at the p99.",
        f"Check what else ran on {behind[0].node}, use more nodes, or lower the rate.",
    )


def _clocks(evidence: CheckInputs) -> Finding | None:
    unread = [node for node in _each(evidence) if node.state != "missing" and not node.clock_readings]
    if unread:
        return Finding(
            "clock_unknown",
            "warning",
            f"The clock of {_names(unread)} was never compared with the coordinator's, so rates and plots "
            "over time may be off. Latencies are exact.",
            "Synchronize the nodes' wall clocks (NTP), and check why the node was not reached.",
        )
    unsteady = [node for node in _each(evidence) if not node.clock_is_steady]
    nodes = evidence.nodes
    if nodes is None or not (unsteady or _rate_in_doubt(nodes, evidence.qps)):
        return None
    why = f"the clock of {_names(unsteady)} jumped or drifted" if unsteady else "the nodes' clocks differ"
    return Finding(
        "clock_uncertain",
        "warning",
        f"Rates over all nodes are in doubt: {why} (known to {nodes.clock_uncertainty_ms or 0:.1f} "
        f"ms). The rate is {nodes.qps_low or 0:.2f} to {nodes.qps_high or 0:.2f} req/s. "
        "Latencies are exact.",
        "Measure for longer, or use nodes nearer to the coordinator.",
    )


def _rate_in_doubt(nodes: Nodes, qps: float | None) -> bool:
    low, high = nodes.qps_low, nodes.qps_high
    return qps is not None and low is not None and high is not None and high - low > RATE_DOUBT * qps


def _each(evidence: CheckInputs) -> tuple[NodeReport, ...]:
    return evidence.nodes.each if evidence.nodes is not None else ()


def _of_state(evidence: CheckInputs, state: str) -> list[NodeReport]:
    return [node for node in _each(evidence) if node.state == state]


def _logs(nodes: list[NodeReport]) -> str:
    return f"log of {_names(nodes)} is" if len(nodes) == 1 else f"logs of {_names(nodes)} are"


def _names(nodes: list[NodeReport]) -> str:
    return ", ".join(node.node for node in nodes)


CHECKS: Final[tuple[Check, ...]] = (_one_of_many, _incomplete, _node_behind, _clocks)
