"""The options that say what is asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from cli.errors import UsageError
from cli.load_settings import LoadSettings

PROMPTS: Final = "Prompts"


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptSettings(LoadSettings):
    """What can be said about the questions; field by field an option."""

    prompts: Annotated[
        Path | None,
        typer.Option(
            help="JSONL, JSON, CSV or Parquet, gzipped or not; synthetic prompts without it.",
            rich_help_panel=PROMPTS,
        ),
    ] = None
    prompt_column: Annotated[
        str | None,
        typer.Option(help="The column of the prompts; found by its name if usual.", rich_help_panel=PROMPTS),
    ] = None
    system_column: Annotated[
        str | None,
        typer.Option(help="The column of the system prompts.", rich_help_panel=PROMPTS),
    ] = None

    def check_prompts(self) -> None:
        """Refuse what contradicts itself."""
        if self.prompts is None and (self.prompt_column or self.system_column):
            raise UsageError("--prompt-column and --system-column name columns of a file: give --prompts")
