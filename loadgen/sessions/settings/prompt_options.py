"""The options of prompts and of media in prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from lazy_dataclasses import dataclass
from loadgen.driver.requests.order import OrderName
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import set_flags
from loadgen.sessions.settings.kinds import Share, Size
from loadgen.sessions.settings.option import Panel

PROMPTS: Final = Panel("Prompts")
SYNTHETIC: Final = Panel("Synthetic prompts")
MEDIA: Final = Panel("Images, audio and video")
VECTORS: Final = Panel("Embeddings and rerank")

MOST_TEXT_SEED: Final = 2**32


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

    batch: str | None = VECTORS.option(
        "Inputs of a request, of rerank documents: a number or a distribution. Default: 1, of rerank 8.",
        metavar="DISTRIBUTION",
    )
    query_tokens: str | None = VECTORS.option(
        "Length of synthetic queries, written like --input-tokens. Default: 32.", metavar="DISTRIBUTION"
    )
    query_column: str | None = VECTORS.option(
        "Column of the queries of --prompts. Default: the first with a usual name.", metavar="NAME"
    )
    save_vectors: bool = VECTORS.switch("Keep the vectors of the responses in the log, for --expect.")
    expect: str | None = VECTORS.option(
        "Send the inputs of an earlier run again, and compare the vectors or scores.", metavar="RUN"
    )

    ignore_eos: bool = PROMPTS.switch(
        "Continue every answer to the maximum of output tokens: ignore_eos and min_tokens in the body."
    )

    def __post_init__(self) -> None:
        if self.text_seed is not None and not 0 <= self.text_seed <= MOST_TEXT_SEED:
            raise UsageError(f"--text-seed {self.text_seed}: must be from 0 to {MOST_TEXT_SEED:,}")


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

    def check_unused(self) -> None:
        """Refuse options of media where no prompt has any."""
        if not self.is_wanted and (others := set_flags(self, *self.__slots__)):
            raise UsageError(f"{' and '.join(others)}: give --images, --audio or --videos as well")

    @property
    def is_wanted(self) -> bool:
        """Whether prompts have media."""
        return bool(self.media_column or self.images or self.audio or self.videos)
