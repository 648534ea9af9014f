"""What a report says of a run besides its figures: limits of the client, cold starts, late reads."""
