-- What figures mean where the field has several meanings (docs/metrics.md, Definitions): each definition is a variable of
-- the connection, and one that is not set stands for the default.
CREATE MACRO begun(scheduled_ns, issued_ns, own_ns) AS
    CASE getvariable('latency_origin') WHEN 'scheduled' THEN scheduled_ns WHEN 'issued' THEN issued_ns ELSE own_ns END;

CREATE MACRO is_counted(category) AS coalesce(list_contains(getvariable('token_categories'), category), true);

CREATE MACRO all_counted() AS is_counted('reasoning') AND is_counted('content') AND is_counted('tool_call');

-- Who counted the output of a request; chunks stand for tokens where nobody has, and all tokens count.
CREATE MACRO counted_by(told, recounted, chunks, stream) AS CASE
    WHEN told IS NOT NULL AND getvariable('token_source') IS DISTINCT FROM 'client_tokenizer' THEN 'server_usage'
    WHEN recounted IS NOT NULL AND getvariable('token_source') IS DISTINCT FROM 'server_usage' THEN 'client_tokenizer'
    WHEN chunks IS NOT NULL AND stream IS NOT false AND getvariable('token_source') IS NULL AND all_counted() THEN 'chunks'
END;
