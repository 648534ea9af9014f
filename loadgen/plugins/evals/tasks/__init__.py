"""One benchmark, one file: the source of the rows, the question, and the scoring of answers."""

from pathlib import Path
from typing import Final

DATA: Final = Path(__file__).with_name("data")
"""The questions that come with the package."""
