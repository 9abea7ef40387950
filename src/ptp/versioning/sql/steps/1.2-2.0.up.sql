ALTER TABLE decisions RENAME TO action_history;
ALTER TABLE action_history ADD COLUMN context_version TEXT;
ALTER TABLE action_history ADD COLUMN execution_duration_ms INTEGER;
