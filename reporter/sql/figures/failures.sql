-- The measured requests that failed, by what failed: the message of the first of each, and how many.
SELECT error, arg_min(error_message, ended_ns) AS error_message, count(*) AS requests
FROM requests
WHERE measured AND status = 'failed'
GROUP BY error
ORDER BY requests DESC, error;
