"""tau2's telecom: the agent's tools and the user's phone, kept in step.

The definition is `tools.py` and `environment.py` of tau2's domain telecom. The day is 2025-02-25.
"""

from __future__ import annotations

import json
from copy import deepcopy
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from workloads.environments.tau2.phone import Phone, method
from workloads.environments.tau2.world import Observation, declared, digest_of
from workloads.environments.toolset import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from workloads.environments.toolset import State

_TODAY: Final = date(2025, 2, 25)
_TOLERANCE_GB: Final = 1e-6
_MEMBERS: Final[Mapping[str, Sequence[str]]] = {
    "customers": (
        "customer_id",
        "full_name",
        "date_of_birth",
        "email",
        "phone_number",
        "address",
        "account_status",
        "payment_methods",
        "line_ids",
        "bill_ids",
        "created_at",
        "last_extension_date",
        "goodwill_credit_used_this_year",
    ),
    "lines": (
        "line_id",
        "phone_number",
        "status",
        "plan_id",
        "device_id",
        "data_used_gb",
        "data_refueling_gb",
        "roaming_enabled",
        "contract_end_date",
        "last_plan_change_date",
        "last_sim_replacement_date",
        "suspension_start_date",
    ),
    "bills": (
        "bill_id",
        "customer_id",
        "period_start",
        "period_end",
        "issue_date",
        "total_due",
        "due_date",
        "line_items",
        "status",
    ),
    "plans": ("plan_id", "name", "data_limit_gb", "price_per_month", "data_refueling_price_per_gb"),
    "devices": (
        "device_id",
        "device_type",
        "model",
        "imei",
        "is_esim_capable",
        "activated",
        "activation_date",
        "last_esim_transfer_date",
    ),
}
"""The members of each table's rows, in the order of tau2's models."""

_TABLES: Final = {
    "L": ("lines", "line_id", "Line"),
    "D": ("devices", "device_id", "Device"),
    "B": ("bills", "bill_id", "Bill"),
    "C": ("customers", "customer_id", "Customer"),
    "P": ("plans", "plan_id", "Plan"),
}
_MOMENTS: Final = frozenset({"created_at", "activation_date", "last_esim_transfer_date"})


class Telecom:
    """The domain telecom.

    Args:
        state: The database; it changes in place.
        device: The settings of the user's phone.
    """

    def __init__(self, state: State, device: Mapping[str, Any]) -> None:
        self._state: dict[str, list[dict[str, Any]]] = {
            table: [{name: row.get(name) for name in members} for row in state[table]]
            for table, members in _MEMBERS.items()
        }
        self._phone = Phone(device)
        self._schemas = {"assistant": declared("telecom"), "user": declared("telecom_user")}
        self._names = {
            requestor: {schema["function"]["name"] for schema in schemas}
            for requestor, schemas in self._schemas.items()
        }

    def tools(self, requestor: str) -> Sequence[Mapping[str, Any]]:
        """The tools of the agent, or those of the user's phone."""
        return self._schemas[requestor]

    def call(self, requestor: str, name: str, arguments: Mapping[str, Any]) -> Observation:
        """Call a tool."""
        if name not in self._names[requestor]:
            return Observation(f"Error: Tool '{name}' not found.", failed=True)
        try:
            value = self._function(requestor, name)(**deepcopy(dict(arguments)))
            self._sync()
        except Exception as error:  # noqa: BLE001 (a model can pass anything; the world says so)
            return Observation(f"Error: {error}", failed=True)
        return Observation(value if isinstance(value, str) else json.dumps(value, default=str))

    def act(self, action: Mapping[str, Any]) -> None:
        """Run one of a task's own actions; one that fails changes nothing."""
        requestor = action.get("env_type") or action.get("requestor") or "assistant"
        name = action.get("func_name") or action["name"]
        try:
            self._function(requestor, name)(**deepcopy(dict(action["arguments"])))
        except Refusal:
            return
        self._sync()

    def digest(self) -> str:
        """SHA-256 of the database and the phone."""
        return digest_of(
            {"agent": self._state, "device": self._phone.device, "around": self._phone.surroundings}
        )

    def holds(self, assertion: Mapping[str, Any]) -> bool:
        """Whether an assertion of a task holds."""
        check = self._function(assertion["env_type"], assertion["func_name"])
        return bool(check(**assertion["arguments"]) == assertion.get("assert_value", True))

    def _function(self, requestor: str, name: str) -> Callable[..., Any]:
        if requestor == "user":
            function: Callable[..., Any] = method(self._phone, name)
            return function
        own = None if name.startswith("_") else getattr(self, name, None)
        if own is None:
            raise Refusal(f"Tool '{name}' not found.")
        return own  # type: ignore[no-any-return]

    def _sync(self) -> None:
        """Copy the line's state to the phone, and payments to the bills."""
        around = self._phone.surroundings
        if around["phone_number"] is None:
            return
        line = self._row("lines", "phone_number", around["phone_number"], "Line with phone number")
        plan = self._plan(line["plan_id"])
        around["line_active"] = line["status"] == "Active"
        around["roaming_allowed"] = line["roaming_enabled"]
        allowance = plan["data_limit_gb"] + line["data_refueling_gb"]
        around["mobile_data_usage_exceeded"] = line["data_used_gb"] >= allowance
        request = around["payment_request"]
        if request is not None and request["paid"]:
            self._bill(request["bill_id"])["status"] = "Paid"
            around["payment_request"] = request = None
        if request is None:
            for bill in self._awaiting(self._customer_by_phone(around["phone_number"]))[:1]:
                around["payment_request"] = {
                    "bill_id": bill["bill_id"],
                    "amount_due": bill["total_due"],
                    "paid": False,
                }

    # Tools of the agent…

    def get_customer_by_phone(self, phone_number: str) -> Any:
        """A customer by any phone number."""
        return _dumped(self._customer_by_phone(phone_number))

    def get_customer_by_id(self, customer_id: str) -> Any:
        """A customer."""
        return _dumped(self._customer(customer_id))

    def get_customer_by_name(self, full_name: str, dob: str) -> Any:
        """The customers of a name with a date of birth."""
        return [
            _dumped(customer)
            for customer in self._state["customers"]
            if customer["full_name"].lower() == full_name.lower() and customer["date_of_birth"] == dob
        ]

    def get_details_by_id(self, id: str) -> Any:  # noqa: A002 (as in the schema)
        """A row of any table."""
        if id[:1] not in _TABLES:
            raise Refusal(f"Unknown ID format or type: {id}")
        table, column, title = _TABLES[id[0]]
        return _dumped(self._row(table, column, id, f"{title} with ID"))

    def suspend_line(self, customer_id: str, line_id: str, reason: str) -> Any:  # noqa: ARG002 (as in the schema)
        """Suspend an active line."""
        line = self._line(customer_id, line_id)
        if line["status"] != "Active":
            raise Refusal("Line must be active to suspend")
        line |= {"status": "Suspended", "suspension_start_date": str(_TODAY)}
        message = "Line suspended successfully. $5/month holding fee will apply."
        return {"message": message, "line": _dumped(line)}

    def resume_line(self, customer_id: str, line_id: str) -> Any:
        """Resume a suspended line."""
        line = self._line(customer_id, line_id)
        if line["status"] not in {"Suspended", "Pending Activation"}:
            raise Refusal("Line must be suspended to resume")
        line |= {"status": "Active", "suspension_start_date": None}
        return {"message": "Line resumed successfully", "line": _dumped(line)}

    def get_bills_for_customer(self, customer_id: str, limit: int = 12) -> Any:
        """The bills of a customer, the newest first."""
        bills = [self._bill(bill_id) for bill_id in self._customer(customer_id)["bill_ids"]]
        newest = sorted(bills, key=lambda bill: str(bill["issue_date"]), reverse=True)
        return [_dumped(bill) for bill in newest[:limit]]

    def send_payment_request(self, customer_id: str, bill_id: str) -> str:
        """Ask a customer to pay a bill."""
        customer = self._customer(customer_id)
        if self._awaiting(customer):
            raise Refusal("A bill is already awaiting payment for this customer")
        if bill_id not in customer["bill_ids"]:
            raise Refusal(f"Bill {bill_id} not found for customer {customer_id}")
        self._bill(bill_id)["status"] = "Awaiting Payment"
        return f"Payment request sent to the customer for bill {bill_id}"

    def get_data_usage(self, customer_id: str, line_id: str) -> Any:
        """The data of a line in this month."""
        line = self._line(customer_id, line_id)
        return {
            "line_id": line_id,
            "data_used_gb": str(line["data_used_gb"]),
            "data_limit_gb": str(self._plan(line["plan_id"])["data_limit_gb"]),
            "data_refueling_gb": str(line["data_refueling_gb"]),
            "cycle_end_date": "2025-02-28",
        }

    def enable_roaming(self, customer_id: str, line_id: str) -> str:
        """Data abroad."""
        line = self._line(customer_id, line_id)
        was_enabled, line["roaming_enabled"] = line["roaming_enabled"], True
        return "Roaming was already enabled" if was_enabled else "Roaming enabled successfully"

    def disable_roaming(self, customer_id: str, line_id: str) -> str:
        """No data abroad."""
        line = self._line(customer_id, line_id)
        was_enabled, line["roaming_enabled"] = line["roaming_enabled"], False
        return "Roaming disabled successfully" if was_enabled else "Roaming was already disabled"

    def transfer_to_human_agents(self, summary: str) -> str:  # noqa: ARG002 (as in the schema)
        """Nothing: the user ends the conversation."""
        return "Transfer successful"

    def refuel_data(self, customer_id: str, line_id: str, gb_amount: float) -> Any:
        """Add data to a line, on the next bill."""
        line = self._line(customer_id, line_id)
        if gb_amount <= 0:
            raise Refusal("Refuel amount must be positive")
        price = self._plan(line["plan_id"])["data_refueling_price_per_gb"]
        charge = gb_amount * price
        line["data_refueling_gb"] += gb_amount
        self._charge(customer_id, charge, f"Data refueling: {gb_amount} GB at ${price}/GB")
        return {
            "message": f"Successfully added {gb_amount} GB of data for line {line_id} for ${charge:.2f}",
            "new_data_refueling_gb": str(line["data_refueling_gb"]),
            "charge": str(charge),
        }

    # Actions of tasks…

    def set_data_usage(self, customer_id: str, line_id: str, data_used_gb: float) -> None:
        """How much data a line has used."""
        self._line(customer_id, line_id)["data_used_gb"] = data_used_gb

    def suspend_line_for_overdue_bill(
        self, customer_id: str, line_id: str, new_bill_id: str, *, contract_ended: bool
    ) -> None:
        """Suspend a line for a bill of the month before, which was not paid."""
        line = self._row("lines", "line_id", line_id, "Line with ID")
        amount = self._plan(line["plan_id"])["price_per_month"]
        item = _line_item(f"Charge for line {line_id}", amount)
        bill = _bill(new_bill_id, customer_id, date(2025, 1, 1), date(2025, 1, 31), "Overdue")
        self._state["bills"].append({**bill, "line_items": [item], "total_due": amount})
        self._customer(customer_id)["bill_ids"].append(new_bill_id)
        line |= {"status": "Suspended", "suspension_start_date": str(_TODAY)}
        if contract_ended:
            line["contract_end_date"] = "2025-01-31"

    # Assertions of tasks…

    def assert_data_refueling_amount(self, customer_id: str, line_id: str, expected_amount: float) -> bool:
        """How much data was added to a line."""
        return bool(
            abs(self._line(customer_id, line_id)["data_refueling_gb"] - expected_amount) < _TOLERANCE_GB
        )

    def assert_no_overdue_bill(self, overdue_bill_id: str) -> bool:
        """Whether a bill is paid, or is not there."""
        bills = [bill for bill in self._state["bills"] if bill["bill_id"] == overdue_bill_id]
        return not bills or bills[0]["status"] == "Paid"

    # Rows…

    def _row(self, table: str, column: str, value: str, what: str) -> dict[str, Any]:
        for row in self._state[table]:
            if row[column] == value:
                return row
        raise Refusal(f"{what} {value} not found")

    def _customer(self, customer_id: str) -> dict[str, Any]:
        return self._row("customers", "customer_id", customer_id, "Customer with ID")

    def _bill(self, bill_id: str) -> dict[str, Any]:
        return self._row("bills", "bill_id", bill_id, "Bill with ID")

    def _plan(self, plan_id: str) -> dict[str, Any]:
        return self._row("plans", "plan_id", plan_id, "Plan with ID")

    def _line(self, customer_id: str, line_id: str) -> dict[str, Any]:
        if line_id not in self._customer(customer_id)["line_ids"]:
            raise Refusal(f"Line {line_id} not found for customer {customer_id}")
        return self._row("lines", "line_id", line_id, "Line with ID")

    def _customer_by_phone(self, phone_number: str) -> dict[str, Any]:
        numbers = {line["line_id"]: line["phone_number"] for line in self._state["lines"]}
        for customer in self._state["customers"]:
            lines = [numbers[line_id] for line_id in customer["line_ids"]]
            if phone_number in {customer["phone_number"], *lines}:
                return customer
        raise Refusal(f"Customer with phone number {phone_number} not found")

    def _awaiting(self, customer: Mapping[str, Any]) -> list[dict[str, Any]]:
        bills = map(self._bill, customer["bill_ids"])
        return [bill for bill in bills if bill["status"] == "Awaiting Payment"]

    def _charge(self, customer_id: str, amount: float, description: str) -> None:
        """Put an amount on the customer's next bill, which is made where there is none."""
        customer = self._customer(customer_id)
        drafts = [bill for bill in map(self._bill, customer["bill_ids"]) if bill["status"] == "Draft"]
        if not drafts:
            identifier = f"B{len(self._state['bills']):08x}"
            bill = _bill(identifier, customer_id, date(2025, 3, 1), date(2025, 3, 31), "Draft")
            self._state["bills"].append(bill)
            customer["bill_ids"].append(identifier)
            drafts = [bill]
        drafts[0]["line_items"].append(_line_item(description, amount))
        drafts[0]["total_due"] += amount


def _bill(identifier: str, customer_id: str, start: date, end: date, status: str) -> dict[str, Any]:
    return {
        "bill_id": identifier,
        "customer_id": customer_id,
        "period_start": str(start),
        "period_end": str(end),
        "issue_date": str(start),
        "total_due": 0,
        "due_date": str(start + timedelta(days=14)),
        "line_items": [],
        "status": status,
    }


def _line_item(description: str, amount: float) -> dict[str, Any]:
    return {
        "description": description,
        "amount": amount,
        "date": str(_TODAY),
        "item_type": "Credit" if amount < 0 else "Charge",
    }


def _dumped(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row in tau2's format: timestamps with a blank in the middle."""
    shown = deepcopy(dict(row))
    for name in _MOMENTS & shown.keys():
        if isinstance(shown[name], str):
            shown[name] = str(datetime.fromisoformat(shown[name]))
    return shown
