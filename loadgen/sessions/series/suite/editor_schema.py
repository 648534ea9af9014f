"""The JSON schema of a suite's file, for editors: `python -m` this module prints it."""

from __future__ import annotations

import sys
from typing import Any

import orjson

from loadgen.sessions.series.suite.option_values import options
from loadgen.sessions.series.suite.suite_model import Suite


def schema() -> dict[str, Any]:
    """The schema, in draft 2020-12; each option is defined once, for all tables that take it."""
    model_schema = Suite.model_json_schema()
    tables: dict[str, Any] = model_schema["$defs"]
    shared = {f"option_{name}": option.schema() for name, option in options().items()}
    for table in (*tables.values(), model_schema):
        for name, value in table["properties"].items():
            value.pop("title", None)
            value.pop("default", None)
            if {**value} == shared.get(f"option_{name}"):
                table["properties"][name] = {"$ref": f"#/$defs/option_{name}"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **model_schema,
        "title": "A suite of loadgen runs",
        "$defs": {**tables, **shared},
    }


def text() -> str:
    """The schema as it is published."""
    return orjson.dumps(schema(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


if __name__ == "__main__":
    sys.stdout.write(text())
