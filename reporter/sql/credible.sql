-- Which token counts of a server can be true (docs/metrics.md, Tokens); of what is NULL that is not known. The numbers
-- are explained in reporter/log/credible.py.
CREATE MACRO is_count(tokens) AS tokens BETWEEN 0 AND 100_000_000;

CREATE MACRO is_output_count(tokens, reasoning_tokens, bytes, max_tokens) AS
    is_count(tokens) AND (
        bytes IS NULL
        OR tokens <= bytes::HUGEINT + greatest(0, least(coalesce(reasoning_tokens, 0), 1_048_576))
        OR tokens <= coalesce(max_tokens, 0)
    );
