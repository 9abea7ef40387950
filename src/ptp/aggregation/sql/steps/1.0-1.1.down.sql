DROP TABLE run_rollups;
DROP VIEW run_figures;

DROP INDEX idx_aggregated_decisions_run;
DROP INDEX idx_aggregated_battles_run;
DROP INDEX idx_aggregated_runs_model;

ALTER TABLE aggregated_runs DROP COLUMN world;
ALTER TABLE aggregated_runs DROP COLUMN agent;
