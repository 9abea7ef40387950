"""Schema and config versions: registries, paths between versions, migrations and drift."""

from ptp.versioning.schema import RUN_SCHEMAS, SCHEMA_VERSION

__all__ = ["RUN_SCHEMAS", "SCHEMA_VERSION"]
