"""Every key of a ruleset file except those of targets; docs/rulesets.md explains the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from rulesets.definitions import (
    Category,
    Denominator,
    End,
    FailedRequests,
    OneToken,
    Origin,
    PercentileMethod,
    TokenSource,
    WindowKind,
)
from rulesets.demands import CHECKS, DEMANDED, Pattern
from rulesets.metric_table import METRICS
from rulesets.quantity import METRIC_ALIASES, PERCENTILE, STAT_ALIASES
from rulesets.reading.document_targets import ACCURACY, GOODPUT, TARGETS
from rulesets.reading.shape import (
    CHANCE,
    COUNT,
    COUNT_OR_NONE,
    ERROR_RATE,
    NOT_NEGATIVE,
    POSITIVE,
    SECONDS,
    SEED,
    SHARE,
    Shape,
    choice,
    either,
    free,
    items,
    keys,
    named,
    number,
    scalar,
    text,
    texts,
    truth,
    whole,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA: Final = "rulesets/1"
"""The format that this version reads."""

_DEFINITIONS: Final = keys(
    {
        "percentile_method": choice(get_args(PercentileMethod)),
        "latency_origin": choice(get_args(Origin)),
        "tpot": keys(
            {
                "denominator": choice(get_args(Denominator)),
                "end": choice(get_args(End)),
                "n1": choice(get_args(OneToken)),
            }
        ),
        "tokens": keys(
            {
                "source": choice(get_args(TokenSource)),
                "tokenizer": text(),
                "categories": items(choice(get_args(Category)), least=1),
            }
        ),
        "throughput_window": keys({"kind": choice(get_args(WindowKind)), "exclude_warmup": truth()}),
        "failed_requests": choice(get_args(FailedRequests)),
    }
)

_DATASET: Final = keys(
    {"name": text(), "perf_samples": whole(COUNT), "acc_samples": whole(COUNT), "sha256": text()}
)

_SETTINGS: Final = (
    *("max_new_tokens", "min_new_tokens", "temperature", "top_p", "top_k", "min_p", "reasoning_effort"),
    *("presence_penalty", "frequency_penalty", "repetition_penalty", "ignore_eos", "stop"),
)
_SETTING: Final = either(
    scalar=scalar(),
    mapping=keys({"performance": scalar(), "accuracy": scalar()}),
    sequence=items(scalar(), least=1),
)
_GENERATION: Final = keys(
    {**dict.fromkeys(_SETTINGS, _SETTING), "extra_body": named(free(), "a setting"), "locked": truth()}
)

_CONCURRENCY: Final = either(
    scalar=whole(COUNT),
    mapping=keys({name: whole(COUNT) for name in ("min", "max", "from", "to", "factor")}),
)
_UNCHECKED: Final = (
    *("isl", "osl", "range_ratio", "ignore_eos", "samples_per_query", "prompts_per_concurrency"),
    "nominal_queries",
)
"""What a load says in addition to how requests arrive; no rule here checks it."""

_LOAD: Final = keys(
    {
        "pattern": choice(get_args(Pattern)),
        "rate": number(POSITIVE),
        "concurrency": _CONCURRENCY,
        **dict.fromkeys(_UNCHECKED, scalar()),
    }
)

_VALIDITY: Final = keys(
    {
        "max_error_rate": number(ERROR_RATE),
        "min_samples": whole(COUNT),
        "min_duration_s": number(SECONDS),
        "dataset_multiple": truth(),
        "min_passes": whole(COUNT),
        "streaming": choice(("required", "any")),
        "min_samples_per_concurrency": whole(COUNT),
        "warmup_per_concurrency": whole(COUNT_OR_NONE),
        "min_sessions": whole(COUNT),
        "min_sessions_per_concurrency": whole(COUNT),
        "min_coverage": number(SHARE),
        "max_context_overflow_rate": number(ERROR_RATE),
        "warn": items(choice(DEMANDED)),
    }
)

_AUDITS: Final[Mapping[str, Mapping[str, Shape]]] = {
    "output_caching": {"threshold": number(CHANCE)},
    "osl_range": {"min": number(NOT_NEGATIVE), "max": number(NOT_NEGATIVE)},
    "token_count": {"tolerance": number(SHARE)},
    "perf_mode_accuracy": {"metric": text(), "min": number()},
    "seed_match": {},
    "config_locked": {},
    "salt": {},
}
AUDIT: Final = items(
    either(
        scalar=choice(tuple(_AUDITS)),
        mapping=keys(
            {
                name: either(
                    mapping=keys({**shapes, "test": text()}),
                    sequence=items(number(NOT_NEGATIVE)) if name == "osl_range" else None,
                )
                for name, shapes in _AUDITS.items()
            }
        ),
    )
)
"""Names, or names with parameters: {osl_range: [1, 2]}. `test` names MLPerf's test that it stands for."""

_STEADY_STATE: Final = keys({"required": truth(), "min_blocks": whole(COUNT), "max_drift": number(POSITIVE)})

_BASELINE: Final = keys(
    {
        "ref": text(),
        "test": choice(("mann_whitney", "bootstrap", "tost")),
        "alpha": number(CHANCE),
        "min_runs": whole(COUNT),
        "min_effect": number(SHARE),
        "metrics": named(choice(("higher", "lower")), "a metric"),
    }
)

_RATES: Final = tuple(
    name for name, metric in METRICS.items() if metric.kind in {"throughput", "interactivity"}
)
_AXIS_METRIC: Final = choice(
    (*_RATES, *(alias for alias, meant in METRIC_ALIASES.items() if meant in _RATES))
)
_AXIS: Final = either(
    scalar=_AXIS_METRIC,
    mapping=keys(
        {
            "metric": _AXIS_METRIC,
            "stat": written(
                rf"(mean|min|max|{'|'.join(STAT_ALIASES)}|{PERCENTILE.pattern})", "a statistic: p90"
            ),
            "tokens": choice(("input_plus_output", "output")),
        },
        required=("metric",),
    ),
)
REGIONS: Final = ("ultra_low", "low", "medium", "high", "offline")
_SWEEP: Final = keys(
    {
        "points": keys(
            {
                "min": whole(COUNT),
                "max": whole(COUNT),
                "regions": choice(("mlperf_endpoints", "none")),
                "require": items(
                    keys({"region": choice(REGIONS), "min": whole(COUNT)}, required=("region", "min")),
                    least=1,
                ),
            }
        ),
        "pareto": keys(
            {"x": _AXIS, "y": _AXIS, "interpolation": choice(("none",)), "must_dominate": text()},
            required=("x", "y"),
        ),
        "search": keys(
            {
                "maximise": choice(("rate", "concurrency")),
                "subject_to": choice(("targets",)),
                "tolerance": number(CHANCE),
            }
        ),
        "checks": items(either(scalar=choice(CHECKS), mapping=keys(dict.fromkeys(CHECKS, free()))), least=1),
    }
)

_NOTES: Final = {"notes": texts()}
_OF_BOTH: Final[Mapping[str, Shape]] = {"dataset": _DATASET, "generation": _GENERATION, "accuracy": ACCURACY}
"""What a model and each of its scenarios can say."""
DEMANDS: Final[Mapping[str, Shape]] = {
    "targets": TARGETS,
    "validity": _VALIDITY,
    "load": _LOAD,
    "goodput": GOODPUT,
    "options": keys({"set": named(scalar(), "an option"), "free": texts()}),
    **_OF_BOTH,
    "audit": AUDIT,
    "drop": items(text(), least=1),
}
"""What a scenario can say, and a flat file at its top."""
FLAT: Final = tuple(name for name in DEMANDS if name != "audit")
"""What cannot be at the top level next to models."""

_SCENARIO: Final = keys({**DEMANDS, **_NOTES})
_MODEL: Final = keys(
    {"aliases": texts(), **_OF_BOTH, "scenarios": named(_SCENARIO, "a scenario"), **_NOTES},
)

_HEAD: Final = keys(
    {"name": text(), "version": text(), "extends": text(), "source": texts(), "locked": truth(), **_NOTES},
    required=("name", "version"),
)
_SCHEMA_TEXT: Final = Shape(text().read, {"const": SCHEMA})

WHOLE: Final = keys(
    {
        "schema": _SCHEMA_TEXT,
        "ruleset": _HEAD,
        **DEMANDS,
        "models": named(_MODEL, "a model"),
        "definitions": _DEFINITIONS,
        "seeds": keys(dict.fromkeys(("sample_index", "schedule", "model", "qsl"), whole(SEED))),
        "steady_state": _STEADY_STATE,
        "baseline": _BASELINE,
        "sweep": _SWEEP,
        "power": keys({"source": choice(("nvml", "wall", "provisioned", "none")), "required": truth()}),
        "report": keys(
            {"junit": truth(), "github_annotations": truth(), "keys": choice(("native", "mlperf_endpoints"))}
        ),
    },
    required=("schema", "ruleset"),
)
"""A whole file."""
