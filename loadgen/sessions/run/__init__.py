"""One session: prepared, run, recorded, resumed, reported."""
