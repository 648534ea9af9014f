"""Opens sandboxes of either kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workloads.sandbox_contract import Sandbox, SandboxSpec


def open_sandbox(spec: SandboxSpec) -> Sandbox:
    """Open a sandbox, closed by `close` or at the end of a `with` block.

    Raises:
        SandboxError: It cannot be opened: the message says what to do.
        ExtraError: The client of Docker is not installed.
    """
    if spec.kind == "docker":
        from loadgen.plugins.sandbox.container import DockerSandbox

        return DockerSandbox(spec)
    from loadgen.plugins.sandbox.local_commands import LocalSandbox

    return LocalSandbox(spec)
