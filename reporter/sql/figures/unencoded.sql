-- Events whose data could not be written (reporter/findings/findings.py).
SELECT count(*) AS unencoded, min(type) AS unencoded_example FROM unencoded;
