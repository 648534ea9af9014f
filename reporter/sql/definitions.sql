-- What figures mean where the field has several meanings (docs/metrics.md, Definitions): each definition is a variable of
-- the connection, and one that is not set stands for the default.
CREATE MACRO begun(scheduled_ns, issued_ns, sent_ns, own_ns) AS
    CASE getvariable('latency_origin')
        WHEN 'scheduled' THEN scheduled_ns
        WHEN 'issued' THEN issued_ns
        WHEN 'sent' THEN sent_ns
        ELSE own_ns
    END;

CREATE MACRO is_counted(category) AS coalesce(list_contains(getvariable('token_categories'), category), true);

CREATE MACRO all_counted() AS is_counted('reasoning') AND is_counted('content') AND is_counted('tool_call');

-- Who counted the output of a request; chunks stand for tokens where neither has, and all tokens count.
CREATE MACRO counted_by(server, recounted, chunks, stream) AS CASE
    WHEN server IS NOT NULL AND getvariable('token_source') IS DISTINCT FROM 'client_tokenizer' THEN 'server_usage'
    WHEN recounted IS NOT NULL AND getvariable('token_source') IS DISTINCT FROM 'server_usage' THEN 'client_tokenizer'
    WHEN chunks IS NOT NULL AND stream IS NOT false AND getvariable('token_source') IS NULL AND all_counted() THEN 'chunks'
END;

-- Whether a finish reason says that the limit of tokens ended an answer.
CREATE MACRO is_cut(finish_reason) AS lower(split_part(finish_reason, ':', 1)) IN AnswerEnding.LIMITED;

-- The tokens of media: the server's count, else the prompt's tokens but those of its texts, by a tokenizer.
CREATE MACRO tokens_of_media(counted, input, texts) AS
    coalesce(counted, if((SELECT settings ->> '$.dataset.facts.media' FROM session) IS NOT NULL, if(input < texts, 0, input - texts), NULL));

-- A span in ms that cannot be negative, whatever its ends are in doubt.
CREATE MACRO since(start_ns, end_ns) AS if(end_ns < start_ns, 0, end_ns - start_ns) / 1e6;

-- The earliest moment at which a response can have been complete: with a last token that was held up by the client,
-- all that follows it was.
CREATE MACRO complete_low(complete_ns, last_token_ns, last_token_low_ns) AS
    if(last_token_low_ns < last_token_ns, last_token_low_ns, complete_ns);

-- The sum of tokens, of which some are parts: equal in any order, which a sum of floats is not.
CREATE MACRO sum_of_tokens(tokens) AS
    sum(floor(tokens)::BIGINT)::DOUBLE + sum(round(1e9 * (tokens - floor(tokens)))::BIGINT)::DOUBLE / 1e9;
