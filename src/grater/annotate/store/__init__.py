"""The database of a study: schema, migrations, transactions, events, and the check of what must hold (docs/store.md).

The queries of a noun are in its module of `grater.annotate`, next to its rules.  They take a transaction first;
SQLite and PostgreSQL run the same code.
"""

from importlib.util import find_spec

from grater.errors import MissingExtra

if find_spec("sqlalchemy") is None or find_spec("pydantic") is None:
    raise MissingExtra("a study needs SQLAlchemy and pydantic: pip install 'grater[server]'")

from grater.annotate.store.database import Store, open_store
from grater.annotate.store.transaction import Tx, as_iso, utc_now

__all__ = ["Store", "Tx", "as_iso", "open_store", "utc_now"]
