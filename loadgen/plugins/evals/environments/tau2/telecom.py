"""tau2's telecom: the agent's tools, and the synchronization of the user's phone.

The definition is `tools.py` and `environment.py` of tau2's domain telecom. The day is 2025-02-25.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.toolset import Refusal
from loadgen.plugins.evals.environments.tau2.phone import TelecomUserTools
from loadgen.plugins.evals.environments.tau2.telecom_models import Bill, LineItem, TelecomDB
from loadgen.plugins.evals.environments.tau2.world import Kit, World, declared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.plugins.evals.environments.tau2.telecom_models import Customer, PhoneLine, TelecomPlan

_TODAY: Final = date(2025, 2, 25)
_TOLERANCE_GB: Final = 1e-6
_TABLES: Final = {
    "L": ("lines", "line_id", "Line"),
    "D": ("devices", "device_id", "Device"),
    "B": ("bills", "bill_id", "Bill"),
    "C": ("customers", "customer_id", "Customer"),
    "P": ("plans", "plan_id", "Plan"),
}


def open_telecom(database: Mapping[str, Any], device: Mapping[str, Any]) -> World:
    """The domain telecom."""
    tables = TelecomDB.model_validate(database)
    tools, phone = TelecomTools(tables), TelecomUserTools(device)
    kits = {
        "assistant": Kit(tools, declared("telecom"), tables),
        "user": Kit(phone, declared("telecom_user"), (phone.device, phone.surroundings)),
    }
    return World(kits, lambda: tools.sync(phone.surroundings))


class TelecomTools:
    """The tools of the agent."""

    def __init__(self, database: TelecomDB) -> None:
        self._db = database

    def sync(self, around: dict[str, Any]) -> None:
        """Copy the line's state to the phone's surroundings, and payments to the bills."""
        if around["phone_number"] is None:
            return
        line = self._row("lines", "phone_number", around["phone_number"], "Line with phone number")
        plan = self._plan(line.plan_id)
        around["line_active"] = line.status == "Active"
        around["roaming_allowed"] = line.roaming_enabled
        around["mobile_data_usage_exceeded"] = (
            line.data_used_gb >= plan.data_limit_gb + line.data_refueling_gb
        )
        request = around["payment_request"]
        if request is not None and request["paid"]:
            self._bill(request["bill_id"]).status = "Paid"
            around["payment_request"] = request = None
        if request is None:
            for bill in self._awaiting(self._customer_by_phone(around["phone_number"]))[:1]:
                around["payment_request"] = {
                    "bill_id": bill.bill_id,
                    "amount_due": bill.total_due,
                    "paid": False,
                }

    # Tools of the agent…

    def get_customer_by_phone(self, phone_number: str) -> Customer:
        """A customer by any phone number."""
        return self._customer_by_phone(phone_number)

    def get_customer_by_id(self, customer_id: str) -> Customer:
        """A customer."""
        return self._customer(customer_id)

    def get_customer_by_name(self, full_name: str, dob: str) -> list[Customer]:
        """The customers of a name with a date of birth."""
        return [
            customer
            for customer in self._db.customers
            if customer.full_name.lower() == full_name.lower() and customer.date_of_birth == dob
        ]

    def get_details_by_id(self, id: str) -> Any:  # noqa: A002 (as in the schema)
        """A row of any table."""
        for letter, (table, column, title) in _TABLES.items():
            if id.startswith(letter):
                return self._row(table, column, id, f"{title} with ID")
        raise Refusal(f"Unknown ID format or type: {id}")

    def suspend_line(self, customer_id: str, line_id: str, reason: str) -> dict[str, Any]:  # noqa: ARG002 (as in the schema)
        """Suspend an active line."""
        line = self._line(customer_id, line_id)
        if line.status != "Active":
            raise Refusal("Line must be active to suspend")
        line.status, line.suspension_start_date = "Suspended", _TODAY
        return {"message": "Line suspended successfully. $5/month holding fee will apply.", "line": line}

    def resume_line(self, customer_id: str, line_id: str) -> dict[str, Any]:
        """Resume a suspended line."""
        line = self._line(customer_id, line_id)
        if line.status not in {"Suspended", "Pending Activation"}:
            raise Refusal("Line must be suspended to resume")
        line.status, line.suspension_start_date = "Active", None
        return {"message": "Line resumed successfully", "line": line}

    def get_bills_for_customer(self, customer_id: str, limit: int = 12) -> list[Bill]:
        """The bills of a customer, the newest first."""
        bills = map(self._bill, self._customer(customer_id).bill_ids)
        return sorted(bills, key=lambda bill: bill.issue_date, reverse=True)[:limit]

    def send_payment_request(self, customer_id: str, bill_id: str) -> str:
        """Ask a customer to pay a bill."""
        customer = self._customer(customer_id)
        if self._awaiting(customer):
            raise Refusal("A bill is already awaiting payment for this customer")
        if bill_id not in customer.bill_ids:
            raise Refusal(f"Bill {bill_id} not found for customer {customer_id}")
        self._bill(bill_id).status = "Awaiting Payment"
        return f"Payment request sent to the customer for bill {bill_id}"

    def get_data_usage(self, customer_id: str, line_id: str) -> dict[str, Any]:
        """The data of a line in this month."""
        line = self._line(customer_id, line_id)
        return {
            "line_id": line_id,
            "data_used_gb": line.data_used_gb,
            "data_limit_gb": self._plan(line.plan_id).data_limit_gb,
            "data_refueling_gb": line.data_refueling_gb,
            "cycle_end_date": "2025-02-28",
        }

    def enable_roaming(self, customer_id: str, line_id: str) -> str:
        """Data abroad."""
        line = self._line(customer_id, line_id)
        was_enabled, line.roaming_enabled = line.roaming_enabled, True
        return "Roaming was already enabled" if was_enabled else "Roaming enabled successfully"

    def disable_roaming(self, customer_id: str, line_id: str) -> str:
        """No data abroad."""
        line = self._line(customer_id, line_id)
        was_enabled, line.roaming_enabled = line.roaming_enabled, False
        return "Roaming disabled successfully" if was_enabled else "Roaming was already disabled"

    def transfer_to_human_agents(self, summary: str) -> str:  # noqa: ARG002 (as in the schema)
        """Nothing: the user ends the conversation."""
        return "Transfer successful"

    def refuel_data(self, customer_id: str, line_id: str, gb_amount: float) -> dict[str, Any]:
        """Add data to a line, on the next bill."""
        line = self._line(customer_id, line_id)
        if gb_amount <= 0:
            raise Refusal("Refuel amount must be positive")
        price = self._plan(line.plan_id).data_refueling_price_per_gb
        charge = gb_amount * price
        line.data_refueling_gb += gb_amount
        self._charge(customer_id, charge, f"Data refueling: {gb_amount} GB at ${price}/GB")
        return {
            "message": f"Successfully added {gb_amount} GB of data for line {line_id} for ${charge:.2f}",
            "new_data_refueling_gb": line.data_refueling_gb,
            "charge": charge,
        }

    # Actions of tasks…

    def set_data_usage(self, customer_id: str, line_id: str, data_used_gb: float) -> None:
        """How much data a line has used."""
        self._line(customer_id, line_id).data_used_gb = data_used_gb

    def suspend_line_for_overdue_bill(
        self, customer_id: str, line_id: str, new_bill_id: str, *, contract_ended: bool
    ) -> None:
        """Suspend a line for a bill of the month before, which was not paid."""
        line = self._line_by_id(line_id)
        bill = _bill(new_bill_id, customer_id, date(2025, 1, 1), date(2025, 1, 31), "Overdue")
        _add_item(bill, f"Charge for line {line_id}", self._plan(line.plan_id).price_per_month)
        self._db.bills.append(bill)
        self._customer(customer_id).bill_ids.append(new_bill_id)
        line.status, line.suspension_start_date = "Suspended", _TODAY
        if contract_ended:
            line.contract_end_date = bill.period_end

    # Assertions of tasks…

    def assert_data_refueling_amount(self, customer_id: str, line_id: str, expected_amount: float) -> bool:
        """How much data was added to a line."""
        return abs(self._line(customer_id, line_id).data_refueling_gb - expected_amount) < _TOLERANCE_GB

    def assert_no_overdue_bill(self, overdue_bill_id: str) -> bool:
        """Whether a bill is paid, or is not there."""
        bills = [bill for bill in self._db.bills if bill.bill_id == overdue_bill_id]
        return not bills or bills[0].status == "Paid"

    # Rows…

    def _row(self, table: str, column: str, value: str, what: str) -> Any:
        for row in getattr(self._db, table):
            if getattr(row, column) == value:
                return row
        raise Refusal(f"{what} {value} not found")

    def _customer(self, customer_id: str) -> Customer:
        return self._row("customers", "customer_id", customer_id, "Customer with ID")  # type: ignore[no-any-return]

    def _bill(self, bill_id: str) -> Bill:
        return self._row("bills", "bill_id", bill_id, "Bill with ID")  # type: ignore[no-any-return]

    def _plan(self, plan_id: str) -> TelecomPlan:
        return self._row("plans", "plan_id", plan_id, "Plan with ID")  # type: ignore[no-any-return]

    def _line_by_id(self, line_id: str) -> PhoneLine:
        return self._row("lines", "line_id", line_id, "Line with ID")  # type: ignore[no-any-return]

    def _line(self, customer_id: str, line_id: str) -> PhoneLine:
        if line_id not in self._customer(customer_id).line_ids:
            raise Refusal(f"Line {line_id} not found for customer {customer_id}")
        return self._line_by_id(line_id)

    def _customer_by_phone(self, phone_number: str) -> Customer:
        for customer in self._db.customers:
            lines = [self._line_by_id(line_id).phone_number for line_id in customer.line_ids]
            if phone_number in [customer.phone_number, *lines]:
                return customer
        raise Refusal(f"Customer with phone number {phone_number} not found")

    def _awaiting(self, customer: Customer) -> list[Bill]:
        bills = map(self._bill, customer.bill_ids)
        return [bill for bill in bills if bill.status == "Awaiting Payment"]

    def _charge(self, customer_id: str, amount: float, description: str) -> None:
        """Put an amount on the customer's next bill, which is made where there is none."""
        customer = self._customer(customer_id)
        drafts = [bill for bill in map(self._bill, customer.bill_ids) if bill.status == "Draft"]
        if not drafts:
            identifier = f"B{len(self._db.bills):08x}"
            drafts = [_bill(identifier, customer_id, date(2025, 3, 1), date(2025, 3, 31), "Draft")]
            self._db.bills += drafts
            customer.bill_ids.append(identifier)
        _add_item(drafts[0], description, amount)


def _bill(identifier: str, customer_id: str, start: date, end: date, status: str) -> Bill:
    return Bill(
        bill_id=identifier,
        customer_id=customer_id,
        period_start=start,
        period_end=end,
        issue_date=start,
        total_due=0,
        due_date=start + timedelta(days=14),
        status=status,
    )


def _add_item(bill: Bill, description: str, amount: float) -> None:
    kind = "Credit" if amount < 0 else "Charge"
    bill.line_items.append(LineItem(description=description, amount=amount, date=_TODAY, item_type=kind))
    bill.total_due += amount
