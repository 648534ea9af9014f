"""The options of `loadgen export`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.option import Argument, Option
from loadgen.sessions.settings.prices import Prices
from loadgen.sessions.settings.tokenizer import Tokenizer

FORMATS: Final = "Formats (one per command)"
OF_SAMPLES: Final = "With --samples, --episodes"
OF_TRACKERS: Final = "With --to"
OF_MLPERF: Final = "With --mlperf-endpoints"


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportSettings:
    """The options of `loadgen export`, one per field."""

    run: Annotated[
        Path,
        Argument(help="The run's folder or events.db; or the folder of a sweep.", show_default=False),
    ]

    samples: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Write the results per sample, one row per request: texts, latencies, tokens, scores, cost. "
            "The file's ending is the format: .jsonl, .csv or .parquet.",
            show_default=False,
            panel=FORMATS,
        ),
    ] = None
    episodes: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Write the results per episode of agents: ending, scores, times, turns, tokens, cost. The "
            "file's ending is the format: .jsonl, .csv or .parquet.",
            show_default=False,
            panel=FORMATS,
        ),
    ] = None
    perfetto: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Write a trace for ui.perfetto.dev: a track per stream, prefill, decode, every chunk; "
            "counters. Compressed if FILE ends in .gz.",
            show_default=False,
            panel=FORMATS,
        ),
    ] = None
    parquet: Annotated[
        Path | None,
        Option(
            metavar="FOLDER",
            help="Write samples.parquet (as --samples), events.parquet and chunks.parquet.",
            show_default=False,
            panel=FORMATS,
        ),
    ] = None
    vllm_json: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Write the result file of vllm bench serve --save-detailed, which tools of vLLM and SGLang "
            "read.",
            show_default=False,
            panel=FORMATS,
        ),
    ] = None
    openmetrics: Annotated[
        Path | None,
        Option(
            metavar="FILE|-",
            help="Write the figures as OpenMetrics text for Prometheus.",
            show_default=False,
            panel=FORMATS,
        ),
    ] = None
    push_gateway: Annotated[
        str | None,
        Option(
            metavar="URL",
            help="Push the figures to a Prometheus Pushgateway.",
            show_default=False,
            panel=FORMATS,
        ),
    ] = None
    otlp: Annotated[
        str | None,
        Option(
            metavar="URL",
            help="Send spans and metrics to a collector of OpenTelemetry by OTLP over HTTP, for instance "
            "http://localhost:4318.",
            show_default=False,
            panel=FORMATS,
        ),
    ] = None
    to: Annotated[
        Literal["wandb", "mlflow", "sheets"] | None,
        Option(
            metavar="TRACKER",
            help="Publish the figures to an experiment tracker: wandb (Weights & Biases), mlflow, or sheets "
            "(Google Sheets).",
            show_default=False,
            panel=FORMATS,
        ),
    ] = None
    mlperf_endpoints: Annotated[
        Path | None,
        Option(
            metavar="FOLDER",
            help="Write the files of a submission to MLPerf (mlcommons/endpoints): the scenario's folder, or "
            "the points of a sweep.",
            show_default=False,
            panel=FORMATS,
        ),
    ] = None

    texts: Annotated[
        bool,
        Option(
            "--texts/--no-texts",
            help="Write prompts, outputs and references as well; also with --parquet, --vllm-json.",
            panel=OF_SAMPLES,
        ),
    ] = True
    raw: Annotated[
        bool,
        Option(
            "--raw",
            help="CSV: keep texts that a spreadsheet would take for formulas.",
            panel=OF_SAMPLES,
        ),
    ] = False
    prices: Prices = None
    scoring_pass: Annotated[
        int | None,
        Option(
            "--pass",
            metavar="N",
            help="The scores of that scoring pass, not the last one.",
            panel=OF_SAMPLES,
        ),
    ] = None

    project: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="The project of W&B, the experiment of MLflow. Default: loadgen.",
            show_default=False,
            panel=OF_TRACKERS,
        ),
    ] = None
    entity: Annotated[
        str | None,
        Option(metavar="NAME", help="W&B: the team or user.", show_default=False, panel=OF_TRACKERS),
    ] = None
    group: Annotated[
        str | None,
        Option(
            metavar="NAME", help="W&B, MLflow: the group of the run.", show_default=False, panel=OF_TRACKERS
        ),
    ] = None
    tag: Annotated[
        list[str],
        Option(metavar="NAME", help="W&B, MLflow: a tag of the run; repeatable.", panel=OF_TRACKERS),
    ] = field(default_factory=list)
    name: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Name of the run in the tracker. Default: model, load, time.",
            show_default=False,
            panel=OF_TRACKERS,
        ),
    ] = None
    spreadsheet: Annotated[
        str | None,
        Option(
            metavar="ID",
            help="Sheets: the spreadsheet, as in its URL.",
            show_default=False,
            panel=OF_TRACKERS,
        ),
    ] = None
    worksheet: Annotated[
        str,
        Option(
            metavar="TITLE",
            help="Sheets: the worksheet, created if missing.",
            panel=OF_TRACKERS,
        ),
    ] = "Results"
    credentials: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Sheets: the key file of a service account that may edit the spreadsheet.",
            show_default=False,
            panel=OF_TRACKERS,
        ),
    ] = None

    ruleset: Annotated[
        str | None,
        Option(
            metavar="NAME|FILE",
            help="Ruleset with the definitions to use. Default: mlperf-inference@v6.1; for a sweep "
            "mlperf-endpoints@v1.0.",
            show_default=False,
            panel=OF_MLPERF,
        ),
    ] = None
    accuracy: Annotated[
        Path | None,
        Option(
            metavar="RUN|FILE",
            help="The run that was scored, or a JSON file of scores; of a sweep, a JSON file with the scores "
            "of single points.",
            panel=OF_MLPERF,
        ),
    ] = None
    audit: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="The result of loadgen audit output-caching.", panel=OF_MLPERF),
    ] = None
    about: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="For a sweep: a YAML or JSON file with the submitter's declarations: system, "
            "system_desc, system_power, point, points.",
            panel=OF_MLPERF,
        ),
    ] = None

    job: Annotated[
        str,
        Option(metavar="NAME", help="With --push-gateway: the job.", show_default=True),
    ] = "loadgen"
    tokenizer: Tokenizer = None
    force: Annotated[bool, Option("--force", help="Overwrite the file, or any files in the folder.")] = False
    json: Json = False
