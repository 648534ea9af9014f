-- One row a turn of a session tree: its place, and what was recorded of it.
CREATE TABLE tree_turns AS
SELECT sample_uuid, unnest(from_json(data::VARCHAR ->> '$.tree', columns_of(TreeTurn)))
FROM stream;
