"""The options of `loadgen optimize tools`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import flat_options
from loadgen.sessions.settings.failures import share
from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.option import Option
from loadgen.sessions.settings.perf import PerfSettings
from loadgen.sessions.settings.variant import VARIANTS
from workloads.tasks.tool_selection import ALL, levels
from workloads.tasks.tool_sets import OWN

OPTIMIZATION: Final = "Optimization"

_SHARED: Final = frozenset(
    {
        *("url", "model", "protocol", "path", "body", "text_at", "tokens_at", "finish_at", "cumulative"),
        *("api_key", "header", "timeout", "connect_timeout", "first_byte_timeout", "idle_timeout"),
        *("insecure", "balance", "concurrency", "rate", "seed", "tokenizer", "retry", "max_response"),
        *("workers", "transport", "connect_ahead", "trace_context", "max_tokens", "temperature"),
        *("request_seed", "stream", "extra_body", "no_live"),
    }
)
REPLACED: Final = frozenset(flat_options(PerfSettings)) - _SHARED
"""Options of `loadgen perf` that an optimization does not take: it asks each scenario once."""

PROPOSALS: Final = {"light": 6, "medium": 18, "heavy": 54}
"""The proposals of each mode."""

_A_THIRD: Final = 1 / 3


@dataclass(frozen=True, kw_only=True, slots=True)
class OptimizeSettings:
    """The options of `loadgen optimize tools` in addition to those of `loadgen perf`."""

    tools: Annotated[
        str,
        Option(metavar="NAME", help="The tool set (see loadgen list tool-sets).", panel=OPTIMIZATION),
    ] = "4-tool"
    descriptions: Annotated[
        str,
        Option(metavar="NAME", help="The descriptions to begin with.", panel=OPTIMIZATION),
    ] = OWN
    data: Annotated[
        Path | None,
        Option(
            metavar="DIR",
            help="Your folder of tool sets, descriptions, models and scenarios.",
            panel=OPTIMIZATION,
        ),
    ] = None
    levels: Annotated[
        str,
        Option(metavar="LEVEL+…", help="The levels of the scenarios.", panel=OPTIMIZATION),
    ] = ALL
    variant: Annotated[
        Literal["cost_optimized", "accuracy_balanced", "maximum_accuracy"],
        Option(
            help="The objective: 50/25/25 of accuracy, input and output tokens, in the format minimal; "
            "accuracy divided by tokens above 1,500, in compact; accuracy alone, in full.",
            panel=OPTIMIZATION,
        ),
    ] = "accuracy_balanced"
    all_variants: Annotated[
        bool,
        Option(
            "--all-variants", help="Optimize each variant by that variant's objective.", panel=OPTIMIZATION
        ),
    ] = False
    optimizer: Annotated[
        Literal["gepa", "copro"],
        Option(
            help="gepa reflects on wrong choices (pip install 'llm-loadgen[optimize]'); copro proposes from "
            "the scores of earlier attempts, each of which answers all training scenarios.",
            panel=OPTIMIZATION,
        ),
    ] = "gepa"
    mode: Annotated[
        Literal["light", "medium", "heavy"],
        Option(help="6, 18 or 54 proposals per variant.", panel=OPTIMIZATION),
    ] = "light"
    selection: Annotated[
        Literal["fc", "prompt"],
        Option(
            help="How tools are given: fc as tools of the request, prompt as text in the prompt.",
            panel=OPTIMIZATION,
        ),
    ] = "fc"
    validation_share: Annotated[
        float,
        Option(
            parser=share,
            metavar="SHARE",
            show_default="1/3",
            help="The share of the scenarios that decides and is not used in training.",
            panel=OPTIMIZATION,
        ),
    ] = _A_THIRD
    max_calls: Annotated[
        int | None,
        Option(metavar="N", min=1, help="The most requests, validation included.", panel=OPTIMIZATION),
    ] = None
    max_total_tokens: Annotated[
        int | None,
        Option(metavar="N", min=1, help="The most tokens of input and output.", panel=OPTIMIZATION),
    ] = None
    max_cost: Annotated[
        float | None,
        Option(
            metavar="DOLLARS", help="The highest cost, by the prices of --cost-model.", panel=OPTIMIZATION
        ),
    ] = None
    cost_model: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="The model file with prices (see loadgen list tool-sets).",
            panel=OPTIMIZATION,
        ),
    ] = None
    reflection_url: Annotated[
        str | None,
        Option(
            metavar="URL",
            help="Endpoint of the proposing model. Default: --url.",
            panel=OPTIMIZATION,
        ),
    ] = None
    reflection_model: Annotated[
        str | None,
        Option(metavar="NAME", help="The model that proposes. Default: --model.", panel=OPTIMIZATION),
    ] = None
    reflection_api_key: Annotated[
        str | None,
        Option(
            envvar=("LOADGEN_REFLECTION_API_KEY",),
            show_envvar=True,
            help="The API key of --reflection-url, preferably in the environment; @FILE reads a file. "
            "Never logged.",
            panel=OPTIMIZATION,
        ),
    ] = field(default=None, repr=False)
    out: Annotated[
        Path | None,
        Option(help="The folder of all runs; runs/<time>-optimize by default.", panel=OPTIMIZATION),
    ] = None
    json: Json = False
    quiet: Annotated[bool, Option("--quiet -q", help="No progress.", panel=OPTIMIZATION)] = False

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
        """What resuming needs, as JSON.

        Args:
            seed: Of the split, the training and the test.
        """
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
