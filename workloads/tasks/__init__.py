"""One benchmark, one file: where its rows are, how they are asked, how answers are judged."""
