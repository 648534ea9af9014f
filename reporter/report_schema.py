"""The JSON schema of `report.json`, made from the Report itself.

The published one is docs/report.schema.json: `python -m reporter.report_schema > docs/report.schema.json`.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import orjson

from reporter.client_health import ClientHealth, RecorderHealth, WorkerHealth
from reporter.read_report import report_adapter
from reporter.report import Moment, RequestCounts, SteadyState, ThroughputFigures, Tokens
from reporter.values.task_score import TaskScore
from rulesets.markdown_text import without_links


def report_schema() -> dict[str, Any]:
    """The schema that every report of this version is valid by."""
    whole = report_adapter().json_schema(mode="serialization")
    score = whole["$defs"][TaskScore.__name__]
    score["properties"] = {name.rstrip("_"): part for name, part in score["properties"].items()}
    for health in (RecorderHealth, ClientHealth, WorkerHealth):
        # report.json has as many readings as there are, and further ones of a foreign recorder.
        del whole["$defs"][health.__name__]
    for name in ("recorder", "client"):
        whole["properties"][name] = {"additionalProperties": True, "type": "object"}
    schema = _strict(whole)
    for part, of_part in key_rows().items():
        properties = schema["$defs"][_PARTS[part].__name__]["properties"]
        for keys, meaning in of_part:
            for key in keys.split(", "):
                properties[key] |= {"description": without_links(meaning)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "report.json of llm-loadgen",
        **schema,
    }


def key_rows() -> dict[str, list[tuple[str, str]]]:
    """The rows of reporter/report_keys.toml by part: keys, and a common meaning in Markdown."""
    parts = tomllib.loads(Path(__file__).with_name("report_keys.toml").read_text(encoding="utf-8"))
    return {name: part["keys"] for name, part in parts.items()}


_PARTS: Final[dict[str, type]] = {
    "throughput": ThroughputFigures,
    "counts": RequestCounts,
    "steady_state": SteadyState,
    "over_time": Moment,
    "tokens": Tokens,
    "accuracy": TaskScore,
}


_OPTIONAL: Final = frozenset(
    {"percentiles", "power", "imported", "as_started"}
    | {"server_side", "cache_hits", "energy", "episodes", "sessions", "nodes", "sections"}
)
"""What a report has only where it was asked for."""

_PROSE: Final = frozenset({"title", "description", "default"})


def _strict(schema: Any) -> Any:
    """Require every key, for a report has them all; leave out what versions of pydantic differ in."""
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {key: _strict(part) for key, part in schema.items() if key not in _PROSE}
    if "properties" not in parts:
        return parts
    return {**parts, "required": [name for name in parts["properties"] if name not in _OPTIONAL]}


def text() -> str:
    """The schema as it is published."""
    return orjson.dumps(report_schema(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


if __name__ == "__main__":
    sys.stdout.write(text())
