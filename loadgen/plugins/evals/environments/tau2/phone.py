"""The phone of telecom's users: `user_tools.py` of tau2's domain telecom, on plain values.

Settings that change start a search for a network.
"""

from __future__ import annotations

from typing import Any, Final

from loadgen.plugins.evals.environments.tau2.phone_state import PERMISSIONS, PhoneState, grade_of, on_off
from loadgen.plugins.evals.environments.tau2.telecom_models import (
    APNNames,
    APNSettings,
    NetworkModePreference,
)

_SIMS: Final = {
    "active": "Your SIM card is active and working.",
    "missing": "No SIM card detected in the phone.",
    "locked_pin": "The SIM card is locked with a PIN code.",
    "locked_puk": "The SIM card is locked with a PUK code.",
}


class TelecomUserTools(PhoneState):
    """A phone. Public methods are tools, actions and assertions of tasks."""

    # Actions of tasks…

    def set_user_info(self, name: str, phone_number: str) -> None:
        """Set the user's name and number."""
        self.surroundings |= {"name": name, "phone_number": phone_number}

    def set_user_location(self, *, abroad: bool) -> None:
        """Where the user is."""
        self.surroundings["is_abroad"] = abroad

    def turn_airplane_mode_on(self) -> None:
        """Turn the airplane mode on."""
        if not self._switch_airplane_mode():
            self._switch_airplane_mode()

    def unseat_sim_card(self) -> None:
        """Take the SIM card out."""
        self.device["sim_card_missing"] = True
        self.simulate_network_search()

    def lock_sim_card(self, mode: str) -> None:
        """Lock the SIM card by `pin` or `puk`."""
        self.device["sim_card_status"] = f"locked_{mode}"
        self.simulate_network_search()

    def turn_data_on(self) -> None:
        """Mobile data."""
        self.device["data_enabled"] = True

    def turn_data_off(self) -> None:
        """No mobile data."""
        self.device["data_enabled"] = False
        self.simulate_network_search()

    def turn_roaming_on(self) -> None:
        """Data abroad."""
        self.device["roaming_enabled"] = True
        self.simulate_network_search()

    def turn_roaming_off(self) -> None:
        """No data abroad."""
        self.device["roaming_enabled"] = False
        self.simulate_network_search()

    def turn_data_saver_mode_on(self) -> None:
        """Less data, and a lower speed."""
        self.device["data_saver_mode"] = True

    def break_apn_settings(self) -> None:
        """No network, until the settings are reset."""
        self.device["active_apn_settings"].apn_name = APNNames.BROKEN
        self.simulate_network_search()

    def break_apn_mms_setting(self) -> None:
        """No picture messages, until the settings are reset."""
        self.device["active_apn_settings"].mmsc_url = None

    def set_wifi_calling(self, *, enabled: bool, mms_over_wifi: bool | None = None) -> None:
        """Set calls over Wi-Fi, and optionally picture messages."""
        self.device["wifi_calling_enabled"] = enabled
        if mms_over_wifi is not None:
            self.device["wifi_calling_mms_over_wifi"] = mms_over_wifi

    def break_vpn(self) -> None:
        """A VPN that is slow."""
        self.connect_vpn()
        self.device["vpn_details"]["server_performance"] = "poor"

    def remove_app_permission(self, app_name: str, permission: str) -> None:
        """Take a permission from an app."""
        self.device["app_statuses"][app_name]["permissions"][permission.lower()] = False

    # What the user looks at…

    def check_status_bar(self) -> str:
        """The icons."""
        return f"Status Bar: {self._bar()}"

    def check_network_status(self) -> str:
        """The connection, line by line."""
        device = self.device
        lines = [
            f"Airplane Mode: {on_off(device['airplane_mode'])}",
            f"SIM Card Status: {self._sim()}",
            f"Cellular Connection: {device['network_connection_status']}",
            f"Cellular Signal: {device['network_signal_strength']}",
            f"Cellular Network Type: {device['network_technology_connected']}",
            f"Mobile Data Enabled: {_yes(device['data_enabled'])}",
            f"Data Roaming Enabled: {_yes(device['roaming_enabled'])}",
            f"Wi-Fi Radio: {on_off(device['wifi_enabled'])}",
            f"Wi-Fi Connected: {_yes(device['wifi_connected'])}",
        ]
        if device["wifi_connected"]:
            lines.append(f"Connected Wi-Fi Network: {device['wifi_ssid']}")
        return "\n".join(lines)

    def check_network_mode_preference(self) -> str:
        """The preferred technology."""
        return f"Network Mode Preference: {self.device['network_mode_preference'].value}"

    def run_speed_test(self) -> str:
        """The speed, with a description."""
        speed = self._speed()
        if speed is None:
            return "Speed test failed: No Connection."
        grade, advice = grade_of(speed)
        return f"Speed Test Result: {speed:.2f} Mbps ({grade}). {advice}"

    def check_sim_status(self) -> str:
        """The SIM card."""
        return _SIMS[self._sim()]

    def check_data_restriction_status(self) -> str:
        """Whether data is saved."""
        if self.device["data_saver_mode"]:
            return "Data Saver mode is ON (limits data usage)."
        return "Data Saver mode is OFF."

    def check_apn_settings(self) -> str:
        """The access point."""
        settings = self.device["active_apn_settings"].model_copy()
        return (
            f"Current APN Name: {settings.apn_name.value}\n"
            f"MMSC URL (for picture messages): {settings.mmsc_url or 'Not Set'}\n"
            "(These are technical settings, usually best left unchanged.)"
        )

    def check_wifi_status(self) -> str:
        """Wi-Fi."""
        device = self.device
        if not device["wifi_enabled"]:
            return "Wi-Fi is turned OFF."
        if not device["wifi_connected"]:
            return "Wi-Fi is ON but not connected to any network."
        signal = device["wifi_signal_strength"]
        return f"Wi-Fi is ON and connected to '{device['wifi_ssid']}'. Signal strength: {signal}."

    def check_wifi_calling_status(self) -> str:
        """Calls over Wi-Fi."""
        return f"Wi-Fi Calling is currently turned {on_off(self.device['wifi_calling_enabled'])}."

    def check_vpn_status(self) -> str:
        """The VPN."""
        if self.device["vpn_connected"]:
            details = self.device["vpn_details"]
            if not details:
                return "VPN is ON and connected (no specific details available)."
            level = details["server_performance"]
            shown = repr({**details, "server_performance": "@"})
            member = f"<PerformanceLevel.{level.upper()}: {level!r}>"
            return f"VPN is ON and connected. Details: {shown.replace(repr('@'), member)}"
        if self.device["vpn_enabled_setting"]:
            return "VPN is turned ON in settings, but currently not connected."
        return "VPN is turned OFF."

    def check_installed_apps(self) -> str:
        """The apps."""
        return f"The following apps are installed on the phone: {', '.join(self.device['app_statuses'])}"

    def check_app_status(self, app_name: str) -> str:
        """The permissions of an app, line by line."""
        granted = self._granted(app_name)
        if granted is None:
            return f"App '{app_name}' not found on this phone."
        if not granted:
            return f"Status for App: {app_name}\n - Permissions: None granted."
        lines = [f"Status for App: {app_name}", " - Permissions Granted:"]
        return "\n".join([*lines, *(f"   - {name}" for name in granted)])

    def check_app_permissions(self, app_name: str) -> str:
        """The permissions of an app."""
        granted = self._granted(app_name)
        if granted is None:
            return f"App '{app_name}' not found on this phone."
        if not granted:
            return f"App '{app_name}' currently has no permissions granted."
        return f"App '{app_name}' has permission for: {', '.join(granted)}."

    def can_send_mms(self) -> str:
        """Picture messages."""
        return f"Your messaging app {'can' if self._mms_works() else 'cannot'} send MMS messages."

    def check_payment_request(self) -> str:
        """The open payment request."""
        request = self.surroundings["payment_request"]
        if request is None:
            return "No payment request has been made."
        return f"You have a payment request for bill {request['bill_id']} of {request['amount_due']} USD."

    # What the user does…

    def set_network_mode_preference(self, mode: Any) -> str:
        """Prefer a technology."""
        try:
            wanted = NetworkModePreference(mode) if isinstance(mode, str) else mode
            self.device["network_mode_preference"] = wanted
            self.simulate_network_search()
        except ValueError:
            wanted = None
        if wanted is None:
            options = ", ".join(NetworkModePreference)
            return self._barred(
                f"Failed to set network mode: '{mode}' is not a valid option. Please use one of: {options}"
            )
        return self._barred(f"Preferred Network Mode set to: {wanted.value}")

    def toggle_airplane_mode(self) -> str:
        """Switch the mode."""
        return self._barred(f"Airplane Mode is now {on_off(self._switch_airplane_mode())}.")

    def reseat_sim_card(self) -> str:
        """Take the SIM card out and reinsert the card."""
        self.device["sim_card_missing"] = False
        self.simulate_network_search()
        return self._barred("SIM card re-seated successfully.")

    def toggle_data(self) -> str:
        """Switch mobile data."""
        return self._toggled("data_enabled", "Mobile Data")

    def toggle_roaming(self) -> str:
        """Switch data abroad."""
        return self._toggled("roaming_enabled", "Data Roaming")

    def toggle_data_saver_mode(self) -> str:
        """Switch saving data."""
        return self._toggled("data_saver_mode", "Data Saver Mode", searches=False)

    def toggle_wifi_calling(self) -> str:
        """Switch calls over Wi-Fi."""
        return self._toggled("wifi_calling_enabled", "Wi-Fi Calling", searches=False)

    def set_apn_settings(self, apn_settings: Any) -> str:
        """Set the access point."""
        settings = APNSettings(**apn_settings) if isinstance(apn_settings, dict) else apn_settings
        self.device["active_apn_settings"] = settings
        name = settings.apn_name.value
        self.simulate_network_search()
        return self._barred(f"APN settings set to: {name}")

    def reset_apn_settings(self) -> str:
        """Reset the access point at the next start."""
        self.device["active_apn_settings"].reset_at_reboot = True
        self.simulate_network_search()
        return self._barred("APN settings will reset at reboot.")

    def toggle_wifi(self) -> str:
        """Switch Wi-Fi."""
        if self.device["airplane_mode"]:
            return self._barred("Cannot change Wi-Fi settings while Airplane Mode is ON.")
        self.device["wifi_enabled"] = not self.device["wifi_enabled"]
        if not self.device["wifi_enabled"]:
            self._leave_wifi()
        return self._barred(f"Wi-Fi is now {on_off(self.device['wifi_enabled'])}.")

    def connect_vpn(self) -> str:
        """Connect to the usual VPN."""
        if self.device["vpn_connected"]:
            return "VPN already connected."
        self.device |= {"vpn_connected": True, "vpn_details": self._usual_vpn}
        return self._barred("VPN connected successfully.")

    def disconnect_vpn(self) -> str:
        """Leave the VPN."""
        if not self.device["vpn_connected"]:
            return self._barred("No active VPN connection to disconnect.")
        self.device |= {"vpn_connected": False, "vpn_details": None}
        return self._barred("VPN disconnected successfully.")

    def grant_app_permission(self, app_name: str, permission: str) -> str:
        """Give an app a permission."""
        app, name = self.device["app_statuses"].get(app_name), permission.lower()
        if app is None:
            return self._barred(f"Error. App '{app_name}' not found. Cannot grant permission.")
        if name not in PERMISSIONS:
            return self._barred(
                f"Error. Permission '{name}' not tracked for app '{app_name}', available permissions: "
                f"{list(PERMISSIONS)}"
            )
        app["permissions"][name] = True
        return self._barred(f"Success. Permission '{name}' granted to app '{app_name}'.")

    def reboot_device(self) -> str:
        """Start the phone again."""
        lines = []
        if self.device["active_apn_settings"].reset_at_reboot:
            lines.append("Resetting APN settings...")
            self.device["active_apn_settings"] = APNSettings()
        self.simulate_network_search()
        return self._barred("\n".join([*lines, "Restarting network services..."]))

    def make_payment(self) -> str:
        """Pay the open payment request."""
        request = self.surroundings["payment_request"]
        if request is None:
            return "You do not have a payment request."
        request["paid"] = True
        return f"Payment of {request['amount_due']} USD has been made for bill {request['bill_id']}."

    # Assertions of tasks…

    def assert_service_status(self, expected_status: str) -> bool:
        """The connection."""
        return bool(self.device["network_connection_status"] == expected_status)

    def assert_mobile_data_status(self, *, expected_status: bool) -> bool:
        """Whether mobile data works."""
        return self._data_works() == expected_status

    def assert_internet_speed(self, expected_speed: float, expected_desc: str | None = None) -> bool:
        """Check the minimum speed, and the description of the speed."""
        speed = self._speed()
        called = "no connection" if speed is None else grade_of(speed)[0].lower()
        is_fast = (speed or 0.0) >= expected_speed
        return is_fast and (expected_desc is None or called == expected_desc.lower())

    def assert_can_send_mms(self, *, expected_status: bool) -> bool:
        """Whether picture messages work."""
        return self._mms_works() == expected_status


def _yes(value: Any) -> str:
    return "Yes" if value else "No"
