"""Secrets in the forms in which servers repeat them."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import quote, quote_plus

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.redaction import hide, pattern_of, secrets_of, without_a_part

PRINTABLE = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=6, max_size=40)


@given(secret=PRINTABLE, before=st.text(max_size=9), after=st.text(max_size=9))
def test_every_form_is_found(secret: str, before: str, after: str) -> None:
    """As it is, in JSON, in a URL, in HTML, in base64."""
    escaped = orjson.dumps(secret).decode()[1:-1]
    html = secret.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    forms = [secret, escaped, escaped.replace("/", "\\/"), quote(secret, safe=""), quote_plus(secret)]
    forms += [html, html.replace('"', "&quot;").replace("'", "&#39;"), b64encode(secret.encode()).decode()]
    for form in forms:
        assert form.rstrip("=") not in hide(f"{before} {form} {after}", [secret]).replace("***", "\0")


@pytest.mark.parametrize(
    ("header", "secrets"),
    [
        ({"Authorization": "Bearer sk-1234567"}, {"Bearer sk-1234567", "sk-1234567"}),
        ({"x-api-key": "sk-1234567"}, {"sk-1234567"}),
        ({"Cookie": "a=first-1; b=second-2"}, {"a=first-1; b=second-2", "b=second-2", "first-1", "second-2"}),
        (
            {"Authorization": "Basic dXNlcjpwYXNzd29yZA=="},
            {"Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA==", "user:password", "password"},
        ),
        ({"Authorization": "Basic not base64"}, {"Basic not base64", "base64"}),
    ],
)
def test_what_is_secret_in_a_header(header: dict[str, str], secrets: set[str]) -> None:
    """Its value, its final word, and what may come alone."""
    assert secrets_of(header) == secrets


def test_without_secrets_nothing_is_hidden() -> None:
    """Nor what is shorter than a secret can be."""
    assert hide("true", []) == "true"
    assert hide("it is true", ["true"]) == "it is true"
    assert pattern_of([""]).search("") is None


@given(key=PRINTABLE, length=st.integers(6, 40), padding=st.integers(0, 99))
def test_a_message_that_was_cut_ends_with_no_part_of_a_secret(key: str, length: int, padding: int) -> None:
    """Also where the whole ones before it made room for it."""
    text = "x" * padding + (key + " ") * 9 + key[: min(length, len(key) - 1)]
    shown = without_a_part(hide(text, [key]), [key])
    assert key[:6] not in shown.replace("***", "\0")[-len(key) :] or len(key) == 6


def test_an_endpoint_does_not_show_its_headers() -> None:
    """Not where a caller prints it, nor after it has hidden something."""
    target = endpoint("h", {"Authorization": "Bearer sk-1234567"})
    assert target.hide("sk-1234567") == "***"
    assert "sk-1234567" not in repr(target)
