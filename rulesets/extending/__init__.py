"""Files that extend one another, down to the rules of one model and one scenario."""
