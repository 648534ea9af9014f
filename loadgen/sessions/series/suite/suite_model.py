"""The format of a suite's file, as a pydantic model that the JSON schema for editors is made of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import orjson
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    create_model,
    model_validator,
)

from loadgen.sessions.series.suite.layers import options
from loadgen.sessions.settings.file_values import read_value, value_schema
from loadgen.sessions.settings.kinds import seconds

_TIME: Final = {"type": ["number", "string"]}


def _with_hyphens(schema: dict[str, Any]) -> None:
    """Let editors accept keys with `-`, while offering keys with `_`."""
    names = [name for name in schema.get("properties", {}) if "_" in name]
    if names:
        spelled = "|".join(name.replace("_", "[-_]") for name in sorted(names))
        schema["patternProperties"] = {f"^({spelled})$": {}}


def _time(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"must be a time such as 30, 30s or 2m, not {value!r}")  # noqa: TRY004 (pydantic's way)
    return seconds(str(value))


def _reads(name: str) -> BeforeValidator:
    return BeforeValidator(partial(read_value, options()[name]))


Name = Annotated[
    str,
    StringConstraints(
        strict=True, min_length=1, max_length=100, pattern=r"^[^\s\x00-\x1f]([^\x00-\x1f]*[^\s\x00-\x1f])?$"
    ),
]
Text = Annotated[str, StringConstraints(strict=True, min_length=1, pattern=r"^[^\x00]+$")]
Variable = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Targets = Annotated[
    list[str],
    _reads("require"),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
Skipped = Annotated[
    list[str],
    _reads("skip"),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
Ends = Annotated[
    Any,
    _reads("inconclusive"),
    WithJsonSchema({"enum": ["pass", "fail", "5", 5]}),
]
Users = Annotated[
    Any,
    _reads("concurrency"),
    WithJsonSchema(value_schema(options()["concurrency"])),
]
Seed = Annotated[Any, _reads("seed"), WithJsonSchema(value_schema(options()["seed"]))]
Warmup = Annotated[Any, _reads("warmup"), WithJsonSchema(value_schema(options()["warmup"]))]
Turns = Annotated[Any, _reads("max_turns"), WithJsonSchema(value_schema(options()["max_turns"]))]
Time = Annotated[float, BeforeValidator(_time), WithJsonSchema(_TIME)]
Line = Annotated[str, StringConstraints(strict=True, pattern=r"^[^\x00-\x1f]*$")]
Tags = Annotated[
    list[str],
    BeforeValidator(lambda value: value.split(",") if isinstance(value, str) else value),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


def _gpus(value: object) -> list[str]:
    """The sources of GPU telemetry: true means NVML, false nothing."""
    if isinstance(value, bool):
        return ["nvml"] if value else []
    read: list[str] = read_value(options()["gpu_metrics"], value)
    return read


Gpus = Annotated[
    list[str],
    BeforeValidator(_gpus),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, value_schema(options()["gpu_metrics"])]}),
]


SYNONYMS: Final[Mapping[str, str]] = {
    "max_workers": "concurrency",
    "warmup_samples": "warmup",
    "max_samples": "samples",
    "num_gpus": "gpus",
    "output_dir": "out",
}
"""Other tools' names of keys with the same meaning: accepted in every table that has the key."""


def _with_synonyms(schema: dict[str, Any]) -> None:
    """Let editors accept the names of other tools too."""
    properties = schema.get("properties", {})
    for name, meant in SYNONYMS.items():
        if meant in properties:
            properties[name] = dict(properties[meant])
    _with_hyphens(schema)


class SuiteTable(BaseModel):
    """Keys and values; a key is written with `_` or with `-`."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_with_synonyms)

    @model_validator(mode="before")
    @classmethod
    def _with_underscores(cls, table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        names = [str(key).replace("-", "_") for key in table]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{twice[0]} is there twice, with - and with _")
        keys = [SYNONYMS[name] if SYNONYMS.get(name) in cls.model_fields else name for name in names]
        if both := sorted({key for key in keys if keys.count(key) > 1}):
            names_used = [name for name, key in zip(names, keys, strict=True) if key == both[0]]
            raise ValueError(f"{' and '.join(names_used)} mean the same: give it once, as {both[0]}")
        return dict(zip(keys, table.values(), strict=True))


OF_RUNS: Final = frozenset({"concurrency", "seed", "warmup", "max_turns"})
"""Options of runs that `[run]` takes too."""


class Meta(SuiteTable):
    """The suite's name and purpose."""

    name: Name = Field(default="", description="A part of the folder's name; the file's name without it.")
    description: Text = Field(default="", description="A sentence: its purpose.")


class RunTable(SuiteTable):
    """The order of the runs, and the output folder."""

    out: Text = Field(
        default="",
        description="The folder of all runs, from the file's folder; runs/<time>-<name> without it.",
    )
    cooldown: Time = Field(default=0.0, description="The pause between two runs: 30, 30s, 2m.")
    repeat: int = Field(default=1, strict=True, ge=1, le=1000, description="Repeat each run N times in all.")
    stop_on_failure: StrictBool = Field(
        default=False, description="End the suite after a run that is invalid or misses a requirement."
    )
    concurrency: Users = Field(
        default=None, description="Requests in flight of the runs for which no other table has a load."
    )
    seed: Seed = Field(default=None, description="As in [defaults], which overrides it.")
    warmup: Warmup = Field(default=None, description="As in [defaults], which overrides it.")
    max_turns: Turns = Field(default=None, description="The most turns of an agent's episode.")
    telemetry: StrictBool = Field(default=False, description="Record power, energy and use of the GPUs.")
    gpu_metrics: Gpus = Field(default=[], description="As in [defaults]; true is nvml.")
    energy_vendor: Literal["", "nvidia"] = Field(default="", description="Whose GPUs are read.")
    wandb_project: Line = Field(default="", description="Publish each run to W&B: the project.")
    wandb_entity: Line = Field(default="", description="W&B: the team or user.")
    wandb_group: Line = Field(default="", description="W&B: the group of the runs.")
    wandb_tags: Tags = Field(default=[], description="W&B: tags of the runs.")
    sheets_spreadsheet_id: Line = Field(
        default="", description="Add each run to a spreadsheet of Google Sheets: its id in the URL."
    )
    sheets_worksheet: Text = Field(default="Results", description="Sheets: the worksheet.")
    sheets_credentials_path: Line = Field(
        default="", description="Sheets: the key file of a service account, from the file's folder."
    )

    def options(self) -> dict[str, Any]:
        """The options of runs in the table."""
        own = {name: getattr(self, name) for name in sorted(self.model_fields_set & OF_RUNS)}
        own = {name: value for name, value in own.items() if value is not None}
        gpus = self.gpu_metrics or (["nvml"] if self.telemetry or self.energy_vendor else [])
        return {**own, "gpu_metrics": gpus} if gpus else own


class Options(SuiteTable):
    """Options of `loadgen perf`, and where the secrets are."""

    api_key_env: Variable = Field(default="", description="The environment variable that holds the key.")
    headers_env: dict[Text, Variable] = Field(
        default={},
        description="Further request headers: each name with the environment variable of its value.",
    )

    def values(self) -> dict[str, Any]:
        """The options of the table's runs."""
        return {name: getattr(self, name) for name in sorted(self.model_fields_set - {"name", "model"})}


class NamedModel(Options):
    """The names of a model."""

    name: Name = Field(description="Name in the matrix and in --model-filter.")
    model: Name = Field(default="", description="The endpoint's name of it; by default, its name.")


class NamedBenchmark(Options):
    """The name of a benchmark."""

    name: Name = Field(description="Name in the matrix and in --benchmark-filter.")


class NamedLoad(Options):
    """The name of a load."""

    name: Name = Field(
        default="",
        description="Name in the matrix and in --load-filter. Default: made of the options.",
    )


def _with_options(name: str, doc: str, base: type[Options]) -> type[Any]:
    declared: dict[str, Any] = {option.name: (_typed(option), None) for option in options().values()}
    return create_model(name, __base__=base, __doc__=doc, __module__=__name__, **declared)


def _typed(option: SettingField) -> Any:
    def read(value: object, info: ValidationInfo) -> Any:
        return read_value(option, value, (info.context or {}).get("folder"))

    return Annotated[Any, BeforeValidator(read), WithJsonSchema(value_schema(option))]


if TYPE_CHECKING:
    from loadgen.sessions.settings.field import SettingField

    Defaults: TypeAlias = Options
    Model: TypeAlias = NamedModel
    Benchmark: TypeAlias = NamedBenchmark
    Load: TypeAlias = NamedLoad
else:
    Defaults = _with_options("Defaults", "Options of every run; other tables override them.", Options)
    Model = _with_options("Model", "A model, where it is served, and options of its runs.", NamedModel)
    Benchmark = _with_options(
        "Benchmark",
        "The prompts, and options of the runs, which override the model's.",
        NamedBenchmark,
    )
    Load = _with_options(
        "Load",
        "The load, and options of the runs, which override the benchmark's.",
        NamedLoad,
    )


class Gate(SuiteTable):
    """The rules that every run of the suite is evaluated by."""

    require: Targets = Field(
        default=[], description="Targets, e.g. 'ttft:p(99)<500ms'; targets of other tables are added."
    )
    ruleset: Text = Field(
        default="",
        description="A built-in ruleset, NAME or NAME@VERSION, or a YAML file; other tables override it.",
    )
    scenario: Text = Field(
        default="", description="Scenario of the ruleset, [MODEL/]SCENARIO. Default: by model and load."
    )
    skip: Skipped = Field(default=[], description="Rules, or groups of them, that are left out, by id.")
    inconclusive: Ends = Field(default="5", description="The exit code of an inconclusive verdict.")


VERDICT_KEYS: Final = tuple(Gate.model_fields)
"""The keys of `[gate]`, which `[judge]` takes for one more release."""

JUDGE_KEYS: Final[Mapping[str, str]] = {
    key: f"judge_{key}" for key in ("url", "model", "temperature", "max_tokens", "concurrency", "timeout")
}
"""The keys of `[judge]`, by the options of an accuracy session that they are."""


class ExternalBackend(SuiteTable):
    """The endpoint of agents that are separate programs (`agent_command`)."""

    base_url: Text = Field(
        default="", description="URL of the endpoint; the URL in [[models]] takes precedence."
    )
    api_key_env: Variable = Field(default="", description="The environment variable that holds its key.")

    def options(self) -> dict[str, Any]:
        """The options of runs with such an agent in the table."""
        values = {"url": read_value(options()["url"], self.base_url)} if self.base_url else {}
        return values | ({"api_key_env": self.api_key_env} if self.api_key_env else {})


class Backend(SuiteTable):
    """Endpoints of agents."""

    external: ExternalBackend = ExternalBackend()


class _JudgeTable(Gate):
    """The LLM that judges answers, where a benchmark needs one."""

    api_key_env: Variable = Field(
        default="", description="The environment variable that holds its key; LOADGEN_JUDGE_API_KEY without."
    )

    def options(self) -> dict[str, Any]:
        """The options of runs of benchmarks in the table."""
        return {JUDGE_KEYS[key]: getattr(self, key) for key in JUDGE_KEYS if key in self.model_fields_set}

    def gate(self) -> dict[str, Any]:
        """The keys that belong into `[gate]`."""
        return {key: getattr(self, key) for key in VERDICT_KEYS if key in self.model_fields_set}


if TYPE_CHECKING:
    Judge: TypeAlias = _JudgeTable
else:
    Judge = create_model(
        "Judge",
        __base__=_JudgeTable,
        __doc__="The LLM that judges answers, where a benchmark needs a judge; the key is not in a file.",
        __module__=__name__,
        **{key: (_typed(options()[name]), None) for key, name in JUDGE_KEYS.items() if name in options()},
    )


class Suite(SuiteTable):
    """Runs of `loadgen perf`: each of the models, with each of the benchmarks, under each of the loads."""

    meta: Meta = Meta()
    defaults: Defaults = Defaults()
    gate: Gate = Gate()
    judge: Judge = Judge()
    backend: Backend = Backend()
    run: RunTable = RunTable()
    models: list[Model] = Field(min_length=1)
    benchmarks: list[Benchmark] = Field(default=[], min_length=1)
    loads: list[Load] = Field(default=[], min_length=1)


def schema() -> dict[str, Any]:
    """The schema, in draft 2020-12; each option is defined once, for all tables that take it."""
    model_schema = Suite.model_json_schema()
    tables: dict[str, Any] = model_schema["$defs"]
    shared = {f"option_{name}": value_schema(option) for name, option in options().items()}
    for table in (*tables.values(), model_schema):
        for name, value in table["properties"].items():
            value.pop("title", None)
            value.pop("default", None)
            if {**value} == shared.get(f"option_{name}"):
                table["properties"][name] = {"$ref": f"#/$defs/option_{name}"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **model_schema,
        "title": "A suite of loadgen runs",
        "$defs": {**tables, **shared},
    }


def schema_text() -> str:
    """The schema as it is published."""
    return orjson.dumps(schema(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
