-- One row for each law that a request broke. All of them are bugs of the load generator, none of the server.
CREATE VIEW violations AS
SELECT sample_uuid, unnest(list_filter([
    CASE WHEN
        issued_ns < greatest(scheduled_ns, free_ns)
        OR sent_ns < greatest(scheduled_ns, issued_ns)
        OR first_byte_ns < greatest(scheduled_ns, issued_ns, sent_ns)
        OR first_token_ns < greatest(scheduled_ns, issued_ns, sent_ns, first_byte_ns)
        OR first_output_ns < first_token_ns
        OR first_visible_ns < first_output_ns
        OR last_token_ns < greatest(scheduled_ns, issued_ns, sent_ns, first_byte_ns, first_token_ns)
        OR ended_ns < greatest(scheduled_ns, issued_ns, sent_ns, first_byte_ns, first_token_ns, last_token_ns)
    THEN 'stamps_out_of_order' END,
    CASE WHEN ends > 1 THEN 'ended_more_than_once' END,
    CASE WHEN issues > 1 THEN 'issued_more_than_once' END,
    CASE WHEN issues = 0 THEN 'never_issued' END,
    CASE WHEN status = 'completed' AND sent_ns IS NULL AND NOT is_imported() THEN 'completed_but_never_sent' END,
    CASE
        WHEN ends = 0 AND segment NOT IN (SELECT segment FROM segment_ends WHERE ended IN ('cut_off', 'running'))
        THEN 'never_ended'
    END
], lambda violation: violation IS NOT NULL)) AS violation
FROM requests;
