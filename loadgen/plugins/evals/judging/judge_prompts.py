"""The prompts of judges, verbatim as published; each file names source and licence.

A file has a `version`, which grows whenever a word of it changes: a judgement is about the version that it
was asked with.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompts of a judge."""

    user: str
    system: str | None = None

    def messages(self, **texts: str) -> tuple[Mapping[str, Any], ...]:
        """The prompt as chat messages, with the texts filled in."""
        asked = {"role": "user", "content": self.user.format(**texts)}
        return (asked,) if self.system is None else ({"role": "system", "content": self.system}, asked)


@dataclass(frozen=True, slots=True)
class JudgePrompts:
    """The prompts of one judge."""

    name: str
    version: int
    judge: str
    source: str
    prompts: Mapping[str, Prompt]

    @property
    def label(self) -> str:
        """The judge's label in logs and reports: `hle@1, officially o3-mini-2025-01-31`."""
        official = f", officially {self.judge}" if self.judge else ""
        return f"{self.name}@{self.version}{official}"


@cache
def judge_prompts(name: str) -> JudgePrompts:
    """The prompts of a judge, by the name of the judge's file."""
    text = files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    parsed = tomllib.loads(text)
    prompts = {key: Prompt(**prompt) for key, prompt in parsed.pop("prompts").items()}
    return JudgePrompts(name=name, prompts=prompts, **parsed)
