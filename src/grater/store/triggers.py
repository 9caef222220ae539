"""Tables that only grow: the database itself refuses to change or delete judgments, events and payments.

Of a submission only the status and the slot may change; `submissions.set_status` writes the event beside it.
"""

from __future__ import annotations

from sqlalchemy import Connection

from grater.store import schema

GROW_ONLY = ("events", "judgments", "guidelines", "adjudications")
KEPT = ("submissions", "leases", "units", "slots", "people", "payments")
"""Tables whose rows may change and never go."""

MAY_CHANGE = {"submissions": ("status", "n")}
"""Of these tables only the named columns may change."""

FUNCTION = """
CREATE OR REPLACE FUNCTION grater_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% rows are kept as they are', TG_TABLE_NAME; END $$
"""


def statements(dialect: str) -> list[str]:
    """Every trigger of the schema in the words of one engine."""
    make = _postgres if dialect == "postgresql" else _sqlite
    found = [FUNCTION] if dialect == "postgresql" else []
    found += [make(table, "DELETE", "") for table in (*GROW_ONLY, *KEPT)]
    found += [make(table, "UPDATE", "") for table in GROW_ONLY]
    found += [make(table, "UPDATE", f" OF {_fixed(table, names)}") for table, names in MAY_CHANGE.items()]
    if dialect == "postgresql":
        found += [_truncating(table) for table in (*GROW_ONLY, *KEPT)]
    return found


def create_triggers(connection: Connection) -> None:
    for statement in statements(connection.dialect.name):
        connection.exec_driver_sql(
            statement.replace("%", "%%") if connection.dialect.name == "postgresql" else statement
        )


def drop_statements(table: str, dialect: str) -> list[str]:
    """Take the triggers of one table away: for migrations, and for tests that break a promise on purpose."""
    names = [f"{table}_no_delete", f"{table}_no_update", f"{table}_no_truncate"]
    where = f" ON {table}" if dialect == "postgresql" else ""
    return [f"DROP TRIGGER IF EXISTS {name}{where}" for name in names]


def _fixed(table: str, names: tuple[str, ...]) -> str:
    return ", ".join(
        f'"{column.name}"' for column in schema.METADATA.tables[table].columns if column.name not in names
    )


def _sqlite(table: str, verb: str, columns: str) -> str:
    return (
        f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb}{columns} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} rows are kept as they are'); END"
    )


def _postgres(table: str, verb: str, columns: str) -> str:
    return (
        f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb}{columns} ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION grater_refuse()"
    )


def _truncating(table: str) -> str:
    return (
        f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION grater_refuse()"
    )
