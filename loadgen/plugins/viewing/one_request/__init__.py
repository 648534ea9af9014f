"""One request of a run, as a page and in a terminal."""
