"""Every benchmark by name, with the place of its definition, which is imported on use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from workloads.errors import TaskError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.workload import Workload

TASKS: Final[Mapping[str, str]] = {
    "aime": "workloads.tasks.aime:WORKLOAD",
    "bfcl": "workloads.tasks.bfcl:WORKLOAD",
    "coding_assistant": "workloads.tasks.coding_assistant:WORKLOAD",
    "daily_digest": "workloads.tasks.daily_digest:WORKLOAD",
    "document_qa": "workloads.tasks.document_qa:WORKLOAD",
    "email_triage": "workloads.tasks.email_triage:WORKLOAD",
    "frames": "workloads.tasks.frames:WORKLOAD",
    "gaia": "workloads.tasks.gaia:WORKLOAD",
    "gpqa": "workloads.tasks.gpqa:WORKLOAD",
    "graphwalks": "workloads.tasks.graphwalks:WORKLOAD",
    "gsm8k": "workloads.tasks.gsm8k:WORKLOAD",
    "hle": "workloads.tasks.hle:WORKLOAD",
    "hle_text_only": "workloads.tasks.hle:TEXT_ONLY",
    "humaneval": "workloads.tasks.humaneval:WORKLOAD",
    "ifeval": "workloads.tasks.ifeval:WORKLOAD",
    "knowledge_base": "workloads.tasks.knowledge_base:WORKLOAD",
    "livecodebench": "workloads.tasks.livecodebench:WORKLOAD",
    "longbench_v2": "workloads.tasks.longbench_v2:WORKLOAD",
    "math500": "workloads.tasks.math500:WORKLOAD",
    "mmlu": "workloads.tasks.mmlu:WORKLOAD",
    "mmlu_pro": "workloads.tasks.mmlu_pro:WORKLOAD",
    "mrcr": "workloads.tasks.mrcr:WORKLOAD",
    "mt_bench": "workloads.tasks.mt_bench:WORKLOAD",
    "security_scanner": "workloads.tasks.security_scanner:WORKLOAD",
    "simpleqa": "workloads.tasks.simpleqa:WORKLOAD",
    "supergpqa": "workloads.tasks.supergpqa:WORKLOAD",
    "tool_selection": "workloads.tasks.tool_selection:WORKLOAD",
    "wildchat": "workloads.tasks.wildchat:WORKLOAD",
}


def workload(name: str) -> Workload:
    """A benchmark by its name.

    Raises:
        TaskError: There is none of this name.
    """
    if name not in TASKS:
        raise TaskError(
            f"{name}: no task of this name{did_you_mean(name, TASKS)}; `loadgen list tasks` has them all"
        )
    module, _, attribute = TASKS[name].partition(":")
    found: Workload = getattr(import_module(module), attribute)
    return found
