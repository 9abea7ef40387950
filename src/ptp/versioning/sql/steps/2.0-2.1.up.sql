-- The tape: one row per command applied to the world.
CREATE TABLE steps (
    tick INTEGER PRIMARY KEY,
    episode INTEGER NOT NULL,
    step INTEGER NOT NULL,
    command TEXT NOT NULL,
    reward REAL,
    terminated INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    elapsed REAL NOT NULL,      -- seconds since the run began
    state_hash TEXT NOT NULL,
    state TEXT,                 -- JSON; NULL when it is the one of the tick before
    frame_ref TEXT
);

CREATE TABLE episodes (
    episode INTEGER PRIMARY KEY,
    last_tick INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    reward REAL,
    elapsed REAL NOT NULL,
    terminated INTEGER NOT NULL
);

-- Ticks that were played and given up when the run went back.
CREATE TABLE rewinds (
    rewind INTEGER PRIMARY KEY,
    timestamp TIMESTAMP NOT NULL,
    from_tick INTEGER NOT NULL,
    to_tick INTEGER NOT NULL,
    reason TEXT NOT NULL,
    commands_dropped INTEGER NOT NULL
);

CREATE TABLE abandoned_steps (
    rewind INTEGER NOT NULL,
    tick INTEGER NOT NULL,
    episode INTEGER NOT NULL,
    step INTEGER NOT NULL,
    command TEXT NOT NULL,
    reward REAL,
    terminated INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    elapsed REAL NOT NULL,
    state_hash TEXT NOT NULL,
    state TEXT,
    frame_ref TEXT,
    PRIMARY KEY (rewind, tick)
);

-- What the world itself calls an event: an encounter, a catch, a badge.
CREATE TABLE events (
    event_id TEXT PRIMARY KEY,
    run_id TEXT,
    timestamp TIMESTAMP,
    tick INTEGER,
    kind TEXT,
    detail TEXT                 -- JSON
);
CREATE INDEX idx_events_tick ON events(tick);

CREATE INDEX idx_action_history_tick ON action_history(tick);
CREATE INDEX idx_battle_turns_battle ON battle_turns(battle_id);
CREATE INDEX idx_navigation_events_tick ON navigation_events(tick);
CREATE INDEX idx_performance_metrics_type ON performance_metrics(metric_type, tick);
CREATE INDEX idx_screenshots_tick ON screenshots(tick);
CREATE INDEX idx_screenshots_file ON screenshots(file_path);
