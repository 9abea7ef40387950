ALTER TABLE action_history DROP COLUMN execution_duration_ms;
ALTER TABLE action_history DROP COLUMN context_version;
ALTER TABLE action_history RENAME TO decisions;
