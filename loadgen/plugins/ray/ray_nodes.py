"""Nodes that Ray runs: an actor on each machine of a cluster. Nothing else here knows Ray."""

from __future__ import annotations

import logging
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Final, Self

from loadgen.driver.errors import NodeGoneError
from loadgen.plugins.ray import node_facts
from loadgen.sessions.errors import SetupError
from recorder.shards import node_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

START_S: Final = 120.0
"""So long a node may take to start a process, which needs CPUs that no other job has."""

_MISSING: Final = "--ray needs Ray, which is not installed: pip install 'llm-loadgen[ray]'"


class RayLink:
    """The way to a node by Ray; see `loadgen.plugins.ray.node_links.NodeLink`."""

    def __init__(self, name: str, host: str, actor: Any, ray_node: str) -> None:
        self.name = name
        self.host = host
        self.actor = actor
        self.ray_node = ray_node

    async def call(self, method: str, *values: Any) -> Any:
        """Call a method of the node, and return the result."""
        from ray.exceptions import RayError, RayTaskError

        try:
            return await getattr(self.actor, method).remote(*values)
        except RayTaskError as error:
            raise error.cause from None
        except RayError as error:
            raise NodeGoneError(_first_line(error)) from error

    def kill(self) -> None:
        """End the node immediately."""
        import ray

        with suppress(Exception):  # it may be dead, or Ray may have been shut down
            ray.kill(self.actor)


class RayNodes:
    """One node on each machine of a cluster; see `loadgen.plugins.ray.node_links.StartedNodes`.

    A context manager at whose end the nodes have ended, and Ray is left as it was.

    Args:
        number: How many machines take part; None for all that have CPUs.
        first: The number of the first node; earlier ones have taken part before.
    """

    def __init__(self, address: str, number: int | None, service: type[Any], first: int = 0) -> None:
        self.links: Sequence[RayLink] = ()
        self.facts: Sequence[Mapping[str, Any]] = ()
        self._address = address
        self._number = number
        self._service = service
        self._first = first

    def __enter__(self) -> Self:
        """Connect, and choose the machines.

        Raises:
            SetupError: Ray is not installed, there is no cluster, or it has too few nodes.
        """
        try:
            import ray
        except ImportError as error:
            raise SetupError(_MISSING) from error
        with ExitStack() as life:
            if not ray.is_initialized():
                self._connect()
                life.callback(ray.shutdown)
            life.callback(self._kill_all)
            self._machines = self._choose()
            self.facts = self._facts()
            self._life = life.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._life.close()

    def _connect(self) -> None:
        import ray

        try:
            ray.init(self._address, logging_level=logging.ERROR, log_to_driver=False, configure_logging=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise SetupError(
                f"--ray {self._address}: no cluster of Ray can be used there ({_first_line(error)}); "
                "start one with `ray start --head`, and `ray start --address …` on the other "
                "machines; for one that wants a token, set RAY_AUTH_MODE=token"
            ) from error

    def _kill_all(self) -> None:
        for link in self.links:
            link.kill()

    def start(self, cpus: int | None) -> None:
        """Start a node on each machine, or raise `SetupError`."""
        import ray
        from ray.exceptions import RayError

        for machine, facts in zip(self._machines, self.facts, strict=True):
            has = machine["Resources"]["CPU"]
            actor = self._actor(machine["NodeID"], has if cpus is None else min(cpus, has))
            self.links = [*self.links, RayLink(facts["shard"], facts["host"], actor, machine["NodeID"])]
        for link in self.links:
            try:
                ray.get(link.actor.started.remote(), timeout=START_S)
            except RayError as error:
                raise SetupError(
                    f"{link.name} ({link.host}) started no process within {START_S:g} s "
                    f"({_first_line(error)}); see `ray status` for jobs that use the CPUs; wait, or give "
                    "fewer --nodes or --workers"
                ) from error

    def shared(self, value: Any) -> Any:
        """A reference to a value in a call: sent once to each machine."""
        import ray

        return ray.put(value)

    async def again(self, name: str) -> RayLink:
        """Start another node on the machine of one that was lost."""
        link = next(link for link in self.links if link.name == name)
        return RayLink(link.name, link.host, self._actor(link.ray_node, 0), link.ray_node)

    def _actor(self, ray_node: str, cpus: float) -> Any:
        import ray

        # Else each call is reported to the cluster's head, by both sides.
        options = {"num_cpus": cpus, "max_restarts": 0, "enable_task_events": False, **_on(ray_node)}
        return ray.remote(self._service).options(**options).remote()

    def _choose(self) -> list[dict[str, Any]]:
        import ray

        machines = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        wanted = self._number or len(machines)
        if not machines or len(machines) < wanted:
            raise SetupError(
                f"--nodes {wanted or 1}: the cluster has {len(machines)} with CPUs: start more "
                "(`ray start --address …`), or give fewer"
            )
        return sorted(machines, key=lambda node: (node["NodeManagerAddress"], node["NodeID"]))[:wanted]

    def _facts(self) -> list[Mapping[str, Any]]:
        """The installed software of each machine, queried concurrently."""
        import ray
        from ray.exceptions import RayError

        # With `max_calls` the process that answers ends at once: else Ray ends it a second later, which takes
        # 0.2 s of CPU while requests are issued.
        once = ray.remote(num_cpus=0, max_calls=1)
        ray.cloudpickle.register_pickle_by_value(node_facts)
        try:
            asked = [
                once(node_facts.machine_facts).options(**_on(machine["NodeID"])).remote()
                for machine in self._machines
            ]
        finally:
            ray.cloudpickle.unregister_pickle_by_value(node_facts)
        _, late = ray.wait(asked, num_returns=len(asked), timeout=START_S)
        answers = []
        for answer, machine in zip(asked, self._machines, strict=True):
            shown = f"the node {machine['NodeManagerAddress']} ({machine['NodeManagerHostname']})"
            if answer in late:
                raise SetupError(f"{shown} of the cluster did not answer within {START_S:g} s")
            try:
                answers.append(ray.get(answer))
            except RayError as error:
                raise SetupError(f"{shown} of the cluster did not answer: {_first_line(error)}") from error
        return [
            {"shard": node_name(number), **facts, "ray_node": machine["NodeID"]}
            for number, (facts, machine) in enumerate(
                zip(answers, self._machines, strict=True), start=self._first
            )
        ]


def _on(ray_node: str) -> Mapping[str, Any]:
    """The options by which a task or an actor runs on a machine, and nowhere else."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return {"scheduling_strategy": NodeAffinitySchedulingStrategy(node_id=ray_node, soft=False)}


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].strip().rstrip(".") if lines else type(error).__name__
