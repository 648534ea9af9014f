"""`system_desc.json` of a submission: faults are named with what to write."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from loadgen.plugins.mlperf.system_description import faults
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "mlperf.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        *(
            ({name: None}, f"{name}: ")
            for name in (
                *("division", "max_supported_concurrency", "node_types", "shortened_system_name"),
                *("system_availability_status", "system_name", "system_node_ensemble_count"),
                *("system_node_ensemble_total", "system_size", "availability_url"),
            )
        ),
        ({"system_size": 8}, "system_size: input should be a valid string"),
        ({"shortened_system_name": "x" * 21}, "shortened_system_name: string should have at most 20"),
        ({"division": "closed"}, "division: input should be 'standardized', 'serviced' or 'rdi'"),
        ({"system_availability_status": "Preview"}, "target_availability_date: a system that is preview"),
        ({"node_types": [{}]}, "node_types.0.driver: field required"),
    ],
)
def test_each_fault_of_a_system_description_is_named(changes: dict[str, Any], fault: str) -> None:
    """With what to write; the description of the page has none."""
    (shown,) = re.findall(r"```yaml\n(system: .*?)```", PAGE, flags=re.DOTALL)
    description = yaml.safe_load(shown)["system_desc"]
    assert list(faults(description)) == []
    changed_members = {name: value for name, value in {**description, **changes}.items() if value is not None}
    sentences = list(faults(changed_members))
    assert sentences[0].startswith(f"system_desc.json: {fault}")
    assert all(": --about FILE, system_desc: {" in sentence for sentence in sentences)
