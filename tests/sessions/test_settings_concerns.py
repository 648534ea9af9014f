"""Settings have a value for each concern; the names of options are flat."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules

from loadgen.sessions import settings as settings_package
from loadgen.sessions.settings.concerns import fields_of
from loadgen.sessions.settings.perf import PerfSettings, perf_settings


def names(settings: object) -> list[str]:
    """The names of all options, in all concerns."""
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}  # type: ignore[arg-type]
    return [
        option
        for name, value in values.items()
        for option in (names(value) if is_dataclass(value) else [name])
    ]


def test_no_two_concerns_have_an_option_of_one_name() -> None:
    """One of them would otherwise be out of reach."""
    options = names(perf_settings(model="m"))
    assert len(options) == len(set(options))
    assert options == list(fields_of(PerfSettings))


def test_settings_extend_one_class_at_most() -> None:
    """They have values; a chain of classes would say that the one is a kind of the other."""
    package = settings_package.__name__
    modules = [import_module(f"{package}.{entry.name}") for entry in iter_modules(settings_package.__path__)]
    ours = {
        member
        for module in modules
        for member in vars(module).values()
        if isinstance(member, type) and member.__module__.startswith(package)
    }
    assert len(ours) > 20
    chains = {each: [base for base in each.__mro__ if base in ours] for each in ours}
    assert [each.__name__ for each, chain in chains.items() if len(chain) > 2] == []
