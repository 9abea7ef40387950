DROP TABLE steps;
DROP TABLE episodes;
DROP TABLE rewinds;
DROP TABLE abandoned_steps;
DROP TABLE events;

DROP INDEX idx_action_history_tick;
DROP INDEX idx_battle_turns_battle;
DROP INDEX idx_navigation_events_tick;
DROP INDEX idx_performance_metrics_type;
DROP INDEX idx_screenshots_tick;
DROP INDEX idx_screenshots_file;
