"""The options of `loadgen export`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.option import Argument, Option
from loadgen.sessions.settings.prices import Prices
from loadgen.sessions.settings.tokenizer import Tokenizer

FORMATS: Final = "Formats (one per command)"
OF_SAMPLES: Final = "With --samples"
OF_MLPERF: Final = "With --mlperf-endpoints"


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportSettings:
    """The options of `loadgen export`, one per field."""

    run: Annotated[
        Path,
        Argument(help="The run's folder, or its events.db; or the folder of a sweep.", show_default=False),
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
    mlperf_endpoints: Annotated[
        Path | None,
        Option(
            metavar="FOLDER",
            help="Write the files that MLPerf's submission checkers read for mlcommons/endpoints: of a run "
            "the folder of its scenario, of a sweep the points of its curve.",
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

    ruleset: Annotated[
        str | None,
        Option(
            metavar="NAME|FILE",
            help="The ruleset whose definitions are used. Default: mlperf-inference@v6.1; of a sweep "
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
            help="Of a sweep: a YAML or JSON file with what only the submitter knows: system, system_desc, "
            "system_power, point, points.",
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
