"""tau2's versions of the airline and retail databases and tools.

sierra-research/tau2-bench at a2c02472, `src/tau2/domains`. Its tools are tau-bench's, but for orders whose
items were modified: their address and payment may still change. Only states are those of tau2; observations
are worded otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workloads.environments.tau.airline import airline_tools
from workloads.environments.tau.retail import address_tool, pay_otherwise, retail_tools
from workloads.environments.toolset import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from workloads.environments.toolset import State, Toolset


def tau2_state_tools(domain: str) -> Toolset:
    """The tools of `airline` or `retail`."""
    if domain == "airline":
        return airline_tools()
    tools = retail_tools()
    changed: dict[str, Callable[..., str]] = {
        "modify_pending_order_address": address_tool(_pending_order),
        "modify_pending_order_payment": modify_pending_order_payment,
    }
    return replace(tools, functions={**tools.functions, **changed})


def modify_pending_order_payment(state: State, order_id: str, payment_method_id: str) -> str:
    """Pay an order by another method, also after a modification of items."""
    return pay_otherwise(state, _pending_order(state, order_id), payment_method_id)


def _pending_order(state: State, order_id: str) -> Any:
    """The pending order, also after a modification of items."""
    if order_id not in state["orders"]:
        raise Refusal("order not found")
    if "pending" not in state["orders"][order_id]["status"]:
        raise Refusal("non-pending order cannot be modified")
    return state["orders"][order_id]
