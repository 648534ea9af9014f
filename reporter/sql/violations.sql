-- One row for each law that a request broke. All of them are bugs of the load generator, none of the server.
CREATE VIEW violations AS
SELECT
    sample_uuid,
    unnest(list_filter([disorder, ended_again, issued_again, unissued, unsent, unended], lambda violation: violation IS NOT NULL))
        AS violation
FROM (
    SELECT
        sample_uuid,
        CASE WHEN
            issued_ns < greatest(scheduled_ns, free_ns)
            OR sent_ns < greatest(scheduled_ns, issued_ns)
            OR first_byte_ns < greatest(scheduled_ns, issued_ns, sent_ns)
            OR first_token_ns < greatest(scheduled_ns, issued_ns, sent_ns, first_byte_ns)
            OR first_output_ns < first_token_ns
            OR first_visible_ns < first_output_ns
            OR last_token_ns < greatest(scheduled_ns, issued_ns, sent_ns, first_byte_ns, first_token_ns)
            OR ended_ns < greatest(scheduled_ns, issued_ns, sent_ns, first_byte_ns, first_token_ns, last_token_ns)
        THEN 'stamps_out_of_order' END AS disorder,
        CASE WHEN ends > 1 THEN 'ended_more_than_once' END AS ended_again,
        CASE WHEN issues > 1 THEN 'issued_more_than_once' END AS issued_again,
        CASE WHEN issues = 0 THEN 'never_issued' END AS unissued,
        CASE WHEN status = 'completed' AND sent_ns IS NULL AND NOT is_imported() THEN 'completed_but_never_sent' END AS unsent,
        CASE
            WHEN ends = 0 AND segment NOT IN (SELECT segment FROM segment_ends WHERE ended IN ('cut_off', 'running'))
            THEN 'never_ended'
        END AS unended
    FROM requests
)
WHERE coalesce(disorder, ended_again, issued_again, unissued, unsent, unended) IS NOT NULL;
