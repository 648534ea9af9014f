"""The Berkeley Function-Calling Leaderboard: calls out of answers, and whether they are the right ones."""
