"""Runs a coroutine on the fastest event loop there is. Knows nothing of what it runs.

One interruption cancels the coroutine, which then has the time that it needs to end in order; a second one stops it.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from itembank.errors import UserError

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end: on uvloop where there is one, on plain asyncio elsewhere.

    A UserError that a group of tasks raised is raised bare.
    """
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):
        import uvloop

        factory = uvloop.new_event_loop
    try:
        with asyncio.Runner(loop_factory=factory) as runner:
            return runner.run(main)
    except BaseExceptionGroup as group:
        error = _user_error(group)
        if error is None:
            raise
        raise error from None


def _user_error(error: BaseException) -> UserError | None:
    """The first UserError in a group of groups; None where there is none."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for inner in error.exceptions if (found := _user_error(inner))), None)
    return error if isinstance(error, UserError) else None
