"""The files and folders of runs and series."""
