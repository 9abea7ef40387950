-- Schema 2.2 of game_data.db: 2.1 plus how episodes began, infos, model calls, changed settings, notices, what learners took from it, and the seal.
-- Timestamps are UTC, ISO 8601 with milliseconds.

CREATE TABLE _schema_version (
    version TEXT PRIMARY KEY,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    experiment_name TEXT,
    started_at TIMESTAMP,
    completed_at TIMESTAMP,
    random_seed INTEGER,
    config_snapshot TEXT,       -- JSON of the config
    status TEXT,                -- running, completed, crashed, manual_stop
    error_message TEXT
);

CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    session_id TEXT,
    model_name TEXT,
    rom_hash TEXT,
    started_at TIMESTAMP,
    completed_at TIMESTAMP,
    duration_ticks INTEGER,
    final_level INTEGER,
    total_cost DECIMAL(10,4),
    status TEXT
);

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
    frame_ref TEXT,
    info TEXT,                  -- JSON; what the environment said beside
    actor TEXT                  -- who gave the command, where that is not the run's agent
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
    commands_dropped INTEGER NOT NULL,
    branch INTEGER              -- of a restored snapshot: how often the run had gone back when it was taken
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
    info TEXT,
    actor TEXT,
    PRIMARY KEY (rewind, tick)
);

-- What belongs to such ticks: rows of other tables, and the status that decisions had.
CREATE TABLE abandoned_rows (
    rewind INTEGER NOT NULL,
    tick INTEGER NOT NULL,
    name TEXT NOT NULL,         -- the table
    row TEXT NOT NULL           -- JSON: its values by column
);
CREATE INDEX idx_abandoned_rows ON abandoned_rows(rewind, tick);

-- What the world itself calls an event: an encounter, a catch, a badge.
CREATE TABLE events (
    event_id TEXT PRIMARY KEY,
    run_id TEXT,
    timestamp TIMESTAMP,
    tick INTEGER,
    kind TEXT,
    detail TEXT,                -- JSON
    title TEXT,                 -- the event in a few words
    place INTEGER               -- its place among the events of its tick
);
CREATE INDEX idx_events_tick ON events(tick);

CREATE TABLE action_history (
    decision_id TEXT PRIMARY KEY,
    run_id TEXT,
    timestamp TIMESTAMP,
    tick INTEGER,
    game_state TEXT,            -- JSON
    decision_type TEXT,
    decision_context TEXT,      -- JSON
    reasoning TEXT,
    confidence_score DECIMAL(5,4),
    decision_latency_ms INTEGER,
    tokens_used INTEGER,
    api_cost DECIMAL(10,6),
    model_used TEXT,
    execution_status TEXT,      -- pending, success, partial, failed
    execution_error TEXT,
    context_version TEXT,
    execution_duration_ms INTEGER
);
CREATE INDEX idx_action_history_tick ON action_history(tick);
-- Decisions by their first name.
CREATE VIEW decisions AS SELECT
    decision_id, run_id, timestamp, tick, game_state, decision_type, decision_context, reasoning, confidence_score,
    decision_latency_ms, tokens_used, api_cost, model_used, execution_status, execution_error
FROM action_history;

CREATE TABLE pokemon_party (
    party_id TEXT PRIMARY KEY,
    run_id TEXT,
    pokemon_id TEXT,
    species TEXT,
    nickname TEXT,
    level INTEGER,
    current_hp INTEGER,
    max_hp INTEGER,
    experience INTEGER,
    moves TEXT,                 -- JSON
    status TEXT,                -- alive, fainted, boxed
    caught_at TIMESTAMP,
    catch_location TEXT
);

CREATE TABLE battles (
    battle_id TEXT PRIMARY KEY,
    run_id TEXT,
    started_at TIMESTAMP,
    ended_at TIMESTAMP,
    battle_type TEXT,           -- wild, trainer, gym
    enemy_species TEXT,
    enemy_level INTEGER,
    enemy_trainer TEXT,
    outcome TEXT,               -- win, loss, flee, draw
    turns_taken INTEGER,
    player_pokemon TEXT,
    used_items TEXT,            -- JSON
    money_earned INTEGER
);

CREATE TABLE battle_turns (
    turn_id TEXT PRIMARY KEY,
    battle_id TEXT,
    turn_number INTEGER,
    timestamp TIMESTAMP,
    player_action TEXT,         -- move, item, switch, run
    player_move TEXT,
    player_target TEXT,
    player_damage INTEGER,
    enemy_action TEXT,
    enemy_move TEXT,
    enemy_damage INTEGER,
    player_hp_after INTEGER,
    enemy_hp_after INTEGER,
    turn_result TEXT
);
CREATE INDEX idx_battle_turns_battle ON battle_turns(battle_id);

CREATE TABLE navigation_events (
    event_id TEXT PRIMARY KEY,
    run_id TEXT,
    timestamp TIMESTAMP,
    tick INTEGER,
    event_type TEXT,            -- move, interact, encounter
    from_location TEXT,
    to_location TEXT,
    direction TEXT,
    map_name TEXT,
    coordinates TEXT,           -- JSON {x, y}
    encountered_pokemon TEXT
);
CREATE INDEX idx_navigation_events_tick ON navigation_events(tick);

CREATE TABLE inventory_transactions (
    transaction_id TEXT PRIMARY KEY,
    run_id TEXT,
    timestamp TIMESTAMP,
    action TEXT,                -- add, remove, use
    item TEXT,
    quantity INTEGER,
    source TEXT,                -- pickup, shop, reward
    context TEXT                -- JSON
);

CREATE TABLE objectives (
    objective_id TEXT PRIMARY KEY,
    run_id TEXT,
    objective_type TEXT,        -- badge, catch, evolution, region
    target TEXT,
    status TEXT,                -- pending, in_progress, completed, failed
    started_at TIMESTAMP,
    completed_at TIMESTAMP,
    progress TEXT               -- JSON
);

CREATE TABLE errors (
    error_id TEXT PRIMARY KEY,
    run_id TEXT,
    timestamp TIMESTAMP,
    error_type TEXT,
    error_message TEXT,
    stack_trace TEXT,
    context TEXT,               -- JSON
    recovered BOOLEAN,
    recovery_action TEXT,
    tick INTEGER
);

CREATE TABLE performance_metrics (
    metric_id TEXT PRIMARY KEY,
    run_id TEXT,
    timestamp TIMESTAMP,
    tick INTEGER,
    metric_type TEXT,           -- tick_rate, latency, memory, cost
    value DECIMAL(10,4),
    unit TEXT
);
CREATE INDEX idx_performance_metrics_type ON performance_metrics(metric_type, tick);

CREATE TABLE performance_profiles (
    profile_id TEXT PRIMARY KEY,
    run_id TEXT,
    cpu_usage DECIMAL(5,2),
    memory_usage_mb INTEGER,
    disk_usage_bytes INTEGER,
    timestamp TIMESTAMP
);
CREATE INDEX idx_performance_profile_run ON performance_profiles(run_id);

CREATE TABLE ai_model_configurations (
    config_id TEXT PRIMARY KEY,
    run_id TEXT,
    model_name TEXT,
    temperature DECIMAL(4,2),
    max_tokens INTEGER,
    system_prompt TEXT,
    model_parameters TEXT       -- JSON
);

CREATE TABLE screenshots (
    screenshot_id TEXT PRIMARY KEY,
    run_id TEXT,
    timestamp TIMESTAMP,
    tick INTEGER,
    screen_type TEXT,
    file_path TEXT,
    file_size_bytes INTEGER,
    annotations TEXT,           -- JSON
    metadata TEXT               -- JSON
);
CREATE INDEX idx_screenshots_tick ON screenshots(tick);
CREATE INDEX idx_screenshots_file ON screenshots(file_path);

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

-- The seal: a hash chain with one link per transaction.
CREATE TABLE seals (
    batch INTEGER PRIMARY KEY,
    timestamp TIMESTAMP NOT NULL,
    tick INTEGER NOT NULL,
    records INTEGER NOT NULL,
    reason TEXT NOT NULL,       -- recorded, rolled back, pruned, ...
    note TEXT,                  -- JSON
    changes BLOB NOT NULL,      -- the rows it wrote, with a digest of each (MessagePack)
    digest TEXT NOT NULL        -- over the link before and all of this one
);

INSERT INTO _schema_version (version) VALUES ('2.2');
