"""The generated files of the project are what their generators make now; `make golden` writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson
import pytest

from loadgen.sessions.series.suite import suite_model
from reporter import report_schema
from rulesets.reading.ruleset_schema import schema as ruleset_schema
from tests import api_reference, golden, messages, typed_options
from tests.command_reference import reference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

ROOT = golden.ROOT


GENERATED: Final[Mapping[str, Callable[[], str]]] = {
    "loadgen/options.pyi": typed_options.source,
    "docs/suite.schema.json": suite_model.schema_text,
    "docs/report.schema.json": report_schema.text,
    "docs/ruleset.schema.json": lambda: orjson.dumps(
        ruleset_schema(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    ).decode(),
    "docs/cli.md": reference,
    "docs/api.md": api_reference.reference,
    "tests/messages.md": messages.listing,
}
"""Files that are generated as a whole; `tests.metric_files.MADE` has those with generated parts."""


@pytest.mark.parametrize("path", GENERATED)
def test_a_generated_file_is_current(path: str) -> None:
    """It is what its generator makes."""
    golden.check(ROOT / path, GENERATED[path]())


def test_make_golden_reaches_every_golden_file(request: pytest.FixtureRequest) -> None:
    """Nothing writes a golden file but `tests.golden`, so that the import finds every test that compares."""
    written = [request.node]
    golden.pytest_collection_modifyitems(written)
    assert written == [request.node]
    mentions = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("*.py")
        if golden.UPDATE in path.read_text(encoding="utf-8")
    }
    assert mentions == {"tests/golden.py"}
    comparing = golden.comparing_tests()
    assert len(comparing) >= 10
    assert {ROOT / "tests" / f"test_{name}.py" for name in ("generated", "core_files")} <= set(comparing)
    assert "-m tests.golden" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_make_golden_writes_what_the_tests_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an update nothing differs, and without it a difference fails."""
    monkeypatch.delenv(golden.UPDATE, raising=False)
    page = tmp_path / "page.md"
    page.write_text("head\n<!-- a -->\nold\n<!-- /a -->\nfoot\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="`make golden` accepts it"):
        golden.check_part(page, "<!-- a -->\n", "<!-- /a -->", "new\n")
    monkeypatch.setenv(golden.UPDATE, "1")
    golden.check_part(page, "<!-- a -->\n", "<!-- /a -->", "new\n")
    monkeypatch.delenv(golden.UPDATE)
    golden.check_part(page, "<!-- a -->\n", "<!-- /a -->", "new\n")
    assert page.read_text(encoding="utf-8") == "head\n<!-- a -->\nnew\n<!-- /a -->\nfoot\n"
