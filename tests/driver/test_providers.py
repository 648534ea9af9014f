"""LiteLLM in place of an endpoint: what stands for it, and what happens where it is missing."""

from __future__ import annotations

import pytest

from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.errors import EndpointError, UnreachableError
from loadgen.driver.providers import litellm_process
from loadgen.driver.providers.litellm_process import reached, url_of


def test_other_urls_stay() -> None:
    """Nothing is started, and nothing changed, unless LiteLLM is named."""
    assert url_of("http://litellm:4000/v1") == "http://litellm:4000/v1"
    target = endpoint("http://localhost:1", {})
    with reached([target]) as targets:
        assert targets == (target,)


def test_the_url_is_shown_as_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports and messages show what the user typed, not a host that cannot be reached."""
    monkeypatch.setattr(litellm_process, "find_spec", lambda _: object())
    assert endpoint(url_of("litellm:"), {}).url == "litellm:"
    assert url_of(endpoint(url_of("litellm:"), {}).url) == url_of("litellm:")


@pytest.mark.parametrize("url", ["litellm:", "http://litellm.invalid/v1"])
def test_litellm_is_missing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra."""
    monkeypatch.setattr(litellm_process, "find_spec", lambda _: None)
    with pytest.raises(EndpointError, match=r"pip install 'llm-loadgen\[agents\]'"):
        url_of(url)


def test_litellm_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the last line of the process."""
    monkeypatch.setattr(litellm_process, "find_spec", lambda _: object())
    monkeypatch.setattr(litellm_process, "_MODULE", "loadgen.driver.no_such_module")
    with (
        pytest.raises(UnreachableError, match=r"LiteLLM did not start: .*no_such_module"),
        reached([endpoint(url_of("litellm:"), {})]),
    ):
        pass
