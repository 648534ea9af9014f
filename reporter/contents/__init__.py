"""What a page of a run has in addition to its report: intervals, SQL, plots, and excerpts of texts."""
