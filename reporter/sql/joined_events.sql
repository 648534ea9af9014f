-- One row a request, with what its events tell: its endings are joined while they stream, with few columns of the other
-- events in memory, JSON for JSON.
CREATE OR REPLACE MACRO joined() AS TABLE (
    SELECT * REPLACE (
        scheduled_ns + shift_of(issued_seq) AS scheduled_ns,
        free_ns + shift_of(issued_seq) AS free_ns,
        sent_high_ns + shift_of(sent_seq) AS sent_high_ns,
        first_byte_ns + shift_of(ended_seq) AS first_byte_ns,
        first_byte_low_ns + shift_of(ended_seq) AS first_byte_low_ns,
        first_token_ns + shift_of(ended_seq) AS first_token_ns,
        first_token_low_ns + shift_of(ended_seq) AS first_token_low_ns,
        first_output_ns + shift_of(ended_seq) AS first_output_ns,
        first_output_low_ns + shift_of(ended_seq) AS first_output_low_ns,
        first_visible_ns + shift_of(ended_seq) AS first_visible_ns,
        first_visible_low_ns + shift_of(ended_seq) AS first_visible_low_ns,
        last_token_ns + shift_of(ended_seq) AS last_token_ns,
        finish_ns + shift_of(ended_seq) AS finish_ns,
        last_token_low_ns + shift_of(ended_seq) AS last_token_low_ns
    )
    FROM (
        SELECT
            begun.* EXCLUDE (issue, sending),
            code,
            chunk_gaps_us,
            unnest(issue_payload(issue)),
            unnest(sending_payload(sending)),
            unnest(ending_payload(ending))
        FROM (SELECT seq, code, chunk_gaps_us, data::VARCHAR AS ending FROM stream) AS endings
        RIGHT JOIN (
            SELECT marks.*, issues.data AS issue, sends.data AS sending
            FROM marks
            LEFT JOIN issues ON issues.seq = issued_seq
            LEFT JOIN sends ON sends.seq = sent_seq
        ) AS begun ON endings.seq = ended_seq
    )
);
