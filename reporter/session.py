"""What was run, from the facts that the log opens with, and how those who ran it were doing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from recorder.errors import LogError
from reporter.log import figures

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def run_facts(connection: DuckDBPyConnection) -> dict[str, Any]:
    """The part of `Report.run` that is the same however the report is made."""
    sessions = connection.execute(
        "SELECT session_id, started_wall_ns, ended, settings, environment FROM session",
    ).fetchall()
    if not sessions:
        raise LogError("the log is damaged: it does not say what was run (its table `session` is empty)")
    session_id, wall_ns, ended, settings_json, environment_json = sessions[0]
    settings, environment = _members(settings_json), _members(environment_json)
    return {
        "session_id": session_id,
        "started_at": _iso(wall_ns),
        "ended": ended,
        "model": settings.get("model"),
        "url": settings.get("url"),
        "protocol": settings.get("protocol"),
        "stream": settings.get("stream"),
        "load": load if isinstance(load := settings.get("load"), dict) else {},
        "max_tokens": settings.get("max_tokens"),
        "seed": settings.get("seed"),
        "dataset": settings.get("dataset"),
        "ruleset": settings.get("ruleset"),
        "workers": settings.get("workers"),
        "transport": settings.get("transport"),
        "timestamp_source": environment.get("timestamp_source"),
        "usable_cpus": environment.get("usable_cpus", environment.get("cpus")),
        "versions": {
            "llm-loadgen": environment.get("version"),
            "python": environment.get("python"),
            "platform": environment.get("platform"),
            **(environment.get("packages") or {}),
        },
    }


def recorder_health(connection: DuckDBPyConnection) -> dict[str, Any]:
    """The recorder's last reading of itself; empty when a run was cut off before the first."""
    readings = connection.execute(
        "SELECT data FROM telemetry WHERE source = 'recorder' ORDER BY at_ns DESC LIMIT 1",
    ).fetchall()
    last = orjson.loads(readings[0][0]) if readings else {}
    return {key: value for key, value in last.items() if key != "source"}


def client_health(connection: DuckDBPyConnection) -> dict[str, Any]:
    """How the load generator's processes were doing while they issued; empty without readings."""
    health = figures(connection, "client")
    return health if health["readings"] else {}


def _members(text: str) -> dict[str, Any]:
    """The members of a JSON object; none where something else stands."""
    value = orjson.loads(text)
    return value if isinstance(value, dict) else {}


def _iso(wall_ns: int) -> str:
    seconds, ns = divmod(wall_ns, 1_000_000_000)
    moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=ns // 1000)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
