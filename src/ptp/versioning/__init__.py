"""Schema and config versions: registries, paths between versions, migrations and drift."""

from ptp.versioning.schema import SCHEMA_VERSION, schema_sql

__all__ = ["SCHEMA_VERSION", "schema_sql"]
