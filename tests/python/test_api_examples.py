"""The examples of docs/api.md: one for each public name, run module by module."""

from __future__ import annotations

import ast
import asyncio
import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from tests.api_reference import EXAMPLES, MODULES
from tests.for_each import for_each

if TYPE_CHECKING:
    from pathlib import Path


@for_each("module", MODULES)
def test_every_public_name_has_an_example(module: str) -> None:
    """Only public names have examples."""
    assert set(EXAMPLES[module]) - {"setup"} == set(import_module(module).__all__)


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_the_examples_run(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples of a module run in order in an empty folder."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(f"from {module} import *", names)  # noqa: S102 (our own examples)
    for name, example in EXAMPLES[module].items():
        code = compile(example, f"{module}.{name}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(code, names))  # noqa: S307 (our own examples)
        else:
            exec(code, names)  # noqa: S102 (our own examples)
    if "server" in names:
        names["server"].stop()
