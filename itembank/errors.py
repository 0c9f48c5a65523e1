"""The errors of triplicate, all of them.

Three shapes:

    UserError     a bad argument, a bad file, an unreachable server at the start:
                  one line that says what to do next, exit status 2, no traceback
    data          a failed request is a `Failure` on its exchange, a broken scorer an
                  UNSCORABLE verdict; each is made at one boundary and never raised on
    bugs          anything else: a traceback
"""

SHOWN = 20
"""So many names an error line lists; the rest are counted."""


class UserError(Exception):
    """What the user can mend; its text is one line that says how."""

    def __str__(self) -> str:
        return " ".join(str(self.args[0]).split()) if self.args else ""


def nearest(name: str, known: list[str]) -> str:
    """A phrase for an error line: the known name closest to `name`, or those that exist.

    >>> nearest("incumbant", ["candidate", "incumbent"])
    "did you mean 'incumbent'?"
    >>> nearest("x", ["candidate", "incumbent"])
    'there are: candidate, incumbent'
    >>> nearest("x", [f"item-{number}" for number in range(94)])[-28:]
    'item-18, item-19 and 74 more'
    """
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    return f"there are: {', '.join(known[:SHOWN])}{more}" if known else "there are none"
