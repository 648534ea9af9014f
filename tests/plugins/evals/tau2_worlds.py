"""Small databases of tau2's domains, and their worlds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from loadgen.plugins.evals.environments.tau2.airline import open_airline
from loadgen.plugins.evals.environments.tau2.retail import open_retail
from loadgen.plugins.evals.environments.tau2.telecom import open_telecom

if TYPE_CHECKING:
    from loadgen.plugins.evals.environments.tau2.world import World

_ADDRESS = {
    "address1": "1 Road",
    "address2": "",
    "city": "Rome",
    "country": "IT",
    "state": "RM",
    "zip": "1",
}
_DAY = {"status": "available", "available_seats": {"economy": 2}, "prices": {"economy": 100}}
AIRLINE: dict[str, Any] = {
    "flights": {
        "F1": {
            "flight_number": "F1",
            "origin": "JFK",
            "destination": "ORD",
            "scheduled_departure_time_est": "08:00:00",
            "scheduled_arrival_time_est": "09:00:00",
            "dates": {"2024-05-20": _DAY, "2024-05-21": {"status": "cancelled"}},
        }
    },
    "reservations": {},
    "users": {
        "ann": {
            "user_id": "ann",
            "name": {"first_name": "Ann", "last_name": "Li"},
            "address": _ADDRESS,
            "email": "ann@x.org",
            "dob": "1990-01-01",
            "payment_methods": {
                "card": {"source": "credit_card", "id": "card", "brand": "visa", "last_four": "1234"},
                "gift": {"source": "gift_card", "id": "gift", "amount": 120},
            },
            "saved_passengers": [],
            "membership": "regular",
            "reservations": [],
        }
    },
}
BOOKING: dict[str, Any] = {
    "user_id": "ann",
    "origin": "JFK",
    "destination": "ORD",
    "flight_type": "one_way",
    "cabin": "economy",
    "flights": [{"flight_number": "F1", "date": "2024-05-20"}],
    "passengers": [{"first_name": "Ann", "last_name": "Li", "dob": "1990-01-01"}],
    "payment_methods": [{"payment_id": "gift", "amount": 100}],
    "total_baggages": 0,
    "nonfree_baggages": 0,
    "insurance": "no",
}
_VARIANTS = {
    "1": {"item_id": "1", "options": {"size": "S"}, "available": True, "price": 10.0},
    "2": {"item_id": "2", "options": {"size": "L"}, "available": True, "price": 12.5},
    "3": {"item_id": "3", "options": {"size": "M"}, "available": False, "price": 9.0},
}


def _order(name: str, status: str) -> dict[str, Any]:
    paid = {"transaction_type": "payment", "amount": 10.0, "payment_method_id": "gift_card_1"}
    item = {"name": "Lamp", "product_id": "p", "item_id": "1", "price": 10.0, "options": {"size": "S"}}
    return {
        "order_id": name,
        "user_id": "ann",
        "address": _ADDRESS,
        "items": [item],
        "status": status,
        "fulfillments": [],
        "payment_history": [paid],
    }


RETAIL: dict[str, Any] = {
    "products": {"p": {"name": "Lamp", "product_id": "p", "variants": _VARIANTS}},
    "users": {
        "ann": {
            "user_id": "ann",
            "name": {"first_name": "Ann", "last_name": "Li"},
            "address": _ADDRESS,
            "email": "ann@x.org",
            "payment_methods": {
                "gift_card_1": {"source": "gift_card", "id": "gift_card_1", "balance": 2.5},
                "paypal_1": {"source": "paypal", "id": "paypal_1"},
            },
            "orders": ["#A", "#B"],
        }
    },
    "orders": {"#A": _order("#A", "pending"), "#B": _order("#B", "delivered")},
}
LINE: dict[str, Any] = {
    "line_id": "L1",
    "phone_number": "555",
    "status": "Active",
    "plan_id": "P1",
    "data_used_gb": 1.0,
    "data_refueling_gb": 0.0,
    "roaming_enabled": False,
}
CUSTOMER: dict[str, Any] = {
    "customer_id": "C1",
    "full_name": "Ann Li",
    "date_of_birth": "1990-01-01",
    "email": "ann@x.org",
    "phone_number": "556",
    "address": {"street": "1 Road", "city": "Rome", "state": "RM", "zip_code": "1"},
    "line_ids": ["L1"],
    "bill_ids": [],
    "created_at": "2025-01-15T10:30:00",
}
PLAN: dict[str, Any] = {
    "plan_id": "P1",
    "name": "Basic",
    "data_limit_gb": 5.0,
    "price_per_month": 40.0,
    "data_refueling_price_per_gb": 2.0,
}
TELECOM: dict[str, Any] = {
    "customers": [CUSTOMER],
    "lines": [LINE],
    "plans": [PLAN],
    "bills": [],
    "devices": [],
}
DEVICE: dict[str, Any] = {
    "sim_card_status": "active",
    "sim_card_missing": False,
    "airplane_mode": False,
    "network_signal_strength": "good",
    "network_technology_connected": "5G",
    "network_connection_status": "connected",
    "battery_level": 80,
    "data_enabled": True,
    "roaming_enabled": True,
    "network_mode_preference": "4g_5g_preferred",
    "wifi_enabled": False,
    "wifi_connected": False,
    "wifi_signal_strength": "none",
    "wifi_calling_enabled": False,
    "wifi_calling_mms_over_wifi": False,
    "data_saver_mode": False,
    "vpn_enabled_setting": False,
    "vpn_connected": False,
    "active_apn_settings": {"apn_name": "internet"},
    "app_statuses": {"messaging": {"app_name": "messaging", "permissions": {"sms": True, "storage": True}}},
}


def world_of(domain: str) -> World:
    """A fresh world of a domain."""
    if domain == "telecom":
        return open_telecom(TELECOM, DEVICE)
    if domain == "airline":
        return open_airline(json.dumps(AIRLINE).encode())
    return open_retail(json.dumps(RETAIL).encode())
