"""The state of a phone in tau2's telecom, and the derived state.

What the phone shows follows from its settings, its SIM card, and the surroundings: the line, the place, the
signal.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.environments.tau2.telecom_models import APNSettings, NetworkModePreference

if TYPE_CHECKING:
    from collections.abc import Mapping

_NONE: Final = "none"
_BARS: Final = {
    "none": "📵 No Signal",
    "poor": "📶¹ Poor",
    "fair": "📶² Fair",
    "good": "📶³ Good",
    "excellent": "📶⁴ Excellent",
}
_SIGNALS: Final = {"2G": "poor", "3G": "fair", "4G": "good", "5G": "excellent"}
"""The signal at every place, by technology."""
_MODES: Final = {"4g_5g_preferred": "5G", "3g_only": "3G", "2g_only": "2G"}
_SPEEDS: Final = {"2G": (0.1, 0.4), "3G": (1.0, 5.0), "4G": (10.0, 100.0), "5G": (50.0, 500.0)}
"""The lowest and the highest speed of a technology, in Mbit/s."""
_FACTORS: Final = {"poor": 0.2, "fair": 0.5, "good": 0.8, "excellent": 1.0}
_GRADES: Final = (
    (1, "Very Poor", "Connection is very slow. Basic web browsing might be difficult."),
    (5, "Poor", "Connection is slow. Web browsing may be sluggish, streaming difficult."),
    (25, "Fair", "Connection is okay for web browsing and some standard definition streaming."),
    (100, "Good", "Connection is good for most activities, including HD streaming."),
    (float("inf"), "Excellent", "Connection is very fast."),
)
"""Speeds below which a connection is called so, in Mbit/s, and what it is good for."""
_VPN: Final = {"server_address": "192.168.1.1", "protocol": "OpenVPN", "server_performance": "excellent"}
PERMISSIONS: Final = ("sms", "storage", "phone", "network")


class PhoneState:
    """A phone and the surroundings."""

    def __init__(self, device: Mapping[str, Any]) -> None:
        self.device: dict[str, Any] = {"wifi_ssid": None, "vpn_details": None, **deepcopy(dict(device))}
        self.device["active_apn_settings"] = APNSettings(**self.device["active_apn_settings"])
        self.device["network_mode_preference"] = NetworkModePreference(device["network_mode_preference"])
        # One object: a VPN that a task makes slow is slow when the user connects to it again.
        self._usual_vpn = dict(_VPN)
        self.surroundings: dict[str, Any] = {
            "name": None,
            "phone_number": None,
            "is_abroad": False,
            "roaming_allowed": False,
            "mobile_data_usage_exceeded": False,
            "line_active": True,
            "payment_request": None,
        }

    def simulate_network_search(self) -> None:
        """Find the network that the settings and the surroundings allow."""
        device = self.device
        blocked = (
            self._sim() != "active"
            or device["airplane_mode"]
            or device["active_apn_settings"].apn_name == "broken"
            or not self.surroundings["line_active"]
        )
        preference = device["network_mode_preference"]
        allowed = next((technology for mode, technology in _MODES.items() if mode == preference), "4G")
        technology = _NONE if blocked else allowed
        device["network_connection_status"] = "no_service" if blocked else "connected"
        device["network_technology_connected"] = technology
        device["network_signal_strength"] = _SIGNALS.get(technology, _NONE)

    def _barred(self, text: str) -> str:
        return f"{text}\nStatus Bar: {self._bar()}"

    def _toggled(self, setting: str, title: str, *, searches: bool = True) -> str:
        self.device[setting] = not self.device[setting]
        if searches:
            self.simulate_network_search()
        return self._barred(f"{title} is now {on_off(self.device[setting])}.")

    def _switch_airplane_mode(self) -> bool:
        was_on: bool = self.device["airplane_mode"]
        self.device["airplane_mode"] = not was_on
        if not was_on or self.device["wifi_enabled"]:
            self._leave_wifi()
        if not was_on:
            self.device |= {"vpn_connected": False, "vpn_details": None}
        self.simulate_network_search()
        return not was_on

    def _leave_wifi(self) -> None:
        self.device |= {"wifi_connected": False, "wifi_ssid": None, "wifi_signal_strength": _NONE}

    def _bar(self) -> str:
        device, icons = self.device, []
        if device["airplane_mode"]:
            icons.append("✈️ Airplane Mode")
        else:
            icons.append(_BARS[device["network_signal_strength"]])
            technology = device["network_technology_connected"]
            if technology != _NONE:
                icons.append(technology)
            if device["data_enabled"] and technology != _NONE:
                icons.append("📱 Data Enabled")
                icons += ["🔽 Data Saver"] * device["data_saver_mode"]
            else:
                icons.append("📵 Data Disabled")
        if device["wifi_enabled"] and device["wifi_connected"]:
            icons.append(f"📡 Connected to {device['wifi_ssid']}" if device["wifi_ssid"] else "📡 Enabled")
        icons += ["🔒 VPN Connected"] * device["vpn_connected"]
        return " | ".join([*icons, f"🔋 {device['battery_level']}%"])

    def _sim(self) -> str:
        return "missing" if self.device["sim_card_missing"] else str(self.device["sim_card_status"])

    def _data_works(self) -> bool:
        device, around = self.device, self.surroundings
        if device["airplane_mode"] or device["network_signal_strength"] == _NONE:
            return False
        if around["is_abroad"] and not (device["roaming_enabled"] and around["roaming_allowed"]):
            return False
        has_service = device["network_connection_status"] != "no_service"
        return bool(has_service and device["data_enabled"] and not around["mobile_data_usage_exceeded"])

    def _speed(self) -> float | None:
        """In Mbit/s; None without a connection."""
        if not self._data_works():
            return None
        device = self.device
        is_slow = (
            device["vpn_connected"] and (device["vpn_details"] or {}).get("server_performance") == "poor"
        )
        factor = (0.1 if is_slow else 1.0) * (0.2 if device["data_saver_mode"] else 1.0)
        low, high = _SPEEDS.get(device["network_technology_connected"], (0.0, 0.0))
        return round((low + high) / 2.0 * _FACTORS.get(device["network_signal_strength"], 0.0) * factor, 2)

    def _mms_works(self) -> bool:
        device = self.device
        app = device["app_statuses"].get("messaging")
        return bool(
            self._data_works()
            and device["network_technology_connected"] != "2G"
            and not (device["wifi_calling_enabled"] and device["wifi_calling_mms_over_wifi"])
            and device["active_apn_settings"].mmsc_url is not None
            and app is not None
            and app["permissions"]["storage"]
            and app["permissions"]["sms"]
        )

    def _granted(self, app_name: str) -> list[str] | None:
        app = self.device["app_statuses"].get(app_name)
        return None if app is None else [name for name in PERMISSIONS if app["permissions"].get(name)]


def grade_of(speed: float) -> tuple[str, str]:
    """The name of a speed in Mbit/s, with a description."""
    return next((grade, advice) for limit, grade, advice in _GRADES if speed < limit)


def on_off(value: Any) -> str:
    """A switch in words."""
    return "ON" if value else "OFF"
