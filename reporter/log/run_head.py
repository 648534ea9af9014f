"""The facts of a run from the head of the log, and the health of client and recorder."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from recorder.errors import LogError
from reporter.client_health import ClientHealth, RecorderHealth, WorkerHealth
from reporter.json_values import document, members, number, text, texts, whole
from reporter.log.database import figures
from reporter.run_facts import CompleteUntil, PlannedEnd, RunFacts, SegmentFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reporter.log.database import OpenLog
    from reporter.run_facts import OnInvalid


_ADDS_UP: Final = frozenset({"events", "commits", "lost"})
"""The recorder's counters that restart in each segment."""


def run_facts(log: OpenLog, on_invalid: OnInvalid | None = None) -> RunFacts:
    """The part of `Report.run` that is independent of report options, except `on_invalid`."""
    sessions = log.execute(
        "SELECT session_id, started_wall_ns, ended, settings, environment FROM session",
    ).fetchall()
    if not sessions:
        raise LogError("the log is damaged: no settings (the table `session` is empty)")
    session_id, wall_ns, ended, settings_json, environment_json = sessions[0]
    settings, environment = members(document(settings_json)), members(document(environment_json))
    return RunFacts(
        session_id=session_id,
        started_at=_iso(wall_ns),
        ended=ended,
        segments=_segments(log),
        complete_until=_complete_until(log) if ended == "cut_off" else None,
        model=text(settings.get("model")),
        url=text(settings.get("url")),
        urls=_urls(settings.get("urls")),
        protocol=text(settings.get("protocol")),
        stream=settings.get("stream"),
        load=_load(members(settings.get("load"))),
        max_tokens=whole(settings.get("max_tokens")),
        generation=generation(settings),
        seed=settings.get("seed"),
        schedule_seed=whole(settings.get("schedule_seed")),
        planned=_planned(settings),
        timeouts_s=_timeouts_s(settings),
        salt=settings.get("salt") is True,
        steady=settings.get("steady") is True,
        max_error_rate=number(settings.get("max_error_rate")),
        on_invalid=on_invalid or _on_invalid(members(settings.get("options"))),
        dataset=_dataset(members(settings.get("dataset"))),
        ruleset=members(settings.get("ruleset")) or None,
        skip=texts(settings.get("skip")),
        gpus=whole(settings.get("gpus")),
        workers=whole(settings.get("workers")),
        transport=text(settings.get("transport")),
        timestamp_source=text(environment.get("timestamp_source")),
        imported=members(settings.get("imported")) or None,
        usable_cpus=whole(environment.get("usable_cpus", environment.get("cpus"))),
        versions={
            "llm-loadgen": text(environment.get("version")),
            "python": environment.get("python"),
            "platform": environment.get("platform"),
            **members(environment.get("packages")),
        },
    )


def _on_invalid(options: Mapping[str, Any]) -> OnInvalid:
    return "warn" if options.get("on_invalid") == "warn" else "fail"


def logged_settings(log: OpenLog) -> dict[str, Any]:
    """The resolved settings in an opened log; empty if absent."""
    ((stored,),) = log.execute("SELECT any_value(settings) FROM session").fetchall()
    return members(document(stored)) if stored else {}


def generation(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in each request's body."""
    generation_settings = {name: settings.get(name) or None for name in ("max_tokens", "ignore_eos")}
    generation_settings["temperature"] = settings.get("temperature")
    return {name: value for name, value in generation_settings.items() if value is not None} | members(
        settings.get("extra_body")
    )


def _segments(log: OpenLog) -> list[SegmentFacts]:
    """The measured requests of each segment: there are several where the run was resumed."""
    segments = log.execute(
        "SELECT clocks.started_wall_ns, ended, issued, completed, window_s FROM segments JOIN clocks "
        "USING (segment) ORDER BY segment",
    ).fetchall()
    return [SegmentFacts(_iso(wall_ns), *figures) for wall_ns, *figures in segments]


def _complete_until(log: OpenLog) -> CompleteUntil | None:
    """The moment up to which the last segment is complete, by the writer; None if unknown."""
    clock_row = log.execute(
        "SELECT complete_until_ns, written_ns, session.started_wall_ns - session.started_at_ns "
        "FROM clocks, session WHERE segment = (SELECT max(segment) FROM clocks) "
        "AND complete_until_ns IS NOT NULL AND written_ns IS NOT NULL",
    ).fetchone()
    if clock_row is None:
        return None
    until_ns, written_ns, offset_ns = clock_row
    return CompleteUntil(
        at=_iso(until_ns + offset_ns),
        at_ns=until_ns,
        last_sign_of_life=_iso(written_ns + offset_ns),
        last_sign_of_life_ns=written_ns,
        behind_ms=round((written_ns - until_ns) / 1e6, 3),
    )


def recorder_health(log: OpenLog) -> RecorderHealth:
    """The last health readings of each recorder in each segment, combined.

    Counters are added up; of maxima the greatest counts.
    """
    readings = log.execute(
        "SELECT arg_max(data, at_ns) FROM telemetry WHERE source = 'recorder' GROUP BY segment, node "
        "ORDER BY segment, node",
    ).fetchall()
    health: dict[str, Any] = {}
    for (data,) in readings:
        for key, value in members(document(data)).items():
            if key != "source":
                reading, before = number(value), health.get(key)
                present = [figure for figure in (before, reading) if figure is not None]
                health[key] = (sum if key in _ADDS_UP else max)(present) if present else None
    return RecorderHealth.of_dict(health)


def client_health(log: OpenLog) -> ClientHealth:
    """The health of the load generator's processes while issuing."""
    if not log.execute("FROM telemetry WHERE source = 'client' LIMIT 1").fetchall():
        # Without readings the figures are not planned, which takes DuckDB 10 ms.
        return ClientHealth()
    health = figures(log, "client")
    if not health["readings"]:
        return ClientHealth()
    return ClientHealth(
        **{**health, "per_worker": [WorkerHealth(**worker_health) for worker_health in health["per_worker"]]}
    )


def _load(load: dict[str, Any]) -> dict[str, Any]:
    return {name: _LOAD[name](value) if name in _LOAD else value for name, value in load.items()}


def _planned(settings: Mapping[str, Any]) -> PlannedEnd:
    return PlannedEnd(
        requests=whole(settings.get("requests")),
        conversations=whole(settings.get("sessions")),
        duration_s=number(settings.get("duration_s")),
    )


def _timeouts_s(settings: Mapping[str, Any]) -> dict[str, float]:
    """The client's time limits for a request, in seconds, by failure."""
    limits = {
        name: number(settings.get(setting))
        for name, setting in (
            ("total_timeout", "timeout_s"),
            ("first_byte_timeout", "first_byte_timeout_s"),
            ("idle_timeout", "idle_timeout_s"),
            ("connect_timeout", "connect_timeout_s"),
        )
    }
    return {name: limit_s for name, limit_s in limits.items() if limit_s is not None}


def _stages(value: object) -> list[dict[str, Any]] | None:
    if not isinstance(value, list):
        return None
    kinds = {"name": text, "start_s": number, "duration_s": number, "rate": text}
    return [{name: kind(members(stage).get(name)) for name, kind in kinds.items()} for stage in value]


_LOAD: Final[Mapping[str, Callable[[Any], Any]]] = {
    "kind": text,
    "concurrency": whole,
    "rate": number,
    "profile": text,
    "stages": _stages,
    "burstiness": number,
    "think": text,
    "trace_speed": number,
    "max_concurrency": whole,
}


def _urls(value: object) -> list[str] | None:
    """The endpoints of a run with several."""
    return (
        [url for url in value if isinstance(url, str)] if isinstance(value, list) and len(value) > 1 else None
    )


def _dataset(dataset: dict[str, Any]) -> dict[str, Any] | None:
    kinds = {"name": text, "rows": whole}
    return {name: kinds[name](value) if name in kinds else value for name, value in dataset.items()} or None


def _iso(wall_ns: int) -> str:
    seconds, ns = divmod(wall_ns, 1_000_000_000)
    try:
        moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=ns // 1000)
    except (OverflowError, ValueError, OSError) as error:
        raise LogError(f"the log is damaged: the start time is beyond all calendars ({error})") from error
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
