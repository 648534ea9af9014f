"""Pages besides scenarios: the table of scenarios, and lists of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
from loadgen.mock_endpoint.scenarios.frame_writers import DIALECTS
from loadgen.mock_endpoint.scenarios.http import whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.mock_endpoint.scenarios.scenario import Place

_OK: Final = 200
_MODELS: Final = {"object": "list", "data": [{"id": "scenario", "object": "model", "owned_by": "loadgen"}]}


def protocol_of(path: str) -> str | None:
    """The protocol of a path, by the final operation."""
    fitting = [name for name, dialect in DIALECTS.items() if path.endswith(dialect.path)]
    return max(fitting, key=lambda name: len(DIALECTS[name].path), default=None)


def table(bases: Mapping[Place, str]) -> bytes:
    """Every scenario, with the base URL."""
    rows: list[dict[str, Any]] = [
        {
            "name": scenario.name,
            "about": scenario.about,
            "right": scenario.right,
            "sees": scenario.sees,
            "protocols": scenario.protocols,
            "url": f"{bases[scenario.place]}/{scenario.name}/v1",
        }
        for scenario in SCENARIOS.values()
    ]
    return orjson.dumps(rows)


def model_list(status: int) -> bytes:
    """A list of one model, or the failure to make one."""
    if status != _OK:
        return whole(0, orjson.dumps({"error": {"message": "no list today"}}), status=status).data
    return whole(0, orjson.dumps(_MODELS)).data


def not_found(why: str) -> bytes:
    """The answer to an unknown path."""
    return whole(0, orjson.dumps({"error": {"message": why}}), status=404).data
