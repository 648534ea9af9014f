"""`point.yaml` of a submission to MLPerf Endpoints: one point of a curve over concurrencies.

mlcommons/endpoints-submission-cli@03dff164:submission_checker/models/file/point_config.py. What only the
submitter knows (division, precision, links, cohort…) is not here: see `DISCLOSED`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from loadgen.plugins.mlperf.config_yaml import is_offline, issued, lasted_ms, pattern, seeds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.log.database import OpenLog
    from reporter.report import Report

NAMELESS: Final = "system"
"""The folder of a system without a name."""


DISCLOSED: Final = (
    *("division", "max_supported_concurrency", "model_precision", "link_to_model", "dataset_type"),
    *("dataset_link", "shared_src", "shared_docs", "seed_set", "target_cohort"),
)
"""Members that a point must have, and that no log knows."""

DEDICATED: Final = "dedicated"
ELECTED: Final = "elected"
NOT_OFFLINE: Final = "none"
"""What a point is to Offline: a separate run, the point at C_max that is elected for it, or neither."""

AGENTIC: Final = "agentic_inference"
"""How mlcommons/endpoints calls the closed loop of a benchmark of conversations with tools."""


@dataclass(frozen=True, slots=True)
class ExportedPoint:
    """One point of the curve.

    Attributes:
        disclosure: The content of its point.yaml.
        invalid: Why its run cannot stand for the server.
    """

    name: str
    disclosure: dict[str, Any]
    files: Mapping[str, bytes]
    missing: list[str] = field(default_factory=list)
    invalid: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The name of the point's folder."""
        return f"r{self.disclosure['concurrency']}"

    @property
    def model(self) -> str:
        """The official name of the model, and the folder of the curve."""
        return str(self.disclosure["model_name"] or "")


def described_point(log: OpenLog, report: Report, settings: Mapping[str, Any]) -> dict[str, Any]:
    """How a point was measured."""
    dataset = (settings.get("dataset") or {}).get("name")
    used = seeds(settings)
    return {
        "concurrency": concurrency(report, settings),
        "dataset": dataset,
        "model_name": settings.get("model"),
        "dataset_name": dataset,
        "runtime_settings": {
            "load_pattern": pattern(settings)["type"],
            "min_duration_ms": lasted_ms(report, settings),
            "min_sample_count": settings.get("requests"),
            "stream_all_chunks": settings.get("stream") is True,
            "runtime": {
                "scheduler_rng_seed": used["scheduler_random_seed"],
                "sample_index_rng_seed": used["dataloader_random_seed"],
                "model_seed": (settings.get("extra_body") or {}).get("seed"),
            },
            "warmup": {"salt": False},
            "salt": settings.get("salt") is True,
        },
        "offline": DEDICATED if is_offline(settings) else NOT_OFFLINE,
        "warmup": _warmup(log, concurrency(report, settings), dataset),
    }


def concurrency(report: Report, settings: Mapping[str, Any]) -> int | None:
    """Requests in flight: as set, offline all requests; None for a load without a number."""
    if is_offline(settings):
        return issued(report)
    value = (settings.get("load") or {}).get("concurrency")
    return value if isinstance(value, int) else None


def _warmup(log: OpenLog, users: int | None, dataset: str | None) -> dict[str, Any]:
    """The six members that declare the warm-up, also for a run without one."""
    issued, completed, span_ns = log.execute(
        "SELECT count(*), count(*) FILTER (status = 'completed'), "
        "coalesce(max(ended_ns) - min(issued_ns), 0) FROM samples WHERE phase = 'warmup'"
    ).fetchall()[0]
    return {
        "duration_s": span_ns / 1e9,
        "requests_issued": issued,
        "requests_completed": completed,
        "data_source": dataset or "unknown" if issued else "none",
        "concurrency": users or 1,
        "initialization_steps": [],
    }
