"""grater: find out how good a grammatical error detector really is.

`import grater` offers the functions of `grater.api` and the values that they share.  Importing costs nothing, for a
name is loaded when it is first used.  Everything else is imported from its own package, as in
`from grater.uncertainty import Basis`; what an extension needs is in `grater.extend`.
docs/architecture.md says which package holds what.
"""

from importlib import import_module

__version__ = "0.3.0"

TYPE_CHECKING = False  # `typing` itself would double the time of the import
if TYPE_CHECKING:
    from grater.api import *  # noqa: F403
    from grater.api import __all__ as __all__
else:

    def __getattr__(name):
        api = import_module("grater.api")
        if name != "__all__" and name not in api.__all__:
            raise AttributeError(f"module 'grater' has no attribute {name!r}")
        value = globals()[name] = getattr(api, name)
        return value


def __dir__() -> list[str]:
    return sorted([*import_module("grater.api").__all__, "__version__"])
