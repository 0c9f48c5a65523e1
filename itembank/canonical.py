"""One spelling for every JSON value, so that equal content has an equal digest."""

import hashlib
import json
from typing import Any


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no spaces, UTF-8. Raises ValueError on NaN and infinities.

    >>> canonical({"b": 1, "a": "é"}).decode()
    '{"a":"é","b":1}'
    """
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def digest(value: Any) -> str:
    """SHA-256 of the canonical form: 16 hexadecimal characters, enough to tell contents apart."""
    return hashlib.sha256(canonical(value)).hexdigest()[:16]
