"""tau2's telecom: a user with a phone, an agent with a database, and what one changes for the other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.tasks.tau2 import grade
from tests.plugins.evals.tasks.scripted import ScriptedAsk, calling, played, saying
from tests.plugins.evals.tau2_worlds import CUSTOMER, DEVICE, LINE, PLAN, world_of
from workloads.question_loading import load
from workloads.task import parse

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.plugins.evals.environments.tau2.world import World
    from workloads.question import Question

INITIAL = [
    {"env_type": "user", "func_name": "set_user_info", "arguments": {"name": "Ann", "phone_number": "555"}},
    {"env_type": "user", "func_name": "set_user_location", "arguments": {"abroad": True}},
    {"env_type": "user", "func_name": "turn_airplane_mode_on", "arguments": {}},
]
ROAMING = ("enable_roaming", {"customer_id": "C1", "line_id": "L1"})


@pytest.fixture
def world() -> World:
    """A customer abroad, in airplane mode, whose line has no roaming."""
    telecom = world_of("telecom")
    for action in INITIAL:
        telecom.act(action)
    return telecom


def speed_is_excellent(world: World) -> bool:
    """What tasks assert in the end."""
    arguments = {"expected_speed": 200, "expected_desc": "excellent"}
    assertion = {"env_type": "user", "func_name": "assert_internet_speed", "arguments": arguments}
    return world.holds({**assertion, "assert_value": True})


def test_what_the_agent_changes_the_phone_shows(world: World) -> None:
    """Data works abroad when both sides have turned it on."""
    assert world.call("user", "run_speed_test", {}).text == "Speed test failed: No Connection."
    bar = "Status Bar: 📶⁴ Excellent | 5G | 📱 Data Enabled | 🔋 80%"
    switched = world.call("user", "toggle_airplane_mode", {}).text
    assert switched == f"Airplane Mode is now OFF.\n{bar}"
    assert not speed_is_excellent(world)
    assert world.call("assistant", *ROAMING).text == "Roaming enabled successfully"
    assert world.call("assistant", *ROAMING).text == "Roaming was already enabled"
    assert speed_is_excellent(world)
    assert world.call("user", "run_speed_test", {}).text.startswith(
        "Speed Test Result: 275.00 Mbps (Excellent)"
    )
    world.act({"env_type": "user", "func_name": "break_vpn", "arguments": {}})
    assert "PerformanceLevel.POOR: 'poor'" in world.call("user", "check_vpn_status", {}).text
    assert not speed_is_excellent(world)


def test_a_bill(world: World) -> None:
    """A suspended line has no service; the user pays what the agent asks for."""
    arguments = {"customer_id": "C1", "line_id": "L1", "new_bill_id": "B9", "contract_ended": False}
    world.act({"env_type": "assistant", "func_name": "suspend_line_for_overdue_bill", "arguments": arguments})
    world.act({"env_type": "user", "func_name": "simulate_network_search", "arguments": {}})
    assert "no_service" in world.call("user", "check_network_status", {}).text
    assert world.call("user", "make_payment", {}).text == "You do not have a payment request."
    asked = world.call("assistant", "send_payment_request", {"customer_id": "C1", "bill_id": "B9"})
    assert asked.text == "Payment request sent to the customer for bill B9"
    shown = world.call("user", "check_payment_request", {}).text
    assert shown == "You have a payment request for bill B9 of 40.0 USD."
    unpaid = {
        "env_type": "assistant",
        "func_name": "assert_no_overdue_bill",
        "arguments": {"overdue_bill_id": "B9"},
    }
    assert not world.holds(unpaid)
    world.call("user", "make_payment", {})
    assert world.holds(unpaid)
    assert "resumed" in world.call("assistant", "resume_line", {"customer_id": "C1", "line_id": "L1"}).text


def test_refusals_and_amounts(world: World) -> None:
    """Numbers in objects are texts, as in tau2; neither side has the other's tools."""
    usage = json.loads(world.call("assistant", "get_data_usage", ROAMING[1]).text)
    assert (usage["data_used_gb"], usage["cycle_end_date"]) == ("1.0", "2025-02-28")
    refuelled = json.loads(world.call("assistant", "refuel_data", {**ROAMING[1], "gb_amount": 2.0}).text)
    assert refuelled["charge"] == "4.0"
    assert json.loads(world.call("assistant", "get_customer_by_id", {"customer_id": "C1"}).text)[
        "created_at"
    ] == ("2025-01-15 10:30:00")
    for requestor, name, arguments, message in (
        ("assistant", "toggle_data", {}, "Error: Tool 'toggle_data' not found."),
        ("user", "break_vpn", {}, "Error: Tool 'break_vpn' not found."),
        ("assistant", "get_details_by_id", {"id": "X1"}, "Error: Unknown ID format or type: X1"),
        ("assistant", "get_details_by_id", {"id": "L9"}, "Error: Line with ID L9 not found"),
        ("assistant", "resume_line", ROAMING[1], "Error: Line must be suspended to resume"),
    ):
        assert world.call(requestor, name, arguments) == (message, True)


def test_permissions_and_picture_messages(world: World) -> None:
    """Picture messages need the network, the access point and two permissions."""
    world.call("assistant", *ROAMING)
    world.call("user", "toggle_airplane_mode", {})
    assert world.call("user", "can_send_mms", {}).text == "Your messaging app can send MMS messages."
    removed = {"app_name": "messaging", "permission": "sms"}
    world.act({"env_type": "user", "func_name": "remove_app_permission", "arguments": removed})
    world.act({"env_type": "user", "func_name": "break_apn_mms_setting", "arguments": {}})
    world.call("user", "grant_app_permission", removed)
    assert world.call("user", "can_send_mms", {}).text == "Your messaging app cannot send MMS messages."
    world.call("user", "reset_apn_settings", {})
    assert world.call("user", "reboot_device", {}).text.startswith("Resetting APN settings...\nRestarting")
    assert world.call("user", "can_send_mms", {}).text == "Your messaging app can send MMS messages."


@pytest.fixture
def question(tmp_path: Path) -> Question:
    """A task that the user and the agent solve together."""
    assertion = {
        "env_type": "user",
        "func_name": "assert_mobile_data_status",
        "arguments": {"expected_status": True},
        "assert_value": True,
    }
    actions = [
        {"requestor": "user", "name": "toggle_airplane_mode", "arguments": {}},
        {"requestor": "assistant", "name": ROAMING[0], "arguments": ROAMING[1]},
    ]
    task = {
        "id": "[data]",
        "user_scenario": {"persona": "Shy.", "instructions": "Get data."},
        "initial_state": {"initialization_actions": INITIAL},
        "evaluation_criteria": {
            "actions": actions,
            "env_assertions": [assertion],
            "reward_basis": ["ENV_ASSERTION", "ACTION"],
        },
    }
    (tmp_path / "telecom__tasks.json").write_text(json.dumps([task]))
    (tmp_path / "telecom__split_tasks.json").write_text(json.dumps({"base": ["[data]"]}))
    (tmp_path / "telecom__main_policy.md").write_text("Be kind.")
    (tmp_path / "telecom__tech_support_manual.md").write_text("Try all.")
    address = f"[customers.address]\n{_toml(CUSTOMER['address'])}"
    rows = {"lines": LINE, "plans": PLAN, "customers": {**CUSTOMER, "address": None}}
    tables = [f"[[{name}]]\n{_toml(row)}" for name, row in rows.items()] + [address]
    (tmp_path / "telecom__db.toml").write_text("bills = []\ndevices = []\n" + "\n".join(tables))
    plain = {name: value for name, value in DEVICE.items() if not isinstance(value, dict)}
    nested = (
        '[device.active_apn_settings]\napn_name = "internet"\n'
        "[device.app_statuses.messaging.permissions]\nsms = true\nstorage = true\n"
    )
    (tmp_path / "telecom__user_db.toml").write_text(f"[device]\n{_toml(plain)}\n{nested}")
    (question,) = load(parse("tau2:domain=telecom"), tmp_path).questions
    return question


def _toml(row: dict[str, Any]) -> str:
    return "\n".join(f"{name} = {json.dumps(value)}" for name, value in row.items() if value is not None)


SWITCH = calling(("toggle_airplane_mode", {}))
ENABLE = calling(ROAMING)
ASKS, DONE, STOPS = saying("No data."), saying("Done."), saying("###STOP###")


@pytest.mark.parametrize(
    ("replies", "users", "value", "reason"),
    [
        ([ENABLE, saying("Switch it off.")], [ASKS, SWITCH, STOPS], 1, ""),
        ([saying("Switch it off.")], [ASKS, SWITCH, STOPS], 0, "ACTION, ENV_ASSERTION"),
        ([ENABLE, saying("Switch."), DONE], [ASKS, SWITCH, DONE, SWITCH, STOPS], 0, "ENV_ASSERTION"),
    ],
)
def test_episodes(
    question: Question, replies: list[Any], users: list[Any], value: float, reason: str
) -> None:
    """Calls of both sides count, and the world that they leave."""
    ask = ScriptedAsk(replies, users)
    score = grade(question.reference, played(question, ask))
    assert (score.value, score.reason) == (value, reason)
    assert "check_status_bar" in [tool["function"]["name"] for tool in ask.user_requests[0].tools]
    assert "<tech_support_policy>\nTry all.\n" in ask.requests[0].messages[0]["content"]
    assert "Airplane Mode" not in json.dumps(ask.requests[-1].messages), "only the user sees the phone"
