"""Result files of other load generators: records of requests, or figures alone."""
