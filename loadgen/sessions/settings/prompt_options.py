"""The options of prompts and of media in prompts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from loadgen.driver.client.protocols import names_where
from loadgen.driver.requests.order import OrderName
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import set_flags
from loadgen.sessions.settings.kinds import Share, Size
from loadgen.sessions.settings.option import Panel

if TYPE_CHECKING:
    from loadgen.sessions.settings.endpoint_options import EndpointSettings
    from loadgen.sessions.settings.load_options import LoadSettings

PROMPTS: Final = Panel("Prompts")
SYNTHETIC: Final = Panel("Synthetic prompts")
MEDIA: Final = Panel("Images, audio and video")

MOST_TEXT_SEED: Final = 2**32

_COLUMNS: Final = ("prompt_column", "system_column", "output_column", "weight_column")
_OF_SESSIONS: Final = ("cumulative", "live", "messages")
_LENGTHS: Final = ("input_tokens", "output_tokens", "turns", "shared_prefix", "cache_hit")


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptSettings:
    """The options of prompts, one per field."""

    prompts: str | None = PROMPTS.option(
        "JSONL, JSON, CSV or Parquet file, or hf:NAME[:[CONFIG:]SPLIT]. Default: synthetic prompts.",
        metavar="FILE|hf:NAME",
    )
    prompt_column: str | None = PROMPTS.option(
        "Column of the prompts: texts, conversations or token ids. Default: the first with a usual name.",
        metavar="NAME",
    )
    system_column: str | None = PROMPTS.option("Column of the system prompts.", metavar="NAME")
    output_column: str | None = PROMPTS.option(
        "Column of the maximum of output tokens, in place of --max-tokens.", metavar="NAME"
    )
    strict_prompts: bool = PROMPTS.switch(
        "Refuse --prompts with a row that cannot be sent, instead of leaving the row out."
    )
    conversations: Literal["first", "last", "all"] | None = PROMPTS.option(
        "The turns of a conversation to send: the first, the last with all earlier ones (default), or all "
        "in order."
    )
    history: Literal["answered", "recorded", "cumulative", "live", "messages"] = PROMPTS.option(
        "Which answers later turns contain: the endpoint's own, or the dataset's. With sessions of a trace, "
        "the history that its rows hold: whole lengths (cumulative), new messages without answers (live) or "
        "with them (recorded), or all messages.",
        "answered",
    )
    tag: list[str] = PROMPTS.option("Break results down by this column; repeatable.", [], metavar="NAME")
    order: OrderName = PROMPTS.option(
        "Order of the prompts: shuffle sends each once per pass, random and weighted draw with replacement.",
        "in-order",
    )
    only_prompt: int | None = PROMPTS.option("Send only this prompt, again and again; the first is 0.")
    weight_column: str | None = PROMPTS.option(
        "With --order weighted: column of the weights.", metavar="NAME"
    )
    salt: bool = PROMPTS.switch("Begin every prompt with a unique text, so that no prefix cache helps.")
    reset_cache: bool = PROMPTS.switch(
        "Empty the server's prefix cache before the run: POST /reset_prefix_cache (vLLM) or /flush_cache "
        "(SGLang)."
    )

    text_seed: int | None = SYNTHETIC.option(
        "Seed of synthetic texts. Default: drawn for each run, so that prefix caches do not help."
    )
    input_tokens: str | None = SYNTHETIC.option(
        "Prompt length: 512, normal:512,64, uniform:16..128, histogram:FILE.", metavar="DISTRIBUTION"
    )
    output_tokens: str | None = SYNTHETIC.option(
        "Max output tokens per request: a number or a distribution.", metavar="DISTRIBUTION"
    )
    turns: str | None = SYNTHETIC.option(
        "Number of turns per conversation: a number or a distribution.", metavar="DISTRIBUTION"
    )
    shared_prefix: str | None = SYNTHETIC.option(
        "Length in tokens of a shared prefix of the prompts: one for all, or one for each group.",
        metavar="TOKENS[xGROUPS]",
    )
    cache_hit: str | None = SYNTHETIC.option(
        "Share of the prompt tokens that the server's prefix cache is to have.", metavar="SHARE[xGROUPS]"
    )
    cache_block: int = SYNTHETIC.option("With --cache-hit: tokens of a block of the server's cache.", 16)
    agentic: str | None = SYNTHETIC.option(
        "Sessions of agents with tool loops, subagents and compaction: default, or NAME=VALUE ... as in "
        "docs/agentic.md.",
        metavar="FORM",
    )
    corpus: Path | None = SYNTHETIC.option("A text file that prompts are cut from.")
    tokenizer: str | None = SYNTHETIC.option(
        "Tokenizer: make synthetic prompts of exactly the given length; with --prompts, count tokens that "
        "the server did not count.",
        metavar="NAME|FOLDER",
    )

    ignore_eos: bool = PROMPTS.switch(
        "Continue every answer to the maximum of output tokens: ignore_eos and min_tokens in the body."
    )

    def check(
        self, endpoint: EndpointSettings, load: LoadSettings, max_tokens: int | None, *, has_own_data: bool
    ) -> None:
        """Refuse options that contradict each other."""
        if self.prompts is not None and load.trace is not None:
            raise UsageError("--prompts and --trace contradict each other: each names the prompts")
        self._check_empty(load.trace)
        self._check_columns(has_own_data=has_own_data)
        self._check_synthetic(load.trace, max_tokens)
        self._check_order(load)
        if self.history in _OF_SESSIONS and load.trace is None:
            raise UsageError(f"--history {self.history}: describes the sessions of a trace: give --trace")
        if self.history == "recorded" and self.conversations != "all" and load.trace is None:
            raise UsageError(
                "--history recorded applies to the later turns of conversations: give --conversations all"
                if self.turns is None
                else "--history recorded: made-up conversations have no recorded answers; leave it out"
            )
        self._check_ignore_eos(endpoint, load.trace, max_tokens)

    def _check_empty(self, trace: str | None) -> None:
        if trace is not None and not trace.strip():
            raise UsageError(f"--trace {trace!r}: is empty; give a value, or leave the option out")
        for name in ("prompts", *_COLUMNS, *_LENGTHS, "agentic", "tokenizer"):
            text = getattr(self, name)
            if text is not None and not text.strip():
                (option,) = set_flags(self, name)
                raise UsageError(f"{option} {text!r}: is empty; give a value, or leave the option out")

    def _check_columns(self, *, has_own_data: bool) -> None:
        columns = set_flags(
            self, *_COLUMNS, *(() if has_own_data else ("tag",)), "conversations", "strict_prompts"
        )
        if self.prompts is None and columns:
            raise UsageError(
                f"{' and '.join(columns)}: applies to the rows of a file or dataset: give --prompts"
            )
        if len(set(self.tag)) < len(self.tag):
            raise UsageError(f"--tag {' --tag '.join(self.tag)}: each column once")

    def _check_synthetic(self, trace: str | None, max_tokens: int | None) -> None:
        if self.text_seed is not None and not 0 <= self.text_seed <= MOST_TEXT_SEED:
            raise UsageError(f"--text-seed {self.text_seed}: must be from 0 to {MOST_TEXT_SEED:,}")
        if self.cache_hit is None and set_flags(self, "cache_block"):
            raise UsageError(f"--cache-block {self.cache_block}: applies to --cache-hit: give both or none")
        lengths = set_flags(self, *_LENGTHS)
        if self.agentic is not None and (lengths or trace is not None):
            other = "--trace" if trace is not None else " and ".join(lengths)
            raise UsageError(f"--agentic has lengths and turns: leave {other} or --agentic out")
        synthetic = " and ".join([*lengths, *set_flags(self, "agentic", "corpus", "text_seed")])
        if self.prompts is not None and synthetic:
            raise UsageError(
                f"{synthetic}: only for synthetic prompts, and cannot be combined with --prompts"
            )
        lengths += [] if max_tokens is None else ["--max-tokens"]
        if trace is not None and lengths:
            raise UsageError(
                f"{' and '.join(lengths)}: a trace has its own lengths: leave --trace out, or these"
            )
        if self.output_tokens is not None and max_tokens is not None:
            raise UsageError("--max-tokens and --output-tokens contradict each other: both bound the output")

    def _check_order(self, load: LoadSettings) -> None:
        if self.order == "weighted" and self.weight_column is None:
            raise UsageError("--order weighted: name the column of the weights with --weight-column")
        if self.weight_column is not None and self.order != "weighted":
            raise UsageError("--weight-column is for --order weighted: give both or none")
        if self.only_prompt is not None:
            self._check_only_prompt(self.only_prompt, load.trace)
        if self.order != "in-order" and load.has_recorded_times:
            raise UsageError(f"--order {self.order}: a trace has its own order")
        if self.order in {"random", "weighted"} and load.passes is not None:
            raise UsageError(
                f"--passes {load.passes}: sends each prompt equally often, and --order {self.order} "
                "draws them: give their number with --requests or --sessions"
            )

    def _check_only_prompt(self, number: int, trace: str | None) -> None:
        if number < 0:
            raise UsageError(f"--only-prompt {number}: must be 0 or more")
        if trace is not None:
            raise UsageError(
                "--only-prompt: a trace sends all of its requests, in its own order; leave one out"
            )
        if self.order != "in-order":
            raise UsageError(f"--only-prompt: one prompt has no order; leave --order {self.order} out")

    def _check_ignore_eos(
        self, endpoint: EndpointSettings, trace: str | None, max_tokens: int | None
    ) -> None:
        if not self.ignore_eos:
            return
        if not endpoint.protocol_entry.ignore_eos:
            having = names_where(lambda each: each.ignore_eos)
            raise UsageError(
                f"--ignore-eos: --protocol {endpoint.protocol} has no such member; {having} have it "
                "(of vLLM, SGLang and others); elsewhere, use --extra-body with the server's own member"
            )
        bounded = (max_tokens, self.output_tokens, self.output_column, self.agentic, trace)
        if all(bound is None for bound in bounded):
            raise UsageError(
                "--ignore-eos: the output then has exactly its maximum of tokens, which is not set: "
                "give --max-tokens, --output-tokens or --output-column"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class MediaSettings:
    """The options of media in prompts, one per field."""

    images: str | None = MEDIA.option(
        "Images in each user turn: a number or a distribution, such as uniform:0..4.", metavar="DISTRIBUTION"
    )
    image_size: str = MEDIA.option(
        "Size of the images: 360p, 720p, 1080p, 4k, WIDTHxHEIGHT of numbers or distributions, or several "
        "with weights: 720p=3,4k=1.",
        "720p",
        metavar="SIZE",
    )
    image_format: Literal["jpeg", "png"] = MEDIA.option("Format of the images.", "jpeg")
    audio: str | None = MEDIA.option("Audio clips in each user turn.", metavar="DISTRIBUTION")
    audio_seconds: str = MEDIA.option("Length of audio clips in seconds.", "10", metavar="DISTRIBUTION")
    audio_format: Literal["wav", "mp3"] = MEDIA.option("Format of audio clips, mono at 16 kHz.", "wav")
    videos: str | None = MEDIA.option("Videos in each user turn.", metavar="DISTRIBUTION")
    video_seconds: str = MEDIA.option("Length of videos in seconds.", "5", metavar="DISTRIBUTION")
    video_size: str = MEDIA.option("Size of videos: see --image-size.", "360p", metavar="SIZE")
    media_folder: Path | None = MEDIA.option(
        "Folder of image, audio and video files to send in place of made-up ones, in random order."
    )
    media_column: list[str] = MEDIA.option(
        "Column of --prompts with the media of a row: a file, a URL or a list of them; repeatable.",
        [],
        metavar="NAME",
    )
    media_reuse: Share = MEDIA.option("Share of images, clips and videos that repeat an earlier one.", 0.0)
    media_seed: int | None = MEDIA.option("Seed of made-up media. Default: --text-seed, or drawn.")
    media_memory: Size = MEDIA.option(
        "Bytes of encoded media to make ahead; once as many are made, they repeat.", 1_073_741_824
    )

    def __post_init__(self) -> None:
        if not self.is_wanted and (others := set_flags(self, *self.__slots__)):
            raise UsageError(f"{' and '.join(others)}: give --images, --audio or --videos as well")

    @property
    def is_wanted(self) -> bool:
        """Whether prompts have media."""
        return bool(self.media_column or self.images or self.audio or self.videos)
