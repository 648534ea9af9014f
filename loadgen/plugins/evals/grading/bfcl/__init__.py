"""The Berkeley Function-Calling Leaderboard: extraction and check of calls in answers."""
