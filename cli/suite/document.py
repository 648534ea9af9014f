"""What a suite's file may say, as a pydantic model, of which the JSON schema for editors is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    WithJsonSchema,
    create_model,
    model_validator,
)
from typer import BadParameter

from cli.endpoint_settings import seconds
from cli.suite.option import Option, options

_TIME: Final = {"type": ["number", "string"]}


def _with_hyphens(schema: dict[str, Any]) -> None:
    """Let editors take a key with `-` too; they offer the one with `_`."""
    names = [name for name in schema.get("properties", {}) if "_" in name]
    if names:
        spelled = "|".join(name.replace("_", "[-_]") for name in sorted(names))
        schema["patternProperties"] = {f"^({spelled})$": {}}


def _time(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"must be a time such as 30, 30s or 2m, not {value!r}")  # noqa: TRY004 (pydantic's way)
    try:
        return seconds(str(value))
    except BadParameter as error:
        raise ValueError(error.message) from error


Name = Annotated[
    str,
    StringConstraints(
        strict=True, min_length=1, max_length=100, pattern=r"^[^\s\x00-\x1f]([^\x00-\x1f]*[^\s\x00-\x1f])?$"
    ),
]
Text = Annotated[str, StringConstraints(strict=True, min_length=1)]
Variable = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Targets = Annotated[
    list[str],
    BeforeValidator(options()["require"].read),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
Skipped = Annotated[
    list[str],
    BeforeValidator(options()["skip"].read),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
Ends = Annotated[
    Any,
    BeforeValidator(options()["inconclusive"].read),
    WithJsonSchema({"enum": ["pass", "fail", "5", 5]}),
]
Time = Annotated[float, BeforeValidator(_time), WithJsonSchema(_TIME)]


class Table(BaseModel):
    """Keys and values; a key is written with `_` or with `-`."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_with_hyphens)

    @model_validator(mode="before")
    @classmethod
    def _with_underscores(cls, told: Any) -> Any:
        if not isinstance(told, dict):
            return told
        names = [str(key).replace("-", "_") for key in told]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{twice[0]} stands twice, with - and with _")
        return dict(zip(names, told.values(), strict=True))


class Meta(Table):
    """What the suite is called, and what it is for."""

    name: Name = Field(default="", description="A part of the folder's name; the file's name without it.")
    description: Text = Field(default="", description="A sentence: what it is to find out.")


class Run(Table):
    """How the runs follow each other, and where they go."""

    out: Text = Field(
        default="",
        description="The folder of all runs, from the file's folder; runs/<time>-<name> without it.",
    )
    cooldown: Time = Field(default=0.0, description="The pause between two runs: 30, 30s, 2m.")
    repeat: int = Field(default=1, strict=True, ge=1, le=1000, description="Do each run so many times.")
    stop_on_failure: StrictBool = Field(
        default=False, description="End the suite after a run that is invalid or misses a requirement."
    )


class Options(Table):
    """Options of `loadgen perf`, and where the secrets are."""

    api_key_env: Variable = Field(default="", description="The environment variable that holds the key.")
    headers_env: dict[Text, Variable] = Field(
        default={},
        description="Further request headers: each name with the environment variable of its value.",
    )

    def said(self) -> dict[str, Any]:
        """What the table says of its runs, by option."""
        return {name: getattr(self, name) for name in self.model_fields_set - {"name", "model"}}


class NamedModel(Options):
    """What tells a model from the others."""

    name: Name = Field(description="What the matrix and --model-filter call it.")
    model: Name = Field(default="", description="What the endpoint calls it; its name without it.")


class NamedBenchmark(Options):
    """What tells a benchmark from the others."""

    name: Name = Field(description="What the matrix and --benchmark-filter call it.")


class NamedLoad(Options):
    """What tells a load from the others."""

    name: Name = Field(
        default="", description="What the matrix and --load-filter call it; made of its options without it."
    )


def _with_options(name: str, doc: str, base: type[Options]) -> type[Any]:
    declared: dict[str, Any] = {option.name: (_typed(option), None) for option in options().values()}
    return create_model(name, __base__=base, __doc__=doc, __module__=__name__, **declared)


def _typed(option: Option) -> Any:
    return Annotated[Any, BeforeValidator(option.read), WithJsonSchema(option.schema())]


if TYPE_CHECKING:
    Defaults: TypeAlias = Options
    Model: TypeAlias = NamedModel
    Benchmark: TypeAlias = NamedBenchmark
    Load: TypeAlias = NamedLoad
else:
    Defaults = _with_options(
        "Defaults", "Options of every run, where no other table says otherwise.", Options
    )
    Model = _with_options("Model", "A model, where it is served, and options of its runs.", NamedModel)
    Benchmark = _with_options(
        "Benchmark",
        "What is asked, and options of its runs, which go before those of the model.",
        NamedBenchmark,
    )
    Load = _with_options(
        "Load",
        "How load is put on, and options of its runs, which go before those of the benchmark.",
        NamedLoad,
    )


class Judge(Table):
    """What every run of the suite is held against."""

    require: Targets = Field(
        default=[], description="Targets, e.g. 'ttft:p(99)<500ms'; those of other tables are added to them."
    )
    ruleset: Text = Field(
        default="",
        description="A built-in ruleset, NAME or NAME@VERSION, or a YAML file; that of another table wins.",
    )
    scenario: Text = Field(
        default="", description="Its scenario, [MODEL/]SCENARIO; by model and load without."
    )
    skip: Skipped = Field(default=[], description="Rules, or groups of them, that are left out, by id.")
    inconclusive: Ends = Field(default="5", description="What an inconclusive verdict ends with.")


class Suite(Table):
    """Runs of `loadgen perf`: each of the models, with each of the benchmarks, under each of the loads."""

    meta: Meta = Meta()
    defaults: Defaults = Defaults()
    judge: Judge = Judge()
    run: Run = Run()
    models: list[Model] = Field(min_length=1)
    benchmarks: list[Benchmark] = Field(default=[], min_length=1)
    loads: list[Load] = Field(default=[], min_length=1)
