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
