"""The run database's schema; each version is a file of SQL."""

from __future__ import annotations

from importlib.resources import files

SCHEMA_VERSION = "2.1"


def schema_sql(version: str = SCHEMA_VERSION) -> str:
    """Return the SQL that creates a database of that version."""
    return (files("ptp.versioning") / "sql" / f"{version}.sql").read_text(encoding="utf-8")
