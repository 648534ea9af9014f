"""`system_desc.json` and `system_power.json` of a submission: faults are named with what to write."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from loadgen.plugins.mlperf import system_description, system_power
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "mlperf.md").read_text(encoding="utf-8")
FIGURE = {"value_w": 700, "source_type": "vendor_spec", "source": "https://example.com/8xH200"}
NODES = {"node_set_id": 1, "system_node_ensemble_id": 1, "nodes_provisioned": 1}


def shown(member: str) -> Any:
    """The example of the page."""
    (about,) = re.findall(r"```yaml\n(system: .*?)```", PAGE, flags=re.DOTALL)
    return yaml.safe_load(about)[member]


def changed(members: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Members with others in their place; None leaves one out."""
    return {name: value for name, value in {**members, **changes}.items() if value is not None}


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
    description = shown("system_desc")
    assert list(system_description.faults(description)) == []
    sentences = list(system_description.faults(changed(description, changes)))
    assert sentences[0].startswith(f"system_desc.json: {fault}")
    assert all(": --about FILE, system_desc: {" in sentence for sentence in sentences)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        *(({name: None}, f"{name}: field required") for name in shown("system_power")),
        ({"cooling": "fans"}, "cooling: input should be 'liquid' or 'air'"),
        ({"node_sets": []}, "node_sets: list should have at least 1 item"),
        (
            {"node_sets": [{**NODES, "power_method": "component_sum"}]},
            "node_sets.0: component_sum needs components",
        ),
        (
            {"node_sets": [{**NODES, "power_method": "node_scaling"}]},
            "node_sets.0: node_scaling needs published_power",
        ),
        (
            {
                "node_sets": [
                    {
                        **NODES,
                        "power_method": "published_system",
                        "published_power": {**FIGURE, "value_kw": 1},
                    }
                ]
            },
            "node_sets.0.published_power: needs exactly one of value_w, value_kw and value_pj",
        ),
        (
            {"declared_provisioned_power": {"value_kw": 1, "source_type": "measured", "source": "us"}},
            "declared_provisioned_power.source_type: input should be 'vendor_spec'",
        ),
        (
            {"scale_out": {"present": True, "cabling": "passive"}},
            "scale_out: present: true needs nics, required_bandwidth_tbps, switches",
        ),
    ],
)
def test_each_fault_of_the_provisioned_power_is_named(changes: dict[str, Any], fault: str) -> None:
    """With what to write; the power of the page has none, and an empty one lacks all."""
    power = shown("system_power")
    assert list(system_power.faults(power)) == []
    (sentence,) = system_power.faults(changed(power, changes))
    assert sentence.startswith(f"system_power.json: {fault}")
    assert ": --about FILE, system_power: {" in sentence
    assert len(list(system_power.faults({}))) == len(power)
