"""BFCL: calls out of text, values out of source code, and what no text can do to the reader."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.plugins.evals.grading.bfcl.decoding import bracketed, calls_in, decoded, guarded
from loadgen.plugins.evals.grading.bfcl.java_values import java_value
from loadgen.plugins.evals.grading.bfcl.javascript_values import end_of_rows, javascript_value
from loadgen.plugins.evals.grading.json_calls import UndecodableError
from workloads.answer import Answer


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("'it''s'", "its"),
        ("-5", -5),
        ("+5", -5),
        ("true", "true"),
        ("None", None),
        ("...", "..."),
        ("[1, (2, 'x'), {'k': y}]", [1, (2, "x"), {"k": "y"}]),
        ("5/2 + abs(-1)", 3.5),
        ("'-' * 3 + 'x'[0]", "---x"),
        ("'%s' % pow(2, 3)", "8"),
        ("g(1, h)", "g(1, h)"),
        ("g(b=1)", {"g": {"b": 1}}),
        ("a[1, 2]", "a[(1, 2)]"),
        ("'\\d'", "\\d"),
    ],
)
def test_an_argument_in_python(argument: str, value: Any) -> None:
    """Literals are values, arithmetic is calculated, and names are text."""
    assert calls_in(f"[m.f({argument}, a={argument})]", "python") == [{"m.f": {"a": value}}]


@pytest.mark.parametrize(
    "argument",
    [
        "math.pi",
        "f'{x}'",
        "lambda x: x",
        "not x",
        "-x",
        "{**x}",
        "x + 1",
        "__import__('os').getpid() + 1",
        "open('/') + ''",
        "9**9**9",
        "1 << 10**9",
        "'x' * 10**9",
        "'%99999d' % 1",
        "10**4000 * 10**4000",
        "1/0",
        "1 @ 2",
        "(" * 500 + ")" * 500,
        "\x00",
        "\ud800",
    ],
)
def test_an_argument_that_is_not_read(argument: str) -> None:
    """What would run code, or fill the memory, is not a value; nor is what no official reader takes."""
    with pytest.raises(UndecodableError):
        guarded(calls_in, f"[f(a={argument})]", "python")


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("f(a=\"x\", b='c')", [{"f": {"a": "x", "b": "c"}}]),
        ("a.b.f(x, y=Foo.class)", [{"a.b.f": {None: "x", "y": "Foo.class"}}]),
        ("f(a=new int[]{1,  2}, b=g(1))", [{"f": {"a": "new int[]{1,2}", "b": "g(1)"}}]),
        ('f(a=new P<Q>(1, "x") { int z; })', [{"f": {"a": 'new P<Q>(1, "x")'}}]),
        ('f(a="é", b=x)', [{"f": {"a": 'é"', "=": ")"}}]),
        ("f(a=new int[3])", None),
        ("f(a=)", None),
        ("int x;", {}),
    ],
)
def test_java(text: str, calls: Any) -> None:
    """The first call is taken, with its arguments as source code, cut by bytes as officially."""
    if calls is None:
        with pytest.raises(UndecodableError):
            calls_in(f"[{text}]", "java")
    else:
        assert calls_in(f"[{text}]", "java") == calls


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("f(a=\"x\", b='é', c=[1, {d: 2}])", [{"f": {"a": "x", "b": "é", "c": "[1, {d: 2}]"}}]),
        ("g.f(x, a = y => y + 1)", [{"g.f": {None: "x", "a": "y => y + 1"}}]),
        ("let a = 1; f(b=2); g(c=3)", [{"f": {"b": "2"}}]),
        ("f(x, y)", None),
        ("f(a=[1)", [{"f": {"a": "[1"}}]),
        ("f(a=1 2)", None),
        ("[1]", "nothing"),
    ],
)
def test_javascript(text: str, calls: Any) -> None:
    """The first call that is a statement is taken, with its arguments as source code."""
    if calls is None:
        with pytest.raises(UndecodableError):
            calls_in(f"[{text}]", "javascript")
    else:
        assert calls_in(f"[{text}]", "javascript") == (None if calls == "nothing" else calls)


@pytest.mark.parametrize("language", ["java", "javascript"])
def test_source_that_is_very_deep(language: str) -> None:
    """Telling whether it is broken takes no stack, the end of which would be that of the process."""
    with contextlib.suppress(UndecodableError):
        guarded(calls_in, f"[f(a=1{'+1' * 100_000})]", language)
    with pytest.raises(UndecodableError):
        guarded(calls_in, f"[f(a=1{'+1' * 100_000} 2)]", language)


@pytest.mark.parametrize(
    ("text", "declared", "inner", "value"),
    [
        ("-12", "integer", None, -12),
        ("12.0", "integer", None, "12.0"),
        ("5l", "long", None, 5),
        ("5", "long", None, "5"),
        ("2.5e1f", "float", None, 25.0),
        ("2.5f", "double", None, "2.5f"),
        ("false", "boolean", None, False),
        ("'c'", "char", None, "'c'"),
        ("new int[]{1, 2,}", "Array", "integer", [1, 2]),
        ('new String[]{"a"}', "Array", "String", ['"a"']),
        ('new ArrayList<>(Arrays.asList("a", "b"))', "ArrayList", "String", ["a", "b"]),
        ("new ArrayList<Long>() {{ add(1L); add(2); }}", "ArrayList", "long", [1, "2"]),
        ("new ArrayList<>()", "ArrayList", None, []),
        ("Arrays.asList(1)", "ArrayList", "integer", "Arrays.asList(1)"),
        ('new HashMap<>() {{ put("a", 1L); put("b", x); }}', "HashMap", None, {"a": 1, "b": "x"}),
        ("new HashMap<A, B<C>>()", "HashMap", None, {}),
    ],
)
def test_a_value_in_java(text: str, declared: str, inner: str | None, value: Any) -> None:
    """A literal of the type that is declared is a value; anything else is its own text."""
    assert java_value(text, declared, inner) == value
    assert type(java_value(text, declared, inner)) is type(value)


@pytest.mark.parametrize(
    ("text", "declared", "inner", "value"),
    [
        ("'x'", "String", None, "x"),
        ("1.0", "integer", None, "1.0"),
        ("1", "float", None, 1.0),
        ("12n", "Bigint", None, 12),
        ("true", "Boolean", None, True),
        ("[1, 'two', true]", "array", None, [1, "two", True]),
        ("new Array(1, 2)", "array", "integer", [1, 2]),
        ("[ [1, 2], [3] ]", "array", "array", [[1, 2], [3]]),
        ("new Array([1], ['x'])", "array", None, [[1], ["x"]]),
        ("[]", "array", None, []),
        ("x", "array", None, "x"),
        ("[1]", "array", "Map", "[1]"),
        ("{a: 1, 'b': [x, 2], c: \"d, e\"}", "dict", None, {"a": 1, "b": ["x", 2], "c": "d, e"}),
        ("{}", "dict", None, {}),
        ("{a}", "dict", None, {}),
    ],
)
def test_a_value_in_javascript(text: str, declared: str, inner: str | None, value: Any) -> None:
    """A literal of the type that is declared is a value; anything else is its own text."""
    assert javascript_value(text, declared, inner) == value
    assert type(javascript_value(text, declared, inner)) is type(value)


def test_types_that_no_value_can_be_read_as() -> None:
    """The official converters know their names, and fail on them."""
    with pytest.raises(ValueError, match="Java Queue"):
        java_value("x", "Queue")
    with pytest.raises(ValueError, match="JavaScript Map"):
        javascript_value("x", "Map")


_OFFICIAL_ROWS = re.compile(
    r"\[\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\]|\bnew\s+Array\(\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\)"
)


@given(
    st.sampled_from(["[[", "[ [", "new Array([", "["]),
    st.lists(st.sampled_from(["]", "[", ",", " ", "\n", "1", "],[", ")", "], ["]), max_size=14),
)
@settings(max_examples=50)
def test_rows_end_where_the_official_expression_says(opening: str, parts: list[str]) -> None:
    """The pass over the text finds the match of the expression, or none where it has none."""
    text = opening + "".join(parts)
    match = _OFFICIAL_ROWS.match(text)
    assert end_of_rows(text) == (match.end() if match else None)


def test_many_rows_that_do_not_match() -> None:
    """The official expression would not end within this century."""
    assert end_of_rows("[[1]" + ",[1]" * 5000 + ", 5") is None


@given(st.text(st.sampled_from("[](){}=,.'\"`fga1 é\n\\-+*"), max_size=30))
@settings(max_examples=50)
def test_no_text_breaks_the_decoder(text: str) -> None:
    """Whatever a model says is decoded, or is said not to be."""
    for language in ("python", "java", "javascript"):
        with contextlib.suppress(UndecodableError):
            guarded(calls_in, bracketed(text), language)


@pytest.mark.parametrize(
    ("answer", "calls"),
    [
        (
            Answer("", tool_calls=({"function": {"name": "f", "arguments": '{"a": 1e2}'}},)),
            [{"f": {"a": 100.0}}],
        ),
        (Answer("Hm.", tool_calls=({"function": {"name": "f", "arguments": "{}"}},)), [{"f": {}}]),
        (Answer(""), []),
        (Answer("[f()]"), None),
        (Answer("", tool_calls=({"function": {"name": "f", "arguments": ""}},)), None),
        (Answer("", tool_calls=({"function": {"name": "f", "arguments": {"a": 1}}},)), None),
        (Answer("", tool_calls=({"function": {"name": "f", "arguments": "[" * 100_000}},)), None),
        (Answer("", tool_calls=({"function": None},)), None),
    ],
)
def test_calls_of_tools(answer: Answer, calls: Any) -> None:
    """Arguments are JSON text; a text around calls does not matter, and in place of them it is not a call."""
    if calls is None:
        with pytest.raises(UndecodableError):
            decoded(answer, "fc", "python")
    else:
        assert decoded(answer, "fc", "python") == calls
