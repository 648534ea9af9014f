"""One benchmark, one file: the source of the rows, the question, and the scoring of answers."""
