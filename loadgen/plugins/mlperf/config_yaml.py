"""`config.yaml` of mlcommons/endpoints, from the settings in a run's log.

mlcommons/endpoints@ea332753:src/inference_endpoint/config/schema.py (BenchmarkConfig).

What was asked for is reported as it was, but for one thing: `min_duration_ms` is how long the run did last,
as MLPerf counts it. A run of a number of requests names no duration, and one that was cut short did not last
for what it named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.report import Report

_PATTERNS: Final[Mapping[str, str]] = {
    "closed": "concurrency",
    "offline": "max_throughput",
}
"""The patterns that it knows; every other one keeps our name."""


_SAMPLING: Final = ("seed", "top_k", "top_p", "repetition_penalty", "presence_penalty", "frequency_penalty")
"""Members of the request body that it has options for."""


def measured_by(report: Report) -> str:
    """This program with version, as the measuring program."""
    return f"llm-loadgen {report.run.versions.get('llm-loadgen') or 'of an unknown version'}"


def pattern(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The load pattern with parameters."""
    load = settings.get("load") or {}
    kind = str(load.get("kind"))
    rate_or_concurrency = {"target_qps": load.get("rate"), "target_concurrency": load.get("concurrency")}
    return {
        "type": _PATTERNS.get(kind, kind),
        **{name: value for name, value in rate_or_concurrency.items() if value is not None},
    }


def issued(report: Report) -> int:
    """The measured requests; one that was asked again by a later segment counts once."""
    return report.counts.issued - report.counts.abandoned


def is_offline(settings: Mapping[str, Any]) -> bool:
    """Whether everything was asked at once."""
    return (settings.get("load") or {}).get("kind") == "offline"


def seeds(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The seeds of arrivals, and of which sample is asked when. A log of old has one for both."""
    seed, schedule = settings.get("seed"), settings.get("schedule_seed")
    return {
        "scheduler_random_seed": seed if schedule is None else schedule,
        "dataloader_random_seed": seed,
    }


def config(report: Report, settings: Mapping[str, Any]) -> dict[str, Any]:
    """How the run was made."""
    dataset = settings.get("dataset") or {}
    return {
        "name": f"run {report.run.session_id}",
        "version": measured_by(report),
        "type": "offline" if is_offline(settings) else "online",
        "model_params": _model(settings),
        "datasets": [
            {"name": dataset.get("name"), "type": "performance", "samples": dataset.get("rows")},
        ],
        "settings": {
            "runtime": {
                "min_duration_ms": lasted_ms(report, settings),
                "max_duration_ms": 0,
                **({"n_samples_to_issue": settings["requests"]} if settings.get("requests") else {}),
                **seeds(settings),
            },
            "load_pattern": pattern(settings),
            "warmup": {
                "enabled": bool(report.counts.warmup),
                "n_requests": report.counts.warmup or None,
                # Our salt is that of every prompt, not one that warm-up prompts alone have.
                "salt": False,
            },
            "salt": settings.get("salt") is True,
            "early_stopping": {"enabled": True},
        },
        "endpoint_config": {"endpoints": settings.get("urls") or [settings.get("url")]},
    }


def lasted_ms(report: Report, settings: Mapping[str, Any]) -> int:
    """How long the run lasted: the time of issuing, offline the time until all was answered.

    mlcommons/inference@b66003e1:loadgen/results.cc (MinDurationMet).
    """
    window = report.window
    seconds = window.duration_s if is_offline(settings) else window.issuing_s
    return int((seconds or 0.0) * 1000)


def _model(settings: Mapping[str, Any]) -> dict[str, Any]:
    body = settings.get("extra_body") or {}
    described = {
        "name": settings.get("model"),
        "temperature": settings.get("temperature"),
        "max_new_tokens": settings.get("max_tokens"),
        "min_new_tokens": body.get("min_tokens"),
        **{name: body.get(name) for name in _SAMPLING},
        "streaming": "on" if settings.get("stream") else "off",
    }
    return {name: value for name, value in described.items() if value is not None}
