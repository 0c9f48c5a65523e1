"""Finds plugins: a plugin is a file in a package, known by its name.

There is no registry and no decorator, and a plugin that fails to import is loud.
"""

import importlib
import pkgutil
from types import ModuleType

from itembank.errors import UserError, nearest


def names(package: ModuleType) -> list[str]:
    """The plugins in `package`, sorted; a file whose name starts with `_` is none."""
    found = pkgutil.iter_modules(package.__path__)
    return sorted(module.name for module in found if not module.name.startswith("_"))


def load(package: ModuleType, name: str) -> ModuleType:
    """Import one plugin. Raises UserError with the nearest name, or all of them, if there is none."""
    known = names(package)
    if name not in known:
        kind = package.__name__.replace(".", " ")
        raise UserError(f"{kind}: no {name!r}; {nearest(name, known)}")
    return importlib.import_module(f"{package.__name__}.{name}")
