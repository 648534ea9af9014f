-- One row a segment of a log; of a run of several machines first those of the coordinator's log, then those of each
-- shard. `sitting` is which segment of the run it is part of (reporter/log/segments.py).
CREATE TABLE segments (number BIGINT, first_seq BIGINT, shift_ns BIGINT, sitting BIGINT, node VARCHAR);

-- The segment that an event belongs to: the last one that began before it was written. Events of a shard have the number
-- of their segment in the upper bits of theirs (reporter/log/sharded_log.py).
CREATE MACRO segment_of(event_seq) AS CASE
    WHEN (SELECT count(node) = 0 FROM segments) OR event_seq < 1::BIGINT << 40
        THEN len(list_filter(
            (SELECT list(first_seq) FROM segments WHERE node IS NULL), lambda began_with: began_with <= event_seq
        ))
    ELSE event_seq >> 40
END;

CREATE MACRO sitting_of(event_seq) AS
    coalesce((SELECT list(sitting ORDER BY number) FROM segments)[segment_of(event_seq)], 0);

-- The node whose log has it; NULL where a run has one log.
CREATE MACRO node_of(event_seq) AS (SELECT list(node ORDER BY number) FROM segments)[segment_of(event_seq)];

-- What to add to its times, also those in its data, for the clock of the run's first segment.
CREATE MACRO shift_of(event_seq) AS CASE
    WHEN (SELECT bool_and(shift_ns = 0) FROM segments) THEN 0::BIGINT
    ELSE coalesce((SELECT list(shift_ns ORDER BY number) FROM segments)[segment_of(event_seq)], 0)
END;

-- What a member of an object is called in a path.
CREATE MACRO pointer(name) AS '/' || replace(replace(name, '~', '~0'), '/', '~1');

-- The data of an event with its times shifted: whole members whose names end in _ns, but for lengths of time.
CREATE MACRO shifted(data, by_ns) AS CASE
    WHEN by_ns = 0 OR json_type(data) <> 'OBJECT' THEN data::JSON
    ELSE ('{' || array_to_string(list_transform(
        json_keys(data),
        lambda name: to_json(name) || ':' || CASE
            WHEN
                ends_with(name, '_ns')
                AND name <> 'duration_ns'
                AND json_type(data, pointer(name)) IN ('BIGINT', 'UBIGINT')
            THEN ((data ->> pointer(name))::BIGINT + by_ns)::VARCHAR
            ELSE data -> pointer(name)
        END
    ), ',') || '}')::JSON
END;
