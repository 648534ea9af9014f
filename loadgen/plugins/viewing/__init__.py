"""`loadgen view`: a folder of runs as local pages."""
