"""The subjects of a run, row without the code for rare subjects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.json_values import document, members, text, whole
from reporter.log.run_head import logged_settings
from workloads.registry import entries

if TYPE_CHECKING:
    from reporter.log.database import OpenLog

SCORED: Final = ("scores", "reported_passes")
"""The tables to load first of a log with benchmark questions."""

_WITHOUT_TAG: Final = frozenset({"phase", "endpoint", "turn", "stage", "time"})
"""The breakdowns without a tag. A tag of such a name is called `tag:phase`."""


def asks_benchmarks(log: OpenLog) -> bool:
    """Whether the questions of an opened log are those of benchmarks."""
    return bool(members(logged_settings(log).get("accuracy")).get("tasks"))


def has_sensors(log: OpenLog) -> bool:
    """Whether a log has readings of sensors."""
    return bool(log.execute("SELECT 1 FROM session_events WHERE type = 'SENSOR_STARTED' LIMIT 1").fetchone())


def plugin_sections(log: OpenLog, *, with_sensors: bool) -> list[str]:
    """The names of the report sections of plug-ins whose subject a log has, by their manifests."""
    subjects = {
        name: entry.facts["when_sensed" if with_sensors and "when_sensed" in entry.facts else "when"]
        for name, entry in entries("sections").items()
    }
    row = log.execute(f"SELECT {', '.join(f'({sql})' for sql in subjects.values())}").fetchone()
    return [name for name, has in zip(subjects, row or (), strict=True) if has]


def asks_again(log: OpenLog) -> bool:
    """Whether the questions are a benchmark's, each repeated on purpose."""
    accuracy = members(logged_settings(log).get("accuracy"))
    return bool(accuracy.get("tasks")) and (whole(accuracy.get("repeats")) or 1) > 1


def has_episodes(log: OpenLog) -> bool:
    """Whether requests were those of episodes."""
    return bool(log.execute("SELECT 1 FROM requests WHERE is_episode LIMIT 1").fetchone())


def has_sessions(log: OpenLog) -> bool:
    """Whether requests were turns of conversations or session trees."""
    sql = "SELECT 1 FROM requests WHERE conversation_id IS NOT NULL AND turns > 1 AND NOT is_episode LIMIT 1"
    return bool(log.execute(sql).fetchone())


def distinguished(log: OpenLog) -> list[str]:
    """Names of what distinguishes requests of the window: breakdowns of a report."""
    endpoints, turns = log.execute(
        "SELECT count(DISTINCT endpoint_index), count(turn) FROM requests WHERE measured",
    ).fetchall()[0]
    tags = log.execute(
        "SELECT DISTINCT unnest(json_keys(tags)) AS tag FROM requests WHERE measured AND tags IS NOT NULL "
        "ORDER BY tag",
    ).fetchall()
    return [
        *(["endpoint"] if endpoints > 1 else []),
        *(["turn"] if turns else []),
        *(f"tag:{tag}" if tag in _WITHOUT_TAG else tag for (tag,) in tags),
    ]


def is_of_nodes(log: OpenLog) -> bool:
    """Whether several machines made a run."""
    return log.execute("SELECT count(*) FROM node_logs").fetchall() != [(0,)]


def shard(log: OpenLog) -> tuple[str, int] | None:
    """The node whose log alone was opened, and how many nodes its run has; None for any other log."""
    ((environment_json,),) = log.execute("SELECT any_value(environment) FROM session").fetchall()
    environment = members(document(environment_json or "{}"))
    if "kind" not in environment:
        return None
    from recorder.shards import SHARD

    if environment["kind"] != SHARD:
        return None
    return text(environment.get("shard")) or "a node", whole(environment.get("shards")) or 0
