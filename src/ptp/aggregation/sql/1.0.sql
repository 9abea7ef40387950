-- Central schema 1.0: the tables and views that were asked for. Texts are as long as they are, and averages as
-- wide as long runs need.

CREATE TABLE _schema_version (
    version TEXT PRIMARY KEY,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);

-- One row per run. Timestamps are UTC; figures that a world does not have are NULL.
CREATE TABLE aggregated_runs (
    run_id UUID PRIMARY KEY,
    experiment_id UUID,             -- made from the name of the experiment
    model_name TEXT,
    rom_hash TEXT,
    started_at TIMESTAMP,
    completed_at TIMESTAMP,
    duration_seconds INTEGER,
    duration_ticks INTEGER,
    total_cost DECIMAL(10,4),
    final_level INTEGER,
    pokemon_caught INTEGER,
    battles_won INTEGER,
    battles_lost INTEGER,
    badges_earned INTEGER,
    errors_count INTEGER,
    status TEXT,
    config_snapshot JSONB,
    imported_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE aggregated_decisions (
    decision_id UUID PRIMARY KEY,
    run_id UUID,
    experiment_id UUID,
    model_name TEXT,
    decision_type TEXT,
    timestamp TIMESTAMP,
    tick INTEGER,
    latency_ms INTEGER,
    tokens_used INTEGER,
    cost DECIMAL(10,6),
    confidence DECIMAL(5,4),
    was_correct BOOLEAN,            -- for whoever judges decisions afterwards; a run does not know it
    context JSONB,
    imported_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE aggregated_battles (
    battle_id UUID PRIMARY KEY,
    run_id UUID,
    experiment_id UUID,
    model_name TEXT,
    battle_type TEXT,
    pokemon_enemy TEXT,
    pokemon_enemy_level INTEGER,
    outcome TEXT,
    turns_taken INTEGER,
    pokemon_died BOOLEAN,
    items_used JSONB,
    moves_used JSONB,
    imported_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);

-- Made anew by `ptp db refresh`.
CREATE TABLE model_performance (
    model_name TEXT PRIMARY KEY,
    total_runs INTEGER,
    avg_cost DECIMAL(10,4),
    avg_duration_seconds INTEGER,
    avg_battles_won DECIMAL(12,2),
    avg_badges_earned DECIMAL(5,2),
    win_rate DECIMAL(5,4),          -- of the battles that were won or lost
    error_rate DECIMAL(8,6),        -- of the runs, how many had an error
    last_updated TIMESTAMP
);

CREATE MATERIALIZED VIEW model_comparison AS
SELECT model_name,
       count(*) AS runs,
       round(avg(total_cost), 4) AS avg_cost,
       round(avg(duration_seconds), 0) AS avg_duration,
       round(avg(battles_won), 2) AS avg_wins,
       round(avg(badges_earned), 2) AS avg_badges,
       round(avg((status = 'completed')::integer), 4) AS completion_rate,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_seconds) AS median_duration,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_seconds) AS p95_duration
FROM aggregated_runs
GROUP BY model_name;

CREATE MATERIALIZED VIEW battle_analysis AS
SELECT model_name,
       battle_type,
       count(*) AS battles,
       round(avg(turns_taken), 2) AS avg_turns,
       avg((outcome = 'win')::integer) AS win_rate,
       round(avg(turns_taken) FILTER (WHERE outcome = 'win'), 2) AS avg_win_turns
FROM aggregated_battles
GROUP BY model_name, battle_type;

CREATE MATERIALIZED VIEW cost_analysis AS
SELECT model_name,
       date_trunc('hour', timestamp) AS hour,
       sum(cost) AS total_cost,
       count(*) AS decisions,
       round(avg(cost), 6) AS avg_cost_per_decision
FROM aggregated_decisions
GROUP BY model_name, date_trunc('hour', timestamp);

INSERT INTO _schema_version (version) VALUES ('1.0');
