"""The fixtures of the driver's tests."""

from tests.driver.conftest import run, serve, without_proxies

__all__ = ["run", "serve", "without_proxies"]
