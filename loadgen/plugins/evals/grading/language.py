"""The language of a text by langdetect, with a fixed seed for reproducible results.

langdetect draws which of a text's letters it looks at, without a seed unless one is set for the whole
process. Here every text is looked at with the seed of its caller, and the languages are loaded in the order
of their names, not in the order of the file system.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from workloads.errors import ExtraError


def language(text: str, seed: float = 0) -> str | None:
    """The ISO 639-1 code of the language that a text is most likely in.

    Args:
        text: Its first 10,000 characters count.
        seed: Of what is looked at.

    Returns:
        The code (`zh-cn`, `zh-tw` for Chinese), or `unknown` where no language is likely; None where there is
        nothing to tell a language by: no letters.
    """
    from langdetect.lang_detect_exception import LangDetectException

    detector = languages().create()
    detector.seed = seed
    try:
        detector.append(text)
        code: str = detector.detect()
    except LangDetectException:
        return None
    return code


@cache
def languages() -> Any:
    """Every language's letters; loaded once a process.

    Raises:
        ExtraError: langdetect is not installed.
    """
    try:
        from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory
    except ImportError as error:
        raise ExtraError(
            "telling languages takes another package: pip install 'llm-loadgen[ifeval]'"
        ) from error
    factory = DetectorFactory()
    profiles = sorted(path for path in Path(PROFILES_DIRECTORY).iterdir() if not path.name.startswith("."))
    factory.load_json_profile([path.read_text(encoding="utf-8") for path in profiles])
    return factory
