"""Result files of other load generators: their records of requests, or the figures that they keep."""
