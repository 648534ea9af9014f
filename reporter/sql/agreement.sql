-- One row a response whose prompt has the results of an earlier run. `cosine` and `cosine_min` are the mean and the least
-- cosine of the vectors of an input in both, `rank_correlation` is Spearman's of the scores, equal scores with their mean rank,
-- and `same_first` whether the same document has the highest score.
CREATE TABLE agreement AS
WITH both_runs AS (
    SELECT vectors.sample_uuid, vectors.measured, dimensions, outputs.results, prompts.expected
    FROM vectors JOIN outputs USING (sample_uuid) JOIN prompts USING (prompt_id)
    WHERE outputs.results IS NOT NULL AND prompts.expected IS NOT NULL
),

of_vectors AS (
    SELECT sample_uuid, avg(cosine) AS cosine, min(cosine) AS cosine_min
    FROM (
        SELECT sample_uuid, list_cosine_similarity(here, there) AS cosine
        FROM (
            SELECT sample_uuid, unnest(try_cast(results AS DOUBLE[][])) AS here, unnest(try_cast(expected AS DOUBLE[][])) AS there
            FROM both_runs
            WHERE dimensions = json_array_length(expected -> 0) AND results ->> '$[0][0]' NOT LIKE '[%'
        )
    )
    GROUP BY sample_uuid
),

places AS (
    SELECT
        sample_uuid,
        here,
        there,
        rank() OVER (PARTITION BY sample_uuid ORDER BY here) + (count(*) OVER (PARTITION BY sample_uuid, here) - 1) / 2 AS rank_here,
        rank() OVER (PARTITION BY sample_uuid ORDER BY there) + (count(*) OVER (PARTITION BY sample_uuid, there) - 1) / 2 AS rank_there,
        row_number() OVER (PARTITION BY sample_uuid) AS place
    FROM (
        SELECT sample_uuid, unnest(try_cast(results AS DOUBLE[])) AS here, unnest(try_cast(expected AS DOUBLE[])) AS there
        FROM both_runs
        WHERE dimensions IS NULL
    )
),

of_scores AS (
    SELECT
        sample_uuid,
        corr(rank_here, rank_there) AS rank_correlation,
        arg_max(place, here) = arg_max(place, there) AS same_first
    FROM places
    GROUP BY sample_uuid
)

SELECT sample_uuid, measured, cosine, cosine_min, rank_correlation, same_first
FROM both_runs LEFT JOIN of_vectors USING (sample_uuid) LEFT JOIN of_scores USING (sample_uuid);
