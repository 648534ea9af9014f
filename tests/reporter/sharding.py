"""The log of a run, split over nodes with their own clocks."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

from recorder import Event, EventType, schema, shards
from recorder.session import Session
from recorder.store import Store
from reporter.log.storage_place import place
from tests.reporter.conftest import BASE_NS, WALL_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.reporter.conftest import Run

UNCERTAINTY_NS: Final = 20_000


def on_another_clock(event: Event, ahead_ns: int) -> Event:
    """The same event, as a clock has it that is so much ahead."""
    data = {
        name: value + ahead_ns if name.endswith("_ns") and isinstance(value, int) else value
        for name, value in (event.data or {}).items()
    }
    return event._replace(at_ns=event.at_ns + ahead_ns, data=data)


def sharded(
    run: Run,
    ahead_ns: Mapping[str, int],
    node_of: Callable[[str], str],
    store: str | None = None,
    *,
    misread_ns: Mapping[str, int] | None = None,
    uncertainty_ns: int = UNCERTAINTY_NS,
) -> Path:
    """Write a run as several nodes do, and return its folder.

    Args:
        run: The run; its session's events are in each log.
        ahead_ns: By how much the clock of each node is ahead of the coordinator's.
        node_of: Which node issued a request.
        store: The address in an object store to which the nodes upload their logs; else they are in the
            run's folder.
        misread_ns: How far the readings of each clock are off.
        uncertainty_ns: How far they may be.
    """
    facts = [{"shard": node} for node in ahead_ns]
    environment = run.environment | shards.coordinator_environment(facts, store)
    whole = [event for event in run.events if event.sample_uuid is None and event.type != EventType.TELEMETRY]
    readings = [
        shards.ClockReading(
            node, at_ns, (misread_ns or {}).get(node, 0) - by_ns, uncertainty_ns, 2 * uncertainty_ns
        ).event()
        for node, by_ns in ahead_ns.items()
        for at_ns in (whole[0].at_ns, whole[-1].at_ns)
    ]
    _write(run.folder, Session("a run", BASE_NS, WALL_NS, run.settings, environment), [*readings, *whole])
    for node, by_ns in ahead_ns.items():
        own = [event for event in run.events if not event.sample_uuid or node_of(event.sample_uuid) == node]
        environment = run.environment | shards.shard_environment(node, len(ahead_ns))
        session = Session("a run", BASE_NS + by_ns, WALL_NS, {}, environment)
        folder = shards.shard_folder(run.folder / shards.FOLDER, node)
        _write(folder, session, [on_another_clock(event, by_ns) for event in own])
        if store is not None:
            place(store).upload(folder / "events.db", f"{node}/events.db")
            shutil.rmtree(folder)
    return run.folder


def _write(folder: Path, session: Session, events: list[Event]) -> None:
    store = Store.create(folder / "events.db", session)
    store.append([schema.row(event) for event in events])
    store.close()
