from collections.abc import Sequence

from reporter.log.one_log import EventsFile

INTERFACE: str

def use_sqlite(path: str, /) -> bool: ...
def requests(sources: Sequence[EventsFile], /) -> object: ...
