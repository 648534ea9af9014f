"""The long prompts of benchmarks, word for word, by the tables of `prompts.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files


def prompt(benchmark: str, name: str) -> str:
    """The text of a benchmark's prompt."""
    return _tables()[benchmark][name]


@cache
def _tables() -> dict[str, dict[str, str]]:
    return tomllib.loads(files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8"))
