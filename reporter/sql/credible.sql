-- Which token counts of a server can be true (docs/metrics.md, Tokens); of what is NULL that is not known.
-- A request has at most 10^8 tokens of any kind: more than the context window of any model, and the sum over any log fits
-- 64 bits.
CREATE MACRO is_count(tokens) AS tokens BETWEEN 0 AND 100_000_000;

-- Every output token takes at least a byte of the response, but for reasoning that the server counts and does not send, at
-- most 2^20 tokens in one response: more than any model generates. Tokens without text, such as those that end one or the
-- padding of `ignore_eos`, are within what the request allows.
CREATE MACRO is_output_count(tokens, reasoning_tokens, bytes, max_tokens) AS
    is_count(tokens) AND (
        bytes IS NULL
        OR tokens <= bytes::HUGEINT + greatest(0, least(coalesce(reasoning_tokens, 0), 1_048_576))
        OR tokens <= coalesce(max_tokens, 0)
    );

-- More output tokens than a request allows are true only where its text has as many characters, or its stream as many
-- chunks: then the server did not heed the limit. Of each choice the limit is the same.
CREATE MACRO is_within_limit(tokens, reasoning_tokens, max_tokens, choices, shown) AS
    coalesce(
        tokens <= max_tokens * coalesce(choices, 1)::HUGEINT
        OR tokens <= shown + greatest(0, least(coalesce(reasoning_tokens, 0), 1_048_576)),
        true
    );
