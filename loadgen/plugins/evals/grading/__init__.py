"""How answers are judged: pure functions, one definition a file."""
