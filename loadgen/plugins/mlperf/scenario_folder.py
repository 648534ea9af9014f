"""One run as a scenario folder for the submission checker of MLPerf Inference v6.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.mlperf.accuracy_results import accuracy_results, headlines
from loadgen.plugins.mlperf.bundle import Bundle
from loadgen.plugins.mlperf.measuring import LOADGEN, basis_of, counted_otherwise, measuring
from loadgen.sessions.files.plain_files import as_json, as_yaml
from loadgen.sessions.files.run_folder import model_folder
from loadgen.sessions.gating.given_inputs import audits_in, scores_of
from loadgen.sessions.series.audit.output_caching import RECORD, TEST, VERIFIED, verified
from reporter.values.task_score import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadgen.plugins.mlperf.measuring import MeasuredRun
    from loadgen.sessions.settings.export import ExportSettings
    from reporter.tokens import Tokenizer

_AUDITED: Final = frozenset({"wan-2.2-t2v-a14b"})
"""The models whose runs of mlcommons/endpoints the checker wants audited for output caching.

mlcommons/inference@b66003e1:tools/submission/submission_checker/constants.py (models_TEST04,
ENDPOINTS_ALLOWED_MODELS) and checks/compliance_check.py (endpoint_audit_file_required).
"""

_OF_THE_SUBMITTER: Final = (
    "systems/SYSTEM.json: a description of the system",
    "measurements.json and README.md next to config.yaml: how the system was set up",
    "src/: the serving software",
)
"""What the checker reads, and only the submitter can write."""


def bundle_of(settings: ExportSettings, tokenizer: Tokenizer | None) -> Bundle:
    """The files of a run.

    Raises:
        LogError: The run cannot be read.
        UsageError: A file that an option names cannot be read.
        RulesetError: The ruleset does not exist.
    """
    from loadgen.plugins.mlperf.checked_fields import ACCURACY, CONFIG, SUMMARY, missing_keys
    from loadgen.plugins.mlperf.config_yaml import config
    from loadgen.plugins.mlperf.result_summary import result_summary
    from rulesets.scores import named

    basis = basis_of(settings.ruleset or LOADGEN, tokenizer)
    scores = scores_of(settings.accuracy)
    audit = audits_in(settings.audit).get("output_caching")
    with measuring(settings.run, basis) as run:
        contents: dict[str, Mapping[str, Any]] = {
            CONFIG: config(run.report, run.settings),
            SUMMARY: result_summary(run.log, run.report, run.evidence, run.settings),
        }
    scores = headlines(scores or named(plain(run.report.accuracy)))
    missing = [f"{file}: {', '.join(names)}: {why}" for (file, why), names in missing_keys(contents).items()]
    if scores:
        contents[ACCURACY] = accuracy_results(scores, (run.settings.get("dataset") or {}).get("name"))
    files = {name: (as_yaml if name == CONFIG else as_json)(content) for name, content in contents.items()}
    if audit is not None:
        files[RECORD] = as_json({**audit, "test": TEST})
        files[VERIFIED] = verified(passed=audit["passed"])
    return Bundle(
        files,
        {"ruleset": basis.name, "run": run.report.run.session_id, "model": run.settings.get("model")},
        [*basis.unmet, *missing, *_unmeasured(run, scores=bool(scores), audit=audit is not None)],
        [*run.report.validity.reasons, *run.report.validity.latency_reasons],
    )


def _unmeasured(run: MeasuredRun, *, scores: bool, audit: bool) -> Iterator[str]:
    from loadgen.plugins.mlperf.checked_fields import ACCURACY

    if not scores:
        yield f"{ACCURACY}: nothing was scored: --accuracy RUN|FILE"
    if not audit and model_folder(str(run.settings.get("model") or "")).lower() in _AUDITED:
        yield f"{RECORD}: required for this model: loadgen audit output-caching, then --audit FOLDER"
    yield from counted_otherwise(run)
    if run.report.run.ended != "completed":
        yield f"an end in order: the run ended as {run.report.run.ended}"
    yield from _OF_THE_SUBMITTER
