"""Creating the tables of a new study, and migrating older studies.

A new study is created from `schema`; a study of version v is migrated by the steps v+1, v+2, ... in one transaction.
A step is a function of a connection and never changes after its release.

Triggers protect permanent data: the database itself refuses to change or delete judgments, events and payments. Only
the status and the slot of a submission may change, and `judgments.set_status` writes the event for it. Units, slots,
leases and guidelines cannot be deleted once their job has a submission; before that, the job can.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from sqlalchemy import Connection, func, inspect, select

from grater.annotate.store import schema
from grater.annotate.store.transaction import new_id, new_secret, utc_now
from grater.errors import GraterError, UsageError

GROW_ONLY = ("events", "judgments", "guidelines", "adjudications")
KEPT = ("submissions", "leases", "units", "slots", "people", "payments")
"""Tables whose rows may change and never go."""

MAY_CHANGE = {"submissions": ("status", "n")}
"""Only the named columns of these tables may change."""

WITH_JOB = ("units", "slots", "leases", "guidelines")
"""Tables whose rows can go with a job to which nobody has submitted anything."""

FUNCTION = """
CREATE OR REPLACE FUNCTION grater_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% rows are kept as they are', TG_TABLE_NAME; END $$
"""

FUNCTION_OF_JOB = """
CREATE OR REPLACE FUNCTION grater_refuse_judged() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM submissions WHERE job_id = OLD.job_id) THEN
    RAISE EXCEPTION '% rows are kept as they are', TG_TABLE_NAME;
  END IF;
  RETURN OLD;
END $$
"""


def create_triggers(connection: Connection) -> None:
    """Create every trigger of the schema, in the dialect of the engine."""
    is_postgres = connection.dialect.name == "postgresql"

    def refuse(
        table: str, verb: str, *, of: str = "", each: str = "ROW", function: str = "grater_refuse", when: str = ""
    ) -> str:
        head = f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb}{of} ON {table} "
        if is_postgres:
            return f"{head}FOR EACH {each} EXECUTE FUNCTION {function}()"
        return f"{head}{when}BEGIN SELECT RAISE(ABORT, '{table} rows are kept as they are'); END"

    kept, when = (*GROW_ONLY, *KEPT), "WHEN EXISTS (SELECT 1 FROM submissions WHERE job_id = OLD.job_id) "
    triggers = [FUNCTION.replace("%", "%%"), FUNCTION_OF_JOB.replace("%", "%%")] if is_postgres else []
    triggers += [refuse(table, "DELETE") for table in kept if table not in WITH_JOB]
    triggers += [refuse(table, "DELETE", function="grater_refuse_judged", when=when) for table in WITH_JOB]
    triggers += [refuse(table, "UPDATE") for table in GROW_ONLY]
    for table, names in MAY_CHANGE.items():
        fixed = [f'"{column.name}"' for column in schema.METADATA.tables[table].columns if column.name not in names]
        triggers.append(refuse(table, "UPDATE", of=f" OF {', '.join(fixed)}"))
    triggers += [refuse(table, "TRUNCATE", each="STATEMENT") for table in kept] if is_postgres else []
    for statement in triggers:
        connection.exec_driver_sql(statement)


Step: TypeAlias = Callable[[Connection], None]


def add_columns(connection: Connection, table: str, **definitions: str) -> None:
    """Add the columns that a table lacks."""
    known = {column["name"] for column in inspect(connection).get_columns(table)}
    for name, definition in definitions.items():
        if name not in known:
            connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {name} {definition}")


def split_gold(connection: Connection) -> None:
    """Split gold into quiz and hidden gold: in a job with a quiz, the gold that most raters have seen becomes the
    quiz.

    Answers count for trust as before, so nothing is recomputed.
    """
    pools = " OR ".join(f"pool = '{name}'" for name in schema.GOLD_POOLS)
    add_columns(
        connection,
        "gold",
        pool=f"TEXT NOT NULL DEFAULT 'hidden' CONSTRAINT ck_gold_pool CHECK ({pools})",
        revealed="BIGINT NOT NULL DEFAULT 0",
    )
    gold, units, leases = schema.gold, schema.units, schema.leases
    n_met = select(func.count()).where(leases.c.unit_id == gold.c.unit_id).scalar_subquery()
    of_job = select(gold.c.unit_id, gold.c.item_id).join(units, units.c.unit_id == gold.c.unit_id)
    for job in connection.execute(select(schema.jobs.c.job_id, schema.jobs.c.options)).all():
        rule = (job.options.get("crowd") or {}).get("gold") or {}
        here = of_job.where(units.c.job_id == job.job_id, units.c.role == "gold").order_by(
            n_met.desc(), units.c.position
        )
        rows = connection.execute(here).all()
        quiz, attempts = rule.get("quiz", 0), rule.get("attempts", 1)
        for row in rows[: max(quiz, min(quiz * max(2, attempts), len(rows) // 2))]:
            moved = {"item_id": row.item_id, "pool": "quiz"}
            connection.execute(gold.update().where(gold.c.unit_id == row.unit_id).values(pool="quiz"))
            logged = {"at": utc_now(), "verb": "gold.pool", "noun": row.unit_id, "payload": moved}
            connection.execute(schema.events.insert().values(logged))


TWO_POOLS = 11

STEPS: Mapping[int, Step] = {TWO_POOLS: split_gold}
"""What each version changed, from that of grater 0.2 on."""

OLDEST = 10
"""The version of studies of grater 0.2, which brings older ones up to it."""

VERSION = max(STEPS)


def is_empty(connection: Connection) -> bool:
    return not inspect(connection).has_table("meta")


def create(connection: Connection) -> None:
    schema.METADATA.create_all(connection)
    create_triggers(connection)
    values = {"version": str(VERSION), "study_id": new_id(), "key": new_secret()}
    connection.execute(schema.meta.insert(), [{"key": name, "value": value} for name, value in values.items()])


def version_of(connection: Connection, *, name: str) -> int:
    if is_empty(connection):
        raise UsageError(f"{name}: not a study; make a new one first")
    value = connection.execute(select(schema.meta.c.value).where(schema.meta.c.key == "version")).scalar()
    if value is None:
        raise UsageError(f"{name}: a database, but not a study of grater")
    return int(value)


def migrate(connection: Connection, *, name: str, steps: Mapping[int, Step] = STEPS) -> None:
    """Migrate the study to this version; a newer study is refused."""
    version = version_of(connection, name=name)
    newest = max(steps)
    if version > newest:
        raise GraterError(
            f"{name}: made by a newer grater (schema {version}, this one knows {newest}); upgrade grater"
        )
    if version < OLDEST:
        raise GraterError(f"{name}: made by grater 0.1; open it once with grater 0.2, which brings it up to date")
    for number in sorted(step for step in steps if step > version):
        steps[number](connection)
        connection.execute(schema.meta.update().where(schema.meta.c.key == "version").values(value=str(number)))
