"""Settings have a value for each concern; the names of options are flat."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules

import pytest

from loadgen.sessions import settings as settings_package
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.accuracy import AccuracySettings
from loadgen.sessions.settings.concerns import changed, flat_options, flat_values, from_flat
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
    assert options == list(flat_options(PerfSettings))


def test_settings_extend_one_class_at_most() -> None:
    """They have values; a chain of classes would say that the one is a kind of the other."""
    for module in iter_modules(settings_package.__path__):
        import_module(f"{settings_package.__name__}.{module.name}")
    ours = [each for each in subclasses(object) if each.__module__.startswith(settings_package.__name__)]
    assert len(ours) > 20
    chains = {each: [base for base in each.__mro__ if base in ours] for each in ours}
    assert [each.__name__ for each, chain in chains.items() if len(chain) > 2] == []


def subclasses(of: type) -> set[type]:
    """Every class that extends one, however often."""
    direct = set(type.__subclasses__(of))
    return direct.union(*map(subclasses, direct))


def test_flat_values_make_the_same_settings() -> None:
    """Each value goes to its concern and comes back from it."""
    options = {"model": "m", "task": ["gsm8k"], "workers": 3, "retry": 2, "max_tokens": 9, "quiet": True}
    settings = from_flat(AccuracySettings, options)
    assert (settings.client.workers, settings.failures.retry, settings.generation.max_tokens) == (3, 2, 9)
    assert flat_values(settings).items() >= options.items()
    assert from_flat(AccuracySettings, flat_values(settings)) == settings


def test_values_are_changed_by_their_flat_names() -> None:
    """And checked again, those of a concern alone and those of several together."""
    settings = perf_settings(model="m", protocol="sglang")
    assert changed(settings, workers=2).client.workers == 2
    assert settings.client.workers is None
    with pytest.raises(UsageError, match="--workers 0: must be from 1"):
        changed(settings, workers=0)
    with pytest.raises(UsageError, match="--no-stream: --protocol sglang is a stream"):
        changed(settings, stream=False)


def test_an_option_that_there_is_not_is_an_error() -> None:
    """By its name; so is one that is missing."""
    with pytest.raises(TypeError, match="PerfSettings has no option concurency"):
        perf_settings(model="m", concurency=3)
    with pytest.raises(TypeError, match="model"):
        perf_settings(concurrency=3)
