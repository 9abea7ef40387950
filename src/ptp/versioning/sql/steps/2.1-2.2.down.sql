DROP VIEW decisions;
DROP VIEW llm_decisions;
DROP TABLE episode_starts;
DROP TABLE model_calls;
DROP TABLE model_texts;
DROP TABLE config_changes;
DROP TABLE notices;
DROP TABLE snapshots;
DROP TABLE seals;
DROP TABLE abandoned_rows;

ALTER TABLE steps DROP COLUMN info;
ALTER TABLE steps DROP COLUMN actor;
ALTER TABLE abandoned_steps DROP COLUMN info;
ALTER TABLE abandoned_steps DROP COLUMN actor;
ALTER TABLE events DROP COLUMN title;
ALTER TABLE events DROP COLUMN place;
ALTER TABLE errors DROP COLUMN tick;
ALTER TABLE rewinds DROP COLUMN branch;
