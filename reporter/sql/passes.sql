-- One row a scoring pass and scorer of it. A pass that was interrupted and resumed began more than once: it is about
-- what had been asked when it did so last.
CREATE TABLE passes AS
WITH pass_events AS (
    SELECT seq, type::VARCHAR AS type, at_ns + shift_of(seq) AS at_ns, data::VARCHAR::JSON AS data, (data::VARCHAR::JSON ->> '$.pass')::BIGINT AS pass
    FROM stream
),

each_pass AS (
    SELECT
        pass,
        min(at_ns) FILTER (type = 'SCORING_STARTED') AS first_started_ns,
        max(at_ns) FILTER (type = 'SCORING_STARTED') AS started_ns,
        coalesce(
            arg_max(coalesce(nullif(data ->> '$.reason', ''), 'completed'), seq) FILTER (type = 'SCORING_ENDED'),
            'cut_off'
        ) AS ended,
        arg_min(data, seq) FILTER (type = 'SCORING_STARTED') AS data
    FROM pass_events
    WHERE pass IS NOT NULL
    GROUP BY pass
)

SELECT
    pass,
    unnest(from_json(data -> '$.scorers', '[{
        "task": "VARCHAR",
        "scorer": "VARCHAR",
        "version": "BIGINT",
        "definition": "VARCHAR",
        "judge": "VARCHAR"
    }]'), recursive := true),
    wall_time(first_started_ns) AS started_at_utc,
    started_ns,
    ended,
    data -> '$.options' AS options,
    data -> '$.versions' AS versions
FROM each_pass
WHERE started_ns IS NOT NULL;
