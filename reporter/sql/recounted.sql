-- Requests with what a tokenizer counted of them. Where a report has to look at the texts (reporter/tokens.py), another
-- view takes the place of this one: without a join, for texts are seldom counted, and each figure of requests would join.
CREATE VIEW recounted AS
SELECT
    *,
    NULL::BIGINT AS client_input,
    NULL::BIGINT AS client_output,
    NULL::BIGINT AS client_after_first,
    NULL::BIGINT AS client_server
FROM requests;
