-- 1.1 does not ask for screenshots but can hold them, so the table stays.
ALTER TABLE screenshots DROP COLUMN metadata;
