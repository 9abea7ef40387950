"""Schema versions of the run database."""

from ptp.versioning.schema import SCHEMA_VERSION, schema_sql

__all__ = ["SCHEMA_VERSION", "schema_sql"]
