"""What is asked, of whom, and in which order; one turn after the other."""
