"""The demands of a ruleset on a run in addition to targets. None and empty values demand nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping

DEMANDED: Final = (
    *("max_error_rate", "min_samples", "min_duration_s", "dataset_multiple", "min_passes", "streaming"),
    *("min_samples_per_concurrency", "warmup_per_concurrency"),
    *(
        OF_SESSIONS := (
            "min_sessions",
            "min_sessions_per_concurrency",
            "min_coverage",
            "max_context_overflow_rate",
        )
    ),
)
"""What a run can be asked to have, by the keys of `validity`."""

Pattern = Literal["poisson", "constant", "concurrency", "closed_loop", "all_at_once", "burst"]
"""How requests arrive. `closed_loop` is one in flight unless a concurrency is set, `all_at_once` offline."""


Method = Literal[
    "early_stopping",
    "effective",
    "order_stat",
    "wilson",
    "batch_means",
    "bootstrap",
    "normal",
    "mann_whitney",
]
Form = Literal["test", "estimate"]
Side = Literal["upper", "lower"]


@dataclass(frozen=True, slots=True)
class LoadDemand:
    """The load that a scenario prescribes.

    Attributes:
        rate: In req/s.
        concurrency: `min` and `max`, or the points of a sweep as `from`, `to` and `factor`.
        others: What else the rules say of it and nothing here checks: lengths, `ignore_eos`, samples a query.
    """

    pattern: Pattern
    rate: float | None = None
    concurrency: Mapping[str, int] = field(default_factory=dict)
    others: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ValidityDemand:
    """The demands on a run's validity.

    Attributes:
        max_error_rate: The greatest share of failed requests among those that ended, 0 to below 1.
        min_duration_s: The shortest span of issuing, in seconds.
        dataset_multiple: Whether whole passes over the dataset must have been issued.
        streaming: `required` where answers must be streamed.
        min_samples_per_concurrency: Completed requests for each place of the concurrency.
        warmup_per_concurrency: Warm-up requests for each.
        min_sessions: Completed sessions; `min_sessions_per_concurrency`, for each place of the concurrency.
        min_coverage: The least share of the duration up to the last TTFT, and to the last request with ITL.
        max_context_overflow_rate: The greatest share of answers that say that the context is too long.
        warn: Those of the above whose violation is a warning, and leaves the run valid.
    """

    max_error_rate: float | None = None
    min_samples: int | None = None
    min_duration_s: float | None = None
    dataset_multiple: bool = False
    min_passes: int | None = None
    streaming: Literal["required", "any"] = "any"
    min_samples_per_concurrency: int | None = None
    warmup_per_concurrency: int | None = None
    min_sessions: int | None = None
    min_sessions_per_concurrency: int | None = None
    min_coverage: float | None = None
    max_context_overflow_rate: float | None = None
    warn: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DatasetDemand:
    """The demands on the questions asked.

    Attributes:
        sha256: Of its content; empty where the rules name none.
    """

    name: str = ""
    perf_samples: int | None = None
    acc_samples: int | None = None
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class GenerationDemand:
    """The demands on the settings of each request.

    Attributes:
        settings: `max_new_tokens`, `temperature`, `top_p`, `reasoning_effort`…; a mapping with `performance`
            and `accuracy` where the two kinds of run differ.
        locked: Whether a run that asks for something else is invalid.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    locked: bool = False


@dataclass(frozen=True, slots=True)
class OptionsDemand:
    """The demands on the options of `loadgen perf` that a run was started with.

    Attributes:
        set: The values that options must have, by name.
        free: The options that may have any value; all that are neither here nor in `set` must have their
            default. None leaves the others alone.
    """

    set: Mapping[str, Any] = field(default_factory=dict)
    free: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class AuditDemand:
    """A check of the run's integrity.

    Attributes:
        parameters: `min` and `max` of `osl_range`; `metric` and `min` of `perf_mode_accuracy`;
            `threshold` of `output_caching`; `tolerance` of `token_count`.
    """

    name: Literal[
        "output_caching",
        "osl_range",
        "token_count",
        "perf_mode_accuracy",
        "seed_match",
        "config_locked",
        "salt",
    ]
    parameters: Mapping[str, Any] = field(default_factory=dict)


TOLERANCES: Final[Mapping[str, Mapping[str, float]]] = {
    "output_caching": {"threshold": 0.1},
    "token_count": {"tolerance": 0.01},
}
"""Default parameters of audits, as shares: by this much a server may be faster when one prompt
is repeated (mlcommons/endpoints, output_caching_test), and its count of tokens differ from a tokenizer's."""


@dataclass(frozen=True, slots=True)
class SteadyStateDemand:
    """The demands on the steady state of a run.

    Attributes:
        max_drift: The greatest change of a figure from its start to its end, as a share of the mean.
    """

    required: bool = False
    min_blocks: int | None = None
    max_drift: float | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """The reference run, and the difference that matters.

    Attributes:
        ref: A run, its report, or a folder of runs; empty where it is given on use.
        alpha: The chance of a false alarm.
        min_effect: A change by less than this share does not count.
        metrics: `tps` or `ttft.p95`, and whether `higher` or `lower` is better.
    """

    ref: str = ""
    test: Literal["mann_whitney", "bootstrap", "tost"] = "mann_whitney"
    alpha: float = 0.05
    min_runs: int = 5
    min_effect: float = 0.03
    metrics: Mapping[str, Literal["higher", "lower"]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sweep:
    """Rules over several runs, as in the file; `rulesets.sweeps` evaluates the rules.

    Attributes:
        points: `min`, `max`, `regions`, `require`.
        pareto: `x`, `y`, `interpolation`, `must_dominate`.
        search: `maximise`, `subject_to`, `tolerance`.
        checks: Each by its name, with its parameters.
    """

    points: Mapping[str, Any] = field(default_factory=dict)
    pareto: Mapping[str, Any] = field(default_factory=dict)
    search: Mapping[str, Any] = field(default_factory=dict)
    checks: tuple[tuple[str, Any], ...] = ()


CHECKS: Final = (
    "offline_tps_at_least",
    "offline_concurrency_at_least",
    "tps_per_user_consistency",
    "config_identical",
    "accuracy_per_region",
)
"""The checks of a sweep that there are."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """The proof that a target asks for beyond the figure alone.

    Attributes:
        method: `effective`, `order_stat` and `early_stopping` for percentiles, `batch_means` and `bootstrap`
            for rates and means, `wilson` for shares and for scores that are one, `normal` for
            scores (by their standard error), `mann_whitney` for the change from a baseline.
        level: The confidence, 0.5 to below 1; for `mann_whitney` 1 - alpha.
        form: Of early stopping: whether the number over the bound is tested, or the figure estimated. They
            differ: docs/statistics.md.
        side: Which limit must meet the bound: `upper` for what is bounded above, else `lower`. None for
            early stopping and for a test.
    """

    method: Method
    level: float
    form: Form | None = None
    side: Side | None = None
