CREATE TABLE performance_profiles (
    profile_id TEXT PRIMARY KEY,
    run_id TEXT,
    cpu_usage DECIMAL(5,2),
    memory_usage_mb INTEGER,
    disk_usage_bytes INTEGER,
    timestamp TIMESTAMP
);
CREATE INDEX idx_performance_profile_run ON performance_profiles(run_id);
