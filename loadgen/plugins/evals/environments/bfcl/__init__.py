"""The simulated services of the Berkeley Function-Calling Leaderboard."""
