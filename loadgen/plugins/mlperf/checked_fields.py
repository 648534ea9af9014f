"""The fields of an endpoints run that the submission checker of MLPerf Inference v6.1 reads.

mlcommons/inference@b66003e1:tools/submission/submission_checker/constants.py (ENDPOINTS_MAPPINGS,
ENDPOINTS_YAML_FIELD_MAP, ENDPOINTS_JSON_ALT_PATHS) and parsers/endpoints_parser.py next to it. docs/mlperf.md
has the list with the meaning of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.plugins.mlperf.result_summary import share
from rulesets.statistics.early_stopping import n_min

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CONFIG: Final = "config.yaml"
SUMMARY: Final = "performance/result_summary.json"
ACCURACY: Final = "accuracy/accuracy_results.json"

_READ: Final = ("50.0", "90.0", "95.0", "99.0", "99.9")
_GATED: Final = ("90.0", "99.0")


UNKNOWN: Final[Mapping[str, str]] = {
    "endpoints_git_commit_date": "no commit of mlcommons/endpoints measured this run",
    "endpoints_git_commit_hash": "no commit of mlcommons/endpoints measured this run",
    "effective_target_latency_ns": "the bounds of an LLM are the round's, not the run's",
    "effective_target_latency_percentile": "the bounds of an LLM are the round's, not the run's",
}
"""What is read, too, and no run of this program says."""


@dataclass(frozen=True, slots=True)
class Key:
    """One thing that is read.

    Attributes:
        lacks: Why a run may not have it.
        needed: Whether a check, or a result, stands on it; of the others the checker takes note at most.
    """

    file: str
    path: tuple[str, ...]
    lacks: str = "the log does not say"
    needed: bool = True

    @property
    def name(self) -> str:
        """The path with dots, as written by the checker."""
        return ".".join(self.path)


def _latency(name: str, lacks: str) -> tuple[Key, ...]:
    return (
        *(Key(SUMMARY, (name, figure), lacks) for figure in ("min", "max", "avg")),
        *(
            Key(
                SUMMARY,
                (name, "early_stopping_percentiles", percentile),
                f"{lacks}, or fewer than {n_min(1, share(percentile)):,} are there, or too many failed",
                needed=percentile in _GATED,
            )
            for percentile in _READ
        ),
    )


KEYS: Final = (
    Key(CONFIG, ("version",)),
    Key(CONFIG, ("type",)),
    Key(CONFIG, ("model_params", "streaming")),
    Key(CONFIG, ("settings", "load_pattern", "type")),
    Key(CONFIG, ("settings", "load_pattern", "target_qps"), "the load has no rate", needed=False),
    Key(CONFIG, ("settings", "runtime", "min_duration_ms")),
    Key(CONFIG, ("settings", "runtime", "max_duration_ms")),
    Key(CONFIG, ("settings", "runtime", "n_samples_to_issue"), "no number was given", needed=False),
    Key(CONFIG, ("settings", "runtime", "dataloader_random_seed")),
    Key(CONFIG, ("settings", "runtime", "scheduler_random_seed")),
    Key(SUMMARY, ("test_started_at",)),
    Key(SUMMARY, ("mode",)),
    Key(SUMMARY, ("n_samples_issued",)),
    Key(SUMMARY, ("n_samples_from_dataset",)),
    Key(SUMMARY, ("n_samples_completed",)),
    Key(SUMMARY, ("n_samples_failed",)),
    Key(SUMMARY, ("duration_ns",), "nothing completed"),
    Key(SUMMARY, ("qps",), "too little completed"),
    Key(SUMMARY, ("tps",), "outputs have no token counts: --tokenizer NAME"),
    Key(SUMMARY, ("effective_target_duration_ms",), "no duration was given", needed=False),
    Key(SUMMARY, ("effective_sample_concatenate_permutation",)),
    Key(SUMMARY, ("effective_samples_per_query",)),
    Key(SUMMARY, ("result_scheduled_samples_per_sec",), "the load has no schedule", needed=False),
    *_latency("latency", "no request completed"),
    *_latency("ttft", "no answer was streamed"),
    *_latency("tpot", "no answer has two tokens that were streamed"),
    *(
        Key(SUMMARY, ("output_sequence_lengths", figure), "outputs have no token counts: --tokenizer NAME")
        for figure in ("min", "max", "avg")
    ),
)
"""All that a run can say; one that says nothing of something has None there, or no such member."""


def missing_keys(files: Mapping[str, Mapping[str, Any]]) -> Mapping[tuple[str, str], Sequence[str]]:
    """The keys that a submission stands on and files have no value for, by file and reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for key in KEYS:
        if key.needed and value_of(files[key.file], key.path) is None:
            reasons.setdefault((key.file, key.lacks), []).append(key.name)
    return reasons


def value_of(content: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """The value at a path; None if absent."""
    value: Any = content
    for member in path:
        value = value.get(member) if isinstance(value, dict) else None
    return value
