"""The simulated services of BFCL's categories of several turns: classes of the package `bfcl-eval`.

Only the files of these classes are imported, which need `mpmath` and nothing else; the package's own
requirements, more than a hundred packages, are not.
"""

from __future__ import annotations

import ast
import json
from copy import deepcopy
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from workloads.errors import ExtraError
from workloads.needs import SERVICES_INSTALL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FOLDER: Final = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
MODULES: Final[Mapping[str, str]] = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
}
"""Modules of the services by their names; the files of their functions' descriptions are called alike."""

_STATELESS: Final = "MathAPI"


class ServiceCall(NamedTuple):
    """A call of a service."""

    name: str
    arguments: Mapping[str, Any]
    positional: Sequence[Any] = ()


def service_class(name: str) -> Any:
    """The class of a service.

    Raises:
        ExtraError: `bfcl-eval`, or what it needs, is not installed.
    """
    try:
        return getattr(import_module(f"{_FOLDER}.{MODULES[name]}"), name)
    except ImportError as error:
        raise ExtraError(
            f"bfcl_multi_turn takes the services of bfcl-eval ({error}): {SERVICES_INSTALL}"
        ) from error


class Services:
    """Services in the state that a question begins with."""

    def __init__(
        self, names: Sequence[str], config: Mapping[str, Any], *, long_context: bool = False
    ) -> None:
        self._services: dict[str, Any] = {}
        for name in names:
            service = service_class(name)()
            if name != _STATELESS:
                service._load_scenario(deepcopy(config.get(name, {})), long_context=long_context)  # noqa: SLF001 (as the package calls it)
            self._services[name] = service

    def call(self, call: ServiceCall) -> str:
        """Call a function, which may change the state."""
        try:
            value = self._function(call.name)(*deepcopy(call.positional), **deepcopy(dict(call.arguments)))
        except Exception as error:  # noqa: BLE001 (a model can pass anything; the service says so)
            return f"Error during execution: {error}"
        if isinstance(value, dict):
            try:
                return json.dumps(value)
            except (TypeError, ValueError):
                return str(value)
        return str(value)

    def state(self) -> dict[str, dict[str, Any]]:
        """The public attributes of each service."""
        return {
            name: {key: value for key, value in vars(service).items() if not key.startswith("_")}
            for name, service in self._services.items()
        }

    def _function(self, name: str) -> Any:
        """A function by name; with several services, that of the last one."""
        for service in reversed(self._services.values()):
            if not name.startswith("_") and callable(function := getattr(service, name, None)):
                return function
        raise NameError(f"name {name!r} is not defined")


def parsed_call(text: str) -> ServiceCall:
    """A call that is written in Python, with literals as arguments."""
    tree = ast.parse(text.strip(), mode="eval").body
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise ValueError(f"{text}: not a call of a function")  # noqa: TRY004 (a wrong text)
    named = {
        keyword.arg: ast.literal_eval(keyword.value) for keyword in tree.keywords if keyword.arg is not None
    }
    return ServiceCall(tree.func.id, named, [ast.literal_eval(value) for value in tree.args])
