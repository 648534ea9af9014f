-- How many inputs of vector requests completed: a batch is one request with several.
SELECT sum(sequences)::BIGINT AS completed_inputs FROM vectors;
