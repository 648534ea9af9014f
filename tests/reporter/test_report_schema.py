"""The published JSON schema of report.json."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import orjson
import pytest

from reporter.report import Report
from rulesets.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

PUBLISHED = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text("utf-8"))


def test_every_key_is_required() -> None:
    """A report has all its keys but those of some runs: what has no samples is null, never missing."""
    of_some = {"server_side", "cache_hits", "sessions", "energy", "episodes", "nodes", "sections"}
    assert set(PUBLISHED["required"]) == {field.name for field in fields(Report)} - of_some
    assert of_some <= PUBLISHED["properties"].keys()


@pytest.mark.slow
def test_reports_are_valid(a_run: Callable[..., Run]) -> None:
    """Reports of a full run, of an empty one and of one with a verdict are valid by the published schema."""
    empty = a_run()
    empty.events.clear()
    full = a_run().answers(5, 7, usage=(1, 2)).fails().answers(6).ends().report()
    for report in (full, empty.report(), replace(full, verdict=Verdict("PASS", "", ""))):
        written = orjson.loads(orjson.dumps(report.to_dict()))
        jsonschema.validate(written, PUBLISHED, cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize(("key", "value"), [("schema_version", "1"), ("counts", {}), ("ttft_ms", 5)])
def test_other_shapes_are_invalid(a_run: Callable[..., Run], key: str, value: object) -> None:
    """The schema refuses a value of the wrong type."""
    report = {**a_run().ends().report().to_dict(), key: value}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report, PUBLISHED, cls=jsonschema.Draft202012Validator)
