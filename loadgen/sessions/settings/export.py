"""The options of `loadgen export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.option import GENERAL, Argument, OptionValueError, Panel
from loadgen.sessions.settings.price_options import Prices
from loadgen.sessions.settings.tokenizer_options import Tokenizer
from workloads.errors import did_you_mean

FORMATS: Final = Panel("Formats (one per command)")
OF_SAMPLES: Final = Panel("With --samples, --episodes")
OF_TRACKERS: Final = Panel("With --to")
OF_MLPERF: Final = Panel("With --mlperf-endpoints")


def tracker_name(value: str) -> str:
    """Read the name of an experiment tracker, which may be another package's."""
    from workloads.registry import entries

    names = entries("trackers")
    if value not in names:
        raise OptionValueError(
            f"{value!r} is not a tracker{did_you_mean(value, names)}; choose from {', '.join(names)}"
        )
    return value


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportSettings:
    """The options of `loadgen export`, one per field."""

    run: Annotated[
        Path,
        Argument(help="The run's folder or events.db; or the folder of a sweep.", show_default=False),
    ]

    samples: Path | None = FORMATS.option(
        "Write the results per sample, one row per request: texts, latencies, tokens, scores, cost. The "
        "file's ending is the format: .jsonl, .csv or .parquet.",
        metavar="FILE",
    )
    episodes: Path | None = FORMATS.option(
        "Write the results per episode of agents: ending, scores, times, turns, tokens, cost. The file's "
        "ending is the format: .jsonl, .csv or .parquet.",
        metavar="FILE",
    )
    perfetto: Path | None = FORMATS.option(
        "Write a trace for ui.perfetto.dev: a track per stream, prefill, decode, every chunk; counters. "
        "Compressed if FILE ends in .gz.",
        metavar="FILE",
    )
    parquet: Path | None = FORMATS.option(
        "Write samples.parquet (as --samples), events.parquet and chunks.parquet.", metavar="FOLDER"
    )
    vllm_json: Path | None = FORMATS.option(
        "Write the result file of vllm bench serve --save-detailed, which tools of vLLM and SGLang read.",
        metavar="FILE",
    )
    benchmark_report: Path | None = FORMATS.option(
        "Write a Benchmark Report v0.2.1, as of llm-d. JSON if FILE ends in .json, else YAML.",
        metavar="FILE",
    )
    inferencex: Path | None = FORMATS.option(
        "Write a result row of InferenceX (JSON) with the declarations of --about.", metavar="FILE"
    )
    openmetrics: Path | None = FORMATS.option(
        "Write the figures as OpenMetrics text for Prometheus.", metavar="FILE|-"
    )
    push_gateway: str | None = FORMATS.option("Push the figures to a Prometheus Pushgateway.", metavar="URL")
    otlp: str | None = FORMATS.option(
        "Send spans and metrics to a collector of OpenTelemetry by OTLP over HTTP, for instance "
        "http://localhost:4318.",
        metavar="URL",
    )
    to: str | None = FORMATS.option(
        "Publish the figures to an experiment tracker: wandb (Weights & Biases), mlflow, or sheets "
        "(Google Sheets).",
        metavar="TRACKER",
        parser=tracker_name,
    )
    mlperf_endpoints: Path | None = FORMATS.option(
        "Write the files of a submission to MLPerf (mlcommons/endpoints): the scenario's folder, or the "
        "points of a sweep.",
        metavar="FOLDER",
    )

    texts: bool = OF_SAMPLES.option(
        "Write prompts, outputs and references as well; also with --parquet, --vllm-json.",
        True,
        "--texts/--no-texts",
    )
    raw: bool = OF_SAMPLES.switch("CSV: keep texts that a spreadsheet would take for formulas.")
    prices: Prices = None
    scoring_pass: int | None = OF_SAMPLES.option(
        "The scores of that scoring pass, not the last one.", flags="--pass"
    )

    project: str | None = OF_TRACKERS.option(
        "The project of W&B, the experiment of MLflow. Default: loadgen.", metavar="NAME"
    )
    entity: str | None = OF_TRACKERS.option("W&B: the team or user.", metavar="NAME")
    group: str | None = OF_TRACKERS.option("W&B, MLflow: the group of the run.", metavar="NAME")
    tag: list[str] = OF_TRACKERS.option("W&B, MLflow: a tag of the run; repeatable.", [], metavar="NAME")
    name: str | None = OF_TRACKERS.option(
        "Name of the run in the tracker. Default: model, load, time.", metavar="NAME"
    )
    spreadsheet: str | None = OF_TRACKERS.option("Sheets: the spreadsheet, as in its URL.", metavar="ID")
    worksheet: str = OF_TRACKERS.option(
        "Sheets: the worksheet, created if missing.", "Results", metavar="TITLE"
    )
    credentials: Path | None = OF_TRACKERS.option(
        "Sheets: the key file of a service account that may edit the spreadsheet.", metavar="FILE"
    )

    ruleset: str | None = OF_MLPERF.option(
        "Ruleset with the definitions to use. Default: mlperf-inference@v6.1; for a sweep "
        "mlperf-endpoints@v1.0.",
        metavar="NAME|FILE",
    )
    accuracy: Path | None = OF_MLPERF.option(
        "The run that was scored, or a JSON file of scores; of a sweep, a JSON file with the scores of "
        "single points.",
        metavar="RUN|FILE",
    )
    audit: Path | None = OF_MLPERF.option("The result of loadgen audit output-caching.", metavar="FOLDER")
    about: Path | None = OF_MLPERF.option(
        "For a sweep: a YAML or JSON file with the submitter's declarations: system, system_desc, "
        "system_power, point, points. With --benchmark-report: run, scenario. With --inferencex: hw, image …",
        metavar="FILE",
    )

    job: str = GENERAL.option("With --push-gateway: the job.", "loadgen", metavar="NAME")
    tokenizer: Tokenizer = None
    force: bool = GENERAL.switch("Overwrite the file, or any files in the folder.")
    json: Json = False
