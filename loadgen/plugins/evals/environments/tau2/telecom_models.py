"""tau2's models of telecom: sierra-research/tau2-bench at a2c02472, `data_model.py` and `user_data_model.py`.

Models that tools build have tau2's names, which are part of the refusals.
"""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class StreetAddress(BaseModel):
    """The address of a customer."""

    street: str
    city: str
    state: str
    zip_code: str


class TelecomPlan(BaseModel):
    """A plan."""

    plan_id: str
    name: str
    data_limit_gb: float
    price_per_month: float
    data_refueling_price_per_gb: float


class Device(BaseModel):
    """A device."""

    device_id: str
    device_type: str
    model: str
    imei: str | None = None
    is_esim_capable: bool
    activated: bool = False
    activation_date: datetime | None = None
    last_esim_transfer_date: datetime | None = None


class PhoneLine(BaseModel):
    """A line."""

    line_id: str
    phone_number: str
    status: str = "Pending Activation"
    plan_id: str
    device_id: str | None = None
    data_used_gb: float = 0.0
    data_refueling_gb: float = 0.0
    roaming_enabled: bool = False
    contract_end_date: date | None = None
    last_plan_change_date: date | None = None
    last_sim_replacement_date: date | None = None
    suspension_start_date: date | None = None


class LineItem(BaseModel):
    """An item of a bill."""

    description: str
    amount: float
    date: date
    item_type: str


class Bill(BaseModel):
    """A bill."""

    bill_id: str
    customer_id: str
    period_start: date
    period_end: date
    issue_date: date
    total_due: float
    due_date: date
    line_items: list[LineItem] = Field(default_factory=list)
    status: str = "Draft"


class PaymentMethod(BaseModel):
    """A method to pay."""

    method_type: str
    account_number_last_4: str
    expiration_date: str


class Customer(BaseModel):
    """A customer."""

    customer_id: str
    full_name: str
    date_of_birth: str
    email: str
    phone_number: str
    address: StreetAddress
    account_status: str = "Pending Verification"
    payment_methods: list[PaymentMethod] = Field(default_factory=list)
    line_ids: list[str] = Field(default_factory=list)
    bill_ids: list[str] = Field(default_factory=list)
    created_at: datetime = datetime(2025, 1, 1)  # noqa: DTZ001 (tau2's times have no zone)
    last_extension_date: date | None = None
    goodwill_credit_used_this_year: float = 0.0


class TelecomDB(BaseModel):
    """The database."""

    plans: list[TelecomPlan]
    customers: list[Customer]
    lines: list[PhoneLine]
    bills: list[Bill]
    devices: list[Device]


class APNNames(StrEnum):
    """The names of access points."""

    INTERNET = "internet"
    BROKEN = "broken"


class APNSettings(BaseModel):
    """The access point of a phone."""

    model_config = ConfigDict(extra="forbid")

    apn_name: APNNames = APNNames.INTERNET
    reset_at_reboot: bool = False
    mms_apn: str | None = "mms"
    mmsc_url: str | None = "http://mms.carrier.com/mms/wapenc"
    mms_proxy: str | None = None
    mms_port: int | None = None


class NetworkModePreference(StrEnum):
    """The technologies that a phone prefers."""

    FOUR_G_5G_PREFERRED = "4g_5g_preferred"
    FOUR_G_ONLY = "4g_only"
    THREE_G_ONLY = "3g_only"
    TWO_G_ONLY = "2g_only"
