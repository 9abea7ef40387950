-- Some databases of 1.0 and 1.1 have this table already; what is in it stays.
CREATE TABLE IF NOT EXISTS screenshots (
    screenshot_id TEXT PRIMARY KEY,
    run_id TEXT,
    timestamp TIMESTAMP,
    tick INTEGER,
    screen_type TEXT,
    file_path TEXT,
    file_size_bytes INTEGER,
    annotations TEXT            -- JSON
);
ALTER TABLE screenshots ADD COLUMN metadata TEXT;
