"""Graders on the nodes of a cluster, in place of a pool's local processes."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from lazy_dataclasses import dataclass, replace
from loadgen.driver.system.clock import system_clock
from loadgen.driver.system.signals import deferred
from loadgen.plugins.ray.node_environment import enter, take_usual_priority
from loadgen.plugins.ray.node_facts import machine_facts
from loadgen.plugins.ray.node_handle import SET_UP_TIMES, SILENCE_S, NodeHandle
from loadgen.plugins.ray.node_links import require_same
from loadgen.sessions.errors import LoadgenError, SetupError
from loadgen.sessions.scoring.choice import Chosen, scorer_named
from loadgen.sessions.scoring.grader_pool import GraderLostError
from loadgen.sessions.scoring.scorer_requirements import needed_references
from loadgen.sessions.scoring.site import Here, most_graders
from workloads.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType

    from loadgen.plugins.ray.node_links import StartedNodes
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.scoring.grader import Result
    from loadgen.sessions.scoring.grader_pool import Grader
    from loadgen.sessions.scoring.grading_work import Grading
    from loadgen.sessions.settings.scoring_choices import ScoringChoices

_T = TypeVar("_T")
_LOOK_S: Final = 0.5
"""How often a node is asked whether it is there."""

_END_S: Final = 10.0
"""So long the graders of a node may take to end."""


@dataclass(frozen=True, slots=True)
class GradingConfig:
    """All that a node must know to grade.

    Attributes:
        folder: Where the coordinator runs: modules and data are looked for there, if there is such a folder.
    """

    scorers: Sequence[tuple[str, str]]
    options: ScoringChoices
    folder: str


class GradingNode:
    """A node. Methods run in the event loop of the node's process."""

    def __init__(self) -> None:
        self._chosen: list[Chosen] = []
        self._graders: Sequence[Grader] = ()
        self._threads = ThreadPoolExecutor(1)

    async def started(self) -> None:
        """Return, which says that there is a process."""

    async def check(
        self, config: GradingConfig, references: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> Mapping[str, Any]:
        """Check the requirements of scorers here; see `loadgen.sessions.scoring.site.Site`.

        Returns:
            What scores depend on, with the `definitions` of scorers.
        """
        take_usual_priority()
        return await asyncio.to_thread(self._check, config, references)

    def _check(
        self, config: GradingConfig, references: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> Mapping[str, Any]:
        enter(config.folder)
        self._chosen = [
            Chosen(task, scorer_named(task, name), official=False) for task, name in config.scorers
        ]
        self._here = Here(config.options)
        definitions = {chosen.key: chosen.scorer.definition for chosen in self._chosen}
        return {**self._here.check(self._chosen, references), "definitions": definitions}

    async def begin(self, pass_number: int, gradings: int) -> int:
        """Start graders for a pass; return the number."""
        self._graders = self._here.graders(self._chosen, pass_number, gradings)
        self._threads = ThreadPoolExecutor(len(self._graders))
        return len(self._graders)

    async def grade(self, number: int, batch: Sequence[Grading]) -> list[Result]:
        """Let a grader grade a batch."""
        results: list[Result] = []
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._threads, self._graders[number].grade, batch, results.extend)
        return results

    async def end(self) -> None:
        """End all graders, which have nothing to do."""
        for grader in self._graders:
            await asyncio.to_thread(grader.close)


@contextmanager
def graders_on_ray(options: ScoringChoices, observer: Observer) -> Iterator[OnNodes]:
    """Have graders on the nodes of a Ray cluster, or raise `SetupError`."""
    from loadgen.plugins.ray.ray_nodes import RayNodes

    with RayNodes(options.ray or "auto", options.nodes, GradingNode) as nodes:
        require_same(machine_facts(), nodes.facts)
        nodes.start(options.processes)
        with OnNodes(nodes, options, observer) as site:
            yield site


class OnNodes:
    """The nodes of a cluster; see `loadgen.sessions.scoring.site.Site`.

    A context manager at whose end the graders have ended.
    """

    def __init__(
        self, nodes: StartedNodes, options: ScoringChoices, observer: Observer, silence_s: float = SILENCE_S
    ) -> None:
        self._nodes = nodes
        # The judge's URL and key stay here.
        judge = None if options.judge is None else replace(options.judge, url="", api_key=None)
        self._options = replace(options, judge=judge)
        self._observer = observer
        self._silence_s = silence_s
        self._clock = system_clock()
        with deferred():
            self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="grading-nodes", daemon=True)
        self._handles: list[NodeHandle] = []
        self._watching: list[asyncio.Task[None]] = []

    def check(
        self, chosen: Sequence[Chosen], references: Iterable[tuple[str, Mapping[str, Any]]]
    ) -> Mapping[str, Any]:
        """Check the requirements of scorers on each node, and equal scoring on all nodes."""
        scorers = [(chosen_scorer.task, chosen_scorer.scorer.name) for chosen_scorer in chosen]
        config = GradingConfig(scorers, self._options, os.getcwd())  # noqa: PTH109 (as a text)
        needed = self._nodes.shared(list(needed_references(chosen, references)))
        checked = self._on_all("check", config, needed)
        here = {"definitions": {entry.key: entry.scorer.definition for entry in chosen}}
        require_alike([("this machine", here), *checked])
        require_alike(checked)
        facts: Mapping[str, Any] = checked[0][1]
        return facts

    def graders(self, chosen: Sequence[Chosen], pass_number: int, gradings: int) -> Sequence[NodeGrader]:
        """Graders on each node, as many as options or cores allow, in turns, none without work."""
        del chosen  # the nodes have them
        begun = self._on_all("begin", pass_number, gradings)
        self._run(self._watch_all(1.0))
        of_each = [
            [NodeGrader(node, number, self._loop) for number in range(graders)]
            for node, (_, graders) in zip(self._handles, begun, strict=True)
        ]
        turns = [grader for turn in zip_longest(*of_each) for grader in turn if grader is not None]
        return turns[: most_graders(gradings)]

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._begin())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run(self._end(in_order=error is None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._clock.close()
        for node in self._handles:
            if node.lost is not None:
                self._observer.note(
                    f"warning: {node.shown} was lost ({node.lost}): the other nodes graded its answers"
                )

    def _on_all(self, method: str, *values: Any) -> list[tuple[str, Any]]:
        """Call a method of all nodes; return each node with the answer."""
        return self._run(self._asked(method, *values))

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    # In the event loop…

    async def _begin(self) -> None:
        for link in self._nodes.links:
            self._handles.append(NodeHandle(link, self._clock, lambda _: None, self._silence_s))
        await self._watch_all(SET_UP_TIMES)

    async def _watch_all(self, times: float) -> None:
        for task in self._watching:
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)
        self._watching = [asyncio.create_task(node.keep_asking(times, _LOOK_S)) for node in self._handles]

    async def _asked(self, method: str, *values: Any) -> list[tuple[str, Any]]:
        return list(await asyncio.gather(*(_answer(node, method, *values) for node in self._handles)))

    async def _end(self, *, in_order: bool) -> None:
        if in_order:
            ending = [asyncio.create_task(node.ask("end")) for node in self._handles]
            await asyncio.wait(ending, timeout=_END_S)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


class NodeGrader:
    """A grader of a node; see `loadgen.sessions.scoring.grader_pool.Grader`."""

    def __init__(self, node: NodeHandle, number: int, loop: asyncio.AbstractEventLoop) -> None:
        self._node = node
        self._number = number
        self._loop = loop
        self._call: Future[Any] | None = None

    def grade(self, batch: Sequence[Grading], give: Callable[[list[Result]], None]) -> None:
        """Let the node grade a batch, completely or not at all."""
        answer = _answer(self._node, "grade", self._number, batch)
        self._call = asyncio.run_coroutine_threadsafe(answer, self._loop)
        try:
            _, results = self._call.result()
        except CancelledError:
            return
        except SetupError as error:
            if self._node.lost is None:
                raise
            raise GraderLostError(str(error)) from error
        give(results)

    def kill(self) -> None:
        """Await no answer; the node ends soon."""
        if self._call is not None:
            self._call.cancel()

    def close(self) -> None:
        """Do nothing: all graders of a node end together."""


async def _answer(node: NodeHandle, method: str, *values: Any) -> tuple[str, Any]:
    """Call a method of a node; return the node's display name, and the answer."""
    try:
        answer = await node.ask(method, *values)
    except (LoadgenError, WorkloadError) as error:
        raise SetupError(f"{node.shown}: {error}") from error
    if node.lost is not None:
        raise SetupError(f"{node.shown} was lost: {node.lost}")
    return node.shown, answer


def require_alike(facts_of: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Raise `SetupError` if two nodes differ in what scores depend on."""
    first, expected = facts_of[0]
    for node, facts in facts_of[1:]:
        for kind in expected:
            for name in sorted(expected[kind].keys() | facts[kind].keys()):
                had, has = expected[kind].get(name), facts[kind].get(name)
                if had != has:
                    raise SetupError(
                        f"{node} would score otherwise than {first}: {name} is {has or 'missing'} there, and "
                        f"{had or 'missing'} on the latter; make all nodes alike, as by one container image"
                    )
