ALTER TABLE aggregated_runs ADD COLUMN world TEXT;
ALTER TABLE aggregated_runs ADD COLUMN agent TEXT;

CREATE INDEX idx_aggregated_decisions_run ON aggregated_decisions(run_id);
CREATE INDEX idx_aggregated_battles_run ON aggregated_battles(run_id);
CREATE INDEX idx_aggregated_runs_model ON aggregated_runs(model_name);

-- What the decisions and battles of each run come to, counted when it is asked for.
CREATE VIEW run_figures AS
SELECT run.run_id, made.decisions, made.tokens_used, made.cost, made.latency_ms,
       fought.battles, fought.battles_won, fought.battles_lost, fought.turns_taken
FROM aggregated_runs AS run
CROSS JOIN LATERAL (
    SELECT count(*) AS decisions, sum(tokens_used) AS tokens_used, sum(cost) AS cost, sum(latency_ms) AS latency_ms
    FROM aggregated_decisions WHERE run_id = run.run_id
) AS made
CROSS JOIN LATERAL (
    SELECT count(*) AS battles, count(*) FILTER (WHERE outcome = 'win') AS battles_won,
           count(*) FILTER (WHERE outcome = 'loss') AS battles_lost, sum(turns_taken) AS turns_taken
    FROM aggregated_battles WHERE run_id = run.run_id
) AS fought;

-- The same, counted once, when the run came in: sums over runs need no look at their decisions.
CREATE TABLE run_rollups (
    run_id UUID PRIMARY KEY,
    decisions BIGINT NOT NULL,
    tokens_used BIGINT,
    cost DECIMAL(16,6),
    latency_ms BIGINT,
    battles BIGINT NOT NULL,
    battles_won BIGINT NOT NULL,
    battles_lost BIGINT NOT NULL,
    turns_taken BIGINT
);

INSERT INTO run_rollups SELECT * FROM run_figures;
