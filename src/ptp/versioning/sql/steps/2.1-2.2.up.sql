ALTER TABLE steps ADD COLUMN info TEXT;
ALTER TABLE steps ADD COLUMN actor TEXT;
ALTER TABLE abandoned_steps ADD COLUMN info TEXT;
ALTER TABLE abandoned_steps ADD COLUMN actor TEXT;
ALTER TABLE events ADD COLUMN title TEXT;
ALTER TABLE events ADD COLUMN place INTEGER;
-- Our own ids end in a slash and the place; of others it is not known.
UPDATE events SET title = kind,
    place = CASE WHEN substr(event_id, 37, 1) = '/' THEN CAST(substr(event_id, 38) AS INTEGER) END;
ALTER TABLE errors ADD COLUMN tick INTEGER;
UPDATE errors SET tick = context ->> 'tick' WHERE json_valid(context);

ALTER TABLE rewinds ADD COLUMN branch INTEGER;

-- What belongs to ticks that were given up: rows of other tables, and the status that decisions had.
CREATE TABLE abandoned_rows (
    rewind INTEGER NOT NULL,
    tick INTEGER NOT NULL,
    name TEXT NOT NULL,         -- the table
    row TEXT NOT NULL           -- JSON: its values by column
);
CREATE INDEX idx_abandoned_rows ON abandoned_rows(rewind, tick);

-- How each episode began: with the seed that the reset was given, or with the world's own dice (NULL).
CREATE TABLE episode_starts (
    episode INTEGER PRIMARY KEY,
    tick INTEGER NOT NULL,      -- the last tick before it
    seed INTEGER,
    options TEXT,               -- JSON
    observation TEXT,           -- JSON
    state TEXT,                 -- JSON
    info TEXT                   -- JSON
);

CREATE TABLE model_calls (
    call_id TEXT PRIMARY KEY,
    run_id TEXT,
    timestamp TIMESTAMP,
    tick INTEGER,
    decision INTEGER,           -- the number of the decision; NULL for an answer that came too late
    provider TEXT,
    model TEXT,
    parameters TEXT,            -- JSON
    tokens_in INTEGER,
    tokens_out INTEGER,
    tokens_cached INTEGER,
    cost DECIMAL(10,6),         -- NULL when the price is unknown
    latency_ms REAL,
    tools TEXT,                 -- JSON
    prompt_hash TEXT,
    answer_hash TEXT,
    status TEXT,                -- ok, malformed, refused, error
    error TEXT,
    calls_remaining INTEGER     -- as the provider said; NULL when it did not
);
CREATE INDEX idx_model_calls_tick ON model_calls(tick);

-- What was sent to models and came from them, each text and picture once, compressed by zlib.
CREATE TABLE model_texts (
    hash TEXT PRIMARY KEY,      -- SHA-256 of what the body unpacks to
    body BLOB NOT NULL
);

-- Decisions that models made: their last call, how many tools it took, and the first command that came of it.
CREATE VIEW llm_decisions AS SELECT
    a.decision_id, a.run_id, a.timestamp, a.tick, a.model_used AS model_name, count(*) AS calls,
    sum(coalesce(json_array_length(m.tools), 0)) AS tool_calls, m.prompt_hash, m.answer_hash, max(m.call_id) AS call_id,
    s.command AS action, a.reasoning
FROM action_history a
JOIN model_calls m ON a.decision_id = substr(m.run_id, 1, 24) || printf('%012x', m.decision)
LEFT JOIN steps s ON s.tick = a.tick + 1
GROUP BY a.decision_id;

CREATE TABLE config_changes (
    change_id TEXT PRIMARY KEY,
    timestamp TIMESTAMP,
    tick INTEGER,
    settings TEXT               -- JSON: the new values, by path
);

CREATE TABLE notices (
    notice_id TEXT PRIMARY KEY,
    timestamp TIMESTAMP,
    tick INTEGER,
    level TEXT,                 -- info, warning, error
    kind TEXT,
    message TEXT
);
CREATE INDEX idx_notices_tick ON notices(tick);

CREATE TABLE snapshots (
    snapshot_id TEXT PRIMARY KEY,
    timestamp TIMESTAMP,
    tick INTEGER,
    reason TEXT,
    name TEXT,
    on_disk INTEGER,
    save_ms REAL
);

-- What a learner took from each step.
CREATE TABLE transitions (
    tick INTEGER PRIMARY KEY,
    episode INTEGER NOT NULL,
    state TEXT,                 -- JSON
    action INTEGER NOT NULL,
    reward REAL,
    next_state TEXT,            -- JSON
    terminated INTEGER NOT NULL,
    td_error REAL,
    q_delta REAL,
    visits INTEGER NOT NULL
);

-- What a learner says of itself at the end of an episode.
CREATE TABLE learning (
    episode INTEGER PRIMARY KEY,
    tick INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    reward REAL,
    epsilon REAL,
    alpha REAL,
    td_error REAL,
    convergence REAL,
    average_reward REAL,
    success_rate REAL,
    intentions INTEGER NOT NULL
);

-- The hash chain over what every transaction wrote.
CREATE TABLE seals (
    batch INTEGER PRIMARY KEY,
    timestamp TIMESTAMP NOT NULL,
    tick INTEGER NOT NULL,
    records INTEGER NOT NULL,
    reason TEXT NOT NULL,
    note TEXT,
    changes BLOB NOT NULL,
    digest TEXT NOT NULL
);

-- Decisions by their first name.
CREATE VIEW decisions AS SELECT
    decision_id, run_id, timestamp, tick, game_state, decision_type, decision_context, reasoning, confidence_score,
    decision_latency_ms, tokens_used, api_cost, model_used, execution_status, execution_error
FROM action_history;
