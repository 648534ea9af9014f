"""Keys of other tools' suites that no table has, with the line to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_SERVED: Final = 'a model is asked at its url: leave it out, and write url = "http://host:port"'
_KEYS: Final[Mapping[str, str]] = {
    "engine": _SERVED,
    "provider": _SERVED,
    "telemetry": 'write gpu_metrics = "nvml", or telemetry = true in [run]',
    "energy_vendor": 'write gpu_metrics = "nvml", or energy_vendor = "nvidia" in [run]',
    **dict.fromkeys(
        (
            *("wandb_project", "wandb_entity", "wandb_group", "wandb_tags"),
            *("sheets_spreadsheet_id", "sheets_worksheet", "sheets_credentials_path"),
        ),
        "write it in [run]",
    ),
}
_OF_AGENTS: Final = frozenset({"backend", "agent", "tools"})


def instead_of(name: str, table: Mapping[str, Any]) -> str | None:
    """The replacement of a key; None for an unknown key.

    Args:
        name: The key.
        table: The table with the key.
    """
    return agent_line(table) if name in _OF_AGENTS else _KEYS.get(name)


def agent_line(table: Mapping[str, Any]) -> str:
    """The line that starts the agent which `backend`, `agent` and `tools` of a table describe."""
    from loadgen.sessions.agents.presets import presets

    backend, agent, tools = (table.get(name) for name in ("backend", "agent", "tools"))
    names = ",".join(map(str, tools)) if isinstance(tools, list) else str(tools or "")
    if backend in presets():
        program = f"@{backend}"
    elif agent:
        program = "@jarvis-agent"
    elif names:
        return f'write agent_command = "@tools {names}"; see `loadgen list agents`'
    else:
        return f"{_SERVED}; agents are in `loadgen list agents`"
    options = f"{f' --agent {agent}' if agent else ''}{f' --tools {names}' if names else ''}"
    return f'write agent_command = "{program}{options}"; see `loadgen list agents`'
