"""Opens the world of a domain as a task finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workloads.environments.tau2.counter import Counter
from workloads.environments.tau2.tables import fresh_document
from workloads.environments.tau2.telecom import Telecom

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.environments.tau2.world import World


def open_world(domain: str, paths: Mapping[str, str], initial: Sequence[Mapping[str, Any]]) -> World:
    """The world of a domain.

    Args:
        domain: `airline`, `retail` or `telecom`.
        paths: The files of its databases by their names.
        initial: The actions that a task begins with.
    """
    database = fresh_document(paths["db"])
    world: World
    if domain == "telecom":
        world = Telecom(database, fresh_document(paths["user_db"])["device"])
    else:
        world = Counter(domain, database)
    for action in initial:
        world.act(action)
    return world
