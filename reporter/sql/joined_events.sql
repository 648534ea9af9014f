-- One row a request, with what its events tell: its endings are joined while they stream, with few columns of the other
-- events in memory, JSON for JSON.
CREATE OR REPLACE MACRO joined() AS TABLE (
    SELECT * EXCLUDE (issued_seq, sent_seq) REPLACE (
        moments_of(Issued, shift_of(issued_seq)),
        moments_of(Sent, shift_of(sent_seq)),
        moments_of(Response, shift_of(ended_seq))
    )
    FROM (
        SELECT
            begun.* EXCLUDE (issue, sending),
            code,
            chunk_gaps_us,
            unnest(from_json(nullif(issue, ''), columns_of(Issued))),
            unnest(from_json(nullif(sending, ''), columns_of(Sent))),
            unnest(from_json(nullif(ending, ''), columns_of(Failed, Cancelled)))
        FROM (SELECT seq, code, chunk_gaps_us, data::VARCHAR AS ending FROM stream) AS endings
        RIGHT JOIN (
            SELECT marks.*, issues.data AS issue, sends.data AS sending
            FROM marks
            LEFT JOIN issues ON issues.seq = issued_seq
            LEFT JOIN sends ON sends.seq = sent_seq
        ) AS begun ON endings.seq = ended_seq
    )
);
