-- One row for each chunk that may have arrived before its stamp: by how many us at most.
CREATE VIEW early AS
SELECT sample_uuid, unnest(range(late_chunks[place], late_chunks[place] + late_chunks[place + 1])) AS chunk_index, early_us
FROM (
    SELECT sample_uuid, late_chunks, place, late_chunks[place + 2] AS early_us
    FROM (
        SELECT sample_uuid, late_chunks, unnest(range(1, len(late_chunks) - 1, 3)) AS place
        FROM requests
        WHERE late_chunks IS NOT NULL
    )
);
