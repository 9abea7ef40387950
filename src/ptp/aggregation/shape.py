"""The shape of the central database, as PostgreSQL tells it, and the one that it should have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ptp.versioning.central import central_sql
from ptp.versioning.schema import statements
from ptp.versioning.shape import OUR_OWN, Column, Index, Shape

if TYPE_CHECKING:
    import psycopg

SCRATCH = "ptp_scratch"

_NAMED = re.compile(r"CREATE (?:UNIQUE )?(?:TABLE|INDEX|VIEW|MATERIALIZED VIEW) (\w+)")

_COLUMNS = """
SELECT class.relname, attribute.attname, format_type(attribute.atttypid, attribute.atttypmod), attribute.attnotnull,
       pg_get_expr(given.adbin, given.adrelid), coalesce(array_position(key.conkey, attribute.attnum), 0)
FROM pg_class AS class
JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attnum > 0 AND NOT attisdropped
LEFT JOIN pg_attrdef AS given ON given.adrelid = class.oid AND given.adnum = attribute.attnum
LEFT JOIN pg_constraint AS key ON key.conrelid = class.oid AND key.contype = 'p'
WHERE class.relnamespace = current_schema()::regnamespace AND class.relkind IN ('r', 'p')
ORDER BY class.oid, attribute.attnum
"""

_INDEXES = """
SELECT name.relname, class.relname, index.indisunique,
       ARRAY(SELECT pg_get_indexdef(index.indexrelid, place, true) FROM generate_series(1, index.indnkeyatts) AS place)
FROM pg_index AS index
JOIN pg_class AS name ON name.oid = index.indexrelid
JOIN pg_class AS class ON class.oid = index.indrelid
WHERE class.relnamespace = current_schema()::regnamespace
  AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = index.indexrelid)
ORDER BY name.oid
"""

_VIEWS = """
SELECT relname, relkind = 'm', pg_get_viewdef(oid, true) FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('v', 'm') ORDER BY oid
"""


class View(NamedTuple):
    """One view."""

    materialized: bool
    query: str


class CentralShape(NamedTuple):
    """Everything that can drift."""

    parts: Shape
    views: dict[str, View]


def read_shape(connection: psycopg.Connection) -> CentralShape:
    """Return the shape of the schema we work in."""
    tables: dict[str, dict[str, Column]] = {}
    for table, column, kind, required, default, key in connection.execute(_COLUMNS).fetchall():
        if table not in OUR_OWN:
            tables.setdefault(table, {})[column] = Column(kind.upper(), required, default, key)
    indexes = {
        name: Index(table, tuple(columns), unique)
        for name, table, unique, columns in connection.execute(_INDEXES).fetchall()
    }
    views = {name: View(kept, query) for name, kept, query in connection.execute(_VIEWS).fetchall()}
    return CentralShape(Shape(tables, indexes, {}), views)


def shape_of(connection: psycopg.Connection, version: str) -> CentralShape:
    """Return the shape that a version has: it is made beside the database and given up again."""
    import psycopg

    sql = statements(central_sql(version))
    with connection.transaction() as scratch:
        connection.execute(f"CREATE SCHEMA {SCRATCH}")
        connection.execute(f"SET LOCAL search_path TO {SCRATCH}")
        for statement in sql:
            connection.execute(statement)
        shape = read_shape(connection)
        raise psycopg.Rollback(scratch)
    named = {found[1]: statement for statement in sql if (found := _NAMED.match(statement))}
    return CentralShape(shape.parts._replace(sql=named), shape.views)
