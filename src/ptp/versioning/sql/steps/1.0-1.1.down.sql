DROP TABLE performance_profiles;
