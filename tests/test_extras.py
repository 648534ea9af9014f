"""The extras of this package: what each is for, and a program without the packages of any."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING

import pytest

from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions import plugin_list
from tests.conftest import GIVE_UP_S, ROOT, clean_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
OF_DEVELOPMENT = {"dev", "docs", "fuzz", "release"}
PARTS_OF_ACCURACY = {"bfcl", "ifbench", "ifeval", "math", "multi-if"}
HIDING = """
import sys

class Hidden:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {"transformers", "tokenizers", "huggingface_hub", "numpy"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
"""
INSTALL = "pip install 'llm-loadgen[tokenizers]'"


def further(extra: str) -> set[str]:
    """The extras that an extra consists of."""
    named = [re.findall(r"^llm-loadgen\[(.*)\]$", line) for line in EXTRAS[extra]]
    return {name for names in named for name in ",".join(names).split(",") if name}


def test_all_is_every_extra_for_users() -> None:
    """The extra `all` has nothing that only development needs."""
    assert further("accuracy") == PARTS_OF_ACCURACY
    assert further("all") == EXTRAS.keys() - OF_DEVELOPMENT - PARTS_OF_ACCURACY - {"all"}


def test_the_installation_page_lists_every_extra() -> None:
    """In the first column of its table."""
    page = (ROOT / "docs" / "quickstart.md").read_text()
    rows = re.findall(r"^\| (`.*?) \|", page.partition("| extra |")[2], flags=re.MULTILINE)
    assert set(re.findall(r"`(.*?)`", " ".join(rows))) == further("all")


def test_every_remedy_names_an_extra_that_exists() -> None:
    """In messages and on pages."""
    files = [
        path
        for room in ("loadgen", "workloads", "reporter", "recorder", "rulesets", "docs")
        for path in (ROOT / room).rglob("*")
        if path.suffix in {".py", ".md", ".toml"}
    ]
    named = {
        name
        for path in files
        for names in re.findall(r"llm-loadgen\[([a-z,-]+)\]", path.read_text(encoding="utf-8"))
        for name in names.split(",")
    }
    assert "tokenizers" in named
    assert named <= EXTRAS.keys()


def test_the_list_of_plugins_has_each_remedy_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no package is installed."""

    def distribution(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(plugin_list, "distribution", distribution)
    text = plugin_list.table()
    remedies = set(re.findall(r"pip install 'llm-loadgen\[([a-z-]+)\]'\)", text))
    named = {extra for facts in plugin_list.plugins().values() for extra in facts["extras"]}
    assert remedies == named >= {"tokenizers", "sheets"}
    assert max(map(len, text.splitlines())) <= 80


@pytest.fixture
def bare(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the program where neither transformers nor numpy can be imported."""
    hiding = tmp_path / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text(HIDING)

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "loadgen", *map(str, arguments)],
            cwd=tmp_path,
            env=clean_environment(PYTHONPATH=f"{hiding}:{ROOT}"),
            capture_output=True,
            text=True,
            timeout=GIVE_UP_S,
            check=False,
        )

    return run


@pytest.mark.slow
def test_a_run_without_tokenizers(
    bare: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """A run is measured, reported, queried and gated; prompts have approximate lengths."""
    with start_mock(ttft="1ms", itl="1ms", tokens="4") as server:
        sent = ("--url", server.url, "--model", "m", "--input-tokens", 20, "-n", 10, "--on-invalid", "warn")
        ran = bare("perf", *sent, "--out", "run")
    assert ran.returncode == 0, ran.stderr
    for command in (
        ("report", "run"),
        ("report", "run", "--format", "html", "-o", "page.html"),
        ("sql", "run", "SELECT count(*) FROM samples"),
        ("gate", "run", "--require", "error<50%", "--on-invalid", "warn"),
        ("export", "run", "--parquet", "rows.parquet"),
    ):
        done = bare(*command)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "rows.parquet").stat().st_size > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ("perf", "--input-tokens", 9, "--tokenizer", "gpt2"),
        ("perf", "--prompts", "prompts.jsonl", "--tokenizer", "gpt2"),
        ("accuracy", "longbench_v2:tokenizer=gpt2", "--data", "."),
    ],
    ids=["lengths", "counts", "benchmark"],
)
def test_a_tokenizer_that_needs_packages(
    bare: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, options: tuple[object, ...]
) -> None:
    """The error names the extra before the endpoint, which does not exist, is asked."""
    (tmp_path / "prompts.jsonl").write_text('{"prompt": "Hi?"}\n')
    (tmp_path / "longbench_v2.jsonl").write_text("{}\n")
    done = bare(*options, "--url", "http://127.0.0.1:9", "--model", "m", "-n", 1)
    assert done.returncode == 2
    assert "tokenizer" in done.stderr
    assert done.stderr.endswith(f" needs huggingface_hub, which is not installed: {INSTALL}\n")
