"""Prompts made to length have it, share only what they are to, and are the same for the same seed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workloads.conversation_sample import conversation_of
from workloads.errors import PromptError
from workloads.lengths import lengths
from workloads.sample import examples
from workloads.synthetic.synthetic_text import MadeSamples
from workloads.synthetic.to_length import Corpus, SharedPrefix, Wanted, prompts_to_length, shared_prefix

if TYPE_CHECKING:
    from workloads.sample import Sample

Count = Callable[[str], int]

QUICK = settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
SEEDS = st.integers(0, 2**63)
CORPUS = Corpus("notes.md", "# Notes\n\nOne *two*, three:\n\n    four(five)\n\nIt's 1,234 — done.\n" * 9, "")


def wanted(count: int = 20, tokens: str = "uniform:4..300", **more: Any) -> Wanted:
    """What a test wants made."""
    return Wanted(count, lengths("--input-tokens", tokens), **more)


def words(text: str) -> int:
    """Count as the mock endpoint does."""
    return len(text.split())


def user_text(sample: Sample) -> list[str]:
    """All that the user says in a conversation."""
    return [sample.prompt, *(turn.messages[0]["content"] for turn in conversation_of(sample).follow_ups)]


@pytest.mark.slow
@QUICK
@given(seed=SEEDS, corpus=st.sampled_from([None, CORPUS]))
def test_lengths_are_exact_with_a_tokenizer(count: Count, seed: int, corpus: Corpus | None) -> None:
    """Whatever the tokenizer and the text, each message has exactly the tokens that were drawn for it."""
    turns, prefix = lengths("--turns", "uniform:1..3"), SharedPrefix(40, 3)
    dataset = prompts_to_length(wanted(turns=turns, prefix=prefix, corpus=corpus, seed=seed), count)
    by_words = prompts_to_length(wanted(turns=turns, prefix=prefix, corpus=corpus, seed=seed), words)
    # The draws do not depend on who counts, and words count as they are.
    drawn = [words(text) for sample in by_words.samples for text in user_text(sample)]
    assert [count(text) for sample in dataset.samples for text in user_text(sample)] == drawn
    assert {count(sample.system or "") for sample in dataset.samples} == {40}
    assert dataset.facts["lengths"]["by"] == "tokenizer"
    assert dataset.facts["lengths"]["messages_counted"] == len(drawn)


def test_lengths_are_those_of_words_without_a_tokenizer() -> None:
    """A word is taken for 1.3 tokens, and the log says so."""
    dataset = prompts_to_length(wanted(tokens="fixed:130"))
    assert {words(sample.prompt) for sample in dataset.samples} == {100}
    assert dataset.facts == {"input_tokens": "fixed:130", "lengths": {"by": "words", "tokens_per_word": 1.3}}
    assert dataset.samples[0].prompt.endswith("\n\nContinue the story at length.")


@given(seed=SEEDS)
@settings(max_examples=20)
def test_no_two_begin_alike(seed: int) -> None:
    """Each message begins with its own number, so that a prefix cache helps with none."""
    turns = lengths("--turns", "uniform:1..3")
    dataset = prompts_to_length(wanted(50, "fixed:40", turns=turns, seed=seed))
    begun = [tuple(text.split()[:7]) for sample in dataset.samples for text in user_text(sample)]
    assert len(set(begun)) == len(begun)


@pytest.mark.slow
@given(seed=SEEDS)
@settings(max_examples=20)
def test_the_seed_decides(seed: int) -> None:
    """The same seed makes the same questions with the same checksum; another seed makes others."""
    item, same, other = (prompts_to_length(wanted(seed=number)) for number in (seed, seed, seed + 1))
    assert list(item.samples) == list(same.samples)
    assert item.sha256 == same.sha256 != other.sha256
    assert list(item.samples) != list(other.samples)


def test_options_do_not_disturb_each_other() -> None:
    """What is drawn for one purpose does not depend on whether another one was asked for."""
    outputs = lengths("--output-tokens", "uniform:1..1000")
    plain = prompts_to_length(wanted())
    with_outputs = prompts_to_length(wanted(output_tokens=outputs))
    assert [sample.prompt for sample in plain.samples] == [sample.prompt for sample in with_outputs.samples]
    assert {sample.max_tokens for sample in plain.samples} == {None}
    assert len({sample.max_tokens for sample in with_outputs.samples}) > 10


def test_prefixes_are_shared_by_groups() -> None:
    """Questions take turns among the prefixes, which begin differently and have their length."""
    dataset = prompts_to_length(wanted(prefix=SharedPrefix(65, 4)))
    systems = [sample.system or "" for sample in dataset.samples]
    assert systems == systems[:4] * 5
    assert {words(system) for system in systems} == {50}
    assert len({system.split()[0:4][-1] + system[:8] for system in systems}) == 4


def test_turns_have_their_own_lengths() -> None:
    """Each turn of a conversation has its prompt and its most output tokens."""
    more = {
        "turns": lengths("--turns", "fixed:3"),
        "output_tokens": lengths("--output-tokens", "uniform:1..99"),
    }
    sample = prompts_to_length(wanted(tokens="uniform:10..900", **more)).samples[0]
    following = sample.after({"role": "assistant", "content": "So."})
    assert len(sample.follow_ups) == 2
    assert [message["role"] for message in following.messages()] == ["user", "assistant", "user"]
    assert len({words(text) for text in user_text(sample)}) == 3
    assert following.max_tokens == sample.follow_ups[0].max_tokens is not None


@given(start=st.integers(-30, 30), end=st.integers(-30, 30))
@settings(max_examples=20)
def test_what_is_made_on_use_is_a_sequence(start: int, end: int) -> None:
    """Parts, indices and pickled copies are those of a tuple of the same questions."""
    samples = prompts_to_length(wanted(turns=lengths("--turns", "uniform:1..4"))).samples
    whole = tuple(samples)
    assert tuple(samples[start:end]) == whole[start:end]
    assert tuple(pickle.loads(pickle.dumps(samples))) == whole  # noqa: S301 (made here)
    assert samples[-1] == whole[-1]
    with pytest.raises(IndexError):
        samples[len(whole)]


def test_examples_stand_for_all() -> None:
    """Of what is made on use one question, and one with the most turns; of anything else all of it."""
    samples = prompts_to_length(wanted(turns=lengths("--turns", "uniform:1..4"))).samples
    assert max(len(conversation_of(example).follow_ups) for example in examples(samples)) == 3
    assert len(examples(samples)) == 2
    assert examples(tuple(samples)) == tuple(samples)
    single = prompts_to_length(wanted()).samples
    assert examples(single) == (single[0],)


def test_a_part_of_a_corpus_is_what_is_asked() -> None:
    """Prompts are cut from the corpus with its white space, and go round at its end."""
    dataset = prompts_to_length(wanted(4, "fixed:400", corpus=CORPUS))
    assert isinstance(dataset.samples, MadeSamples)
    assert all("\n\n    four(five)\n\nIt's" in sample.prompt for sample in dataset.samples)
    assert dataset.facts["corpus"] == {"name": "notes.md", "sha256": ""}


@pytest.mark.parametrize("spec", ["", "x", "x4", "0", "500x0", "-5", "5.5", "2000000", "1000000x51"])
def test_a_bad_prefix_is_explained(spec: str) -> None:
    """The message names the option, and says what to write or what the bound is."""
    with pytest.raises(PromptError, match=r"^--shared-prefix '.*': "):
        shared_prefix("--shared-prefix", spec)


def test_a_prefix_is_read() -> None:
    """With groups or without."""
    assert shared_prefix("--shared-prefix", "500") == SharedPrefix(500, 1)
    assert shared_prefix("--shared-prefix", " 500x8") == SharedPrefix(500, 8)


def test_a_tokenizer_that_cannot_is_reported() -> None:
    """Where no short word is one token, no length is exact, and a sentence says what to do."""
    with pytest.raises(PromptError, match="Leave it out, and lengths are approximate"):
        prompts_to_length(wanted(), lambda text: 2 * len(text))


def test_too_many_turns_are_refused() -> None:
    """Before they are made."""
    with pytest.raises(PromptError, match="5000001 turns together"):
        prompts_to_length(wanted(1, turns=lengths("--turns", "fixed:5000001", 10**7)))


def test_nothing_cannot_be_made() -> None:
    """No prompts are refused in a sentence."""
    with pytest.raises(PromptError, match="ask for at least 1"):
        prompts_to_length(wanted(0))


@pytest.mark.parametrize("corpus", [None, Corpus("words.txt", " ".join(map("w{}".format, range(5000))), "")])
def test_another_salt_makes_other_texts_of_the_same_lengths(corpus: Corpus | None) -> None:
    """Hardly one begins as a text of the other run does; what is shared within a run still is."""
    turns, prefix = lengths("--turns", "uniform:1..3"), SharedPrefix(40, 3)
    first, second = (
        prompts_to_length(wanted(50, "fixed:60", turns=turns, prefix=prefix, corpus=corpus, salt=salt))
        for salt in (2**31 + 5, 3**19)
    )
    assert first.sha256 == second.sha256
    assert [words(text) for sample in first.samples for text in user_text(sample)] == [
        words(text) for sample in second.samples for text in user_text(sample)
    ]
    begun = [{sample.prompt[:60] for sample in dataset.samples} for dataset in (first, second)]
    assert len(begun[0] & begun[1]) <= 2
    systems = [{sample.system for sample in dataset.samples} for dataset in (first, second)]
    assert [len(texts) for texts in systems] == [3, 3]
    assert not systems[0] & systems[1]
