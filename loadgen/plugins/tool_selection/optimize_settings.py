"""The options of `loadgen optimize tools`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

from lazy_dataclasses import dataclass
from loadgen.plugins.tool_selection.selection_task import ALL, VARIANTS, levels
from loadgen.plugins.tool_selection.tool_sets import OWN
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import fields_of
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.kinds import Share
from loadgen.sessions.settings.option import Panel
from loadgen.sessions.settings.perf import PerfSettings

OPTIMIZATION: Final = Panel("Optimization")

_SHARED: Final = frozenset(
    {
        *("url", "model", "protocol", "path", "body", "text_at", "tokens_at", "finish_at", "cumulative"),
        *("api_key", "header", "timeout", "connect_timeout", "first_byte_timeout", "idle_timeout"),
        *("insecure", "balance", "concurrency", "rate", "seed", "tokenizer", "retry", "max_response"),
        *("workers", "transport", "connect_ahead", "trace_context", "max_tokens", "temperature"),
        *("request_seed", "stream", "extra_body", "no_live"),
    }
)
REPLACED: Final = frozenset(fields_of(PerfSettings)) - _SHARED
"""Options of `loadgen perf` that an optimization does not take: it asks each scenario once."""

PROPOSALS: Final = {"light": 6, "medium": 18, "heavy": 54}
"""The proposals of each mode."""

_A_THIRD: Final = 1 / 3


@dataclass(frozen=True, kw_only=True, slots=True)
class OptimizeSettings:
    """The options of `loadgen optimize tools` in addition to those of `loadgen perf`."""

    tools: str = OPTIMIZATION.option("The tool set (see loadgen list tool-sets).", "4-tool", metavar="NAME")
    descriptions: str = OPTIMIZATION.option("The descriptions to begin with.", OWN, metavar="NAME")
    data: Path | None = OPTIMIZATION.option(
        "Your folder of tool sets, descriptions, models and scenarios.", metavar="DIR"
    )
    levels: str = OPTIMIZATION.option("The levels of the scenarios.", ALL, metavar="LEVEL+…")
    variant: Literal["cost_optimized", "accuracy_balanced", "maximum_accuracy"] = OPTIMIZATION.option(
        "The objective: 50/25/25 of accuracy, input and output tokens, in the format minimal; accuracy "
        "divided by tokens above 1,500, in compact; accuracy alone, in full.",
        "accuracy_balanced",
    )
    all_variants: bool = OPTIMIZATION.switch("Optimize each variant by that variant's objective.")
    optimizer: Literal["gepa", "copro"] = OPTIMIZATION.option(
        "gepa reflects on wrong choices (pip install 'llm-loadgen[optimize]'); copro proposes from the "
        "scores of earlier attempts, each of which answers all training scenarios.",
        "gepa",
    )
    mode: Literal["light", "medium", "heavy"] = OPTIMIZATION.option(
        "6, 18 or 54 proposals per variant.", "light"
    )
    selection: Literal["fc", "prompt"] = OPTIMIZATION.option(
        "How tools are given: fc as tools of the request, prompt as text in the prompt.", "fc"
    )
    validation_share: Share = OPTIMIZATION.option(
        "The share of the scenarios that decides and is not used in training.", _A_THIRD, show_default="1/3"
    )
    max_calls: int | None = OPTIMIZATION.option("The most requests, validation included.", min=1)
    max_total_tokens: int | None = OPTIMIZATION.option("The most tokens of input and output.", min=1)
    max_cost: float | None = OPTIMIZATION.option(
        "The highest cost, by the prices of --cost-model.", metavar="DOLLARS"
    )
    cost_model: str | None = OPTIMIZATION.option(
        "The model file with prices (see loadgen list tool-sets).", metavar="NAME"
    )
    reflection_url: str | None = OPTIMIZATION.option(
        "Endpoint of the proposing model. Default: --url.", metavar="URL"
    )
    reflection_model: str | None = OPTIMIZATION.option(
        "The model that proposes. Default: --model.", metavar="NAME"
    )
    reflection_api_key: str | None = OPTIMIZATION.option(
        "The API key of --reflection-url, preferably in the environment; @FILE reads a file. Never logged.",
        envvar=("LOADGEN_REFLECTION_API_KEY",),
        secret=True,
    )
    out: Path | None = OPTIMIZATION.option("The folder of all runs; runs/<time>-optimize by default.")
    json: Json = False
    quiet: bool = OPTIMIZATION.switch("No progress.", "-q")

    def __post_init__(self) -> None:
        levels(self.levels)
        if self.max_cost is not None and self.cost_model is None:
            raise UsageError("--max-cost needs prices: name a model file with --cost-model")
        if self.max_cost is not None and not self.max_cost > 0:
            raise UsageError(f"--max-cost {self.max_cost:g}: must be more than 0")
        if self.reflection_api_key is not None and self.reflection_url is None:
            raise UsageError(
                "--reflection-api-key is for --reflection-url; --api-key is used for the endpoint of --url"
            )

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants, in their order."""
        return tuple(VARIANTS) if self.all_variants else (self.variant,)

    def definition(self, seed: int) -> dict[str, Any]:
        """The facts that resuming needs, as JSON."""
        return {
            "tools": self.tools,
            "descriptions": self.descriptions,
            "data": None if self.data is None else str(self.data.absolute()),
            "levels": levels(self.levels),
            "variants": self.variants,
            "optimizer": self.optimizer,
            "proposals": PROPOSALS[self.mode],
            "selection": self.selection,
            "validation_share": self.validation_share,
            "max_calls": self.max_calls,
            "max_total_tokens": self.max_total_tokens,
            "max_cost": self.max_cost,
            "cost_model": self.cost_model,
            "reflection_url": self.reflection_url,
            "seed": seed,
        }
