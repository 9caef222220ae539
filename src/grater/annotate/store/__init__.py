"""The database of a study: schema, migrations, transactions, and queries by noun (docs/store.md).

Nouns with a module of their own in `grater.annotate` have their queries there, next to their rules.  Every query
function takes a transaction first and returns frozen records; SQLite and PostgreSQL run the same code.
"""

from importlib.util import find_spec

from grater.errors import MissingExtra

if find_spec("sqlalchemy") is None or find_spec("pydantic") is None:
    raise MissingExtra("a study needs SQLAlchemy and pydantic: pip install 'grater[server]'")

from grater.annotate.store.database import Store, open_store
from grater.annotate.store.transaction import Tx, as_iso, utc_now

__all__ = ["Store", "Tx", "as_iso", "open_store", "utc_now"]
