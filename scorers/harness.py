"""Runs inside the sandbox: calls model-written code and writes down what came back. Knows no expected value.

The file is self-contained, because its text alone is given to the child's interpreter; the parent imports only
`encode` and `decode`. Values travel as tagged bytes that hold plain data and nothing that could act. What the code
does to the interpreter it runs in (patched built-ins, forged records) can change its own results only.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # the child has no time for these imports
    from collections.abc import Callable, Iterator
    from typing import Any

MAX_DEPTH = 200
MAX_BYTES = 1 << 20
"""The largest encoding of one value; what is larger is written down as not plain."""
FILE_BYTES = 16 << 20
"""The largest file that the code may write, the record of its results among them."""
MODULE = "solution"


class Opaque:
    """Stands for a value that is not plain data: equal to nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


def encode(value: Any, limit: int = MAX_BYTES) -> bytes:
    """A value as tagged bytes; whatever is not plain data, or longer than `limit`, becomes a name.

    >>> encode([1, "a", None])
    b'l3:i1;s1:aN'
    """
    parts: list[bytes] = []
    try:
        _put(value, parts, [limit], 0)
    except ValueError as error:
        return _text(b"o", str(error))
    except RecursionError:
        return _text(b"o", "a value nested too deep")
    return b"".join(parts)


def _text(tag: bytes, text: str) -> bytes:
    raw = text.encode("utf-8", "surrogatepass")
    return b"%b%d:%b" % (tag, len(raw), raw)


def _scalar(value: Any) -> bytes | None:
    if value is None:
        return b"N"
    if isinstance(value, bool):
        return b"T" if value else b"F"
    if isinstance(value, int):
        return b"i%b;" % format(int.__index__(value), "x").encode()
    if isinstance(value, float):
        return b"d%b;" % float.hex(value).encode()
    if isinstance(value, str):
        return _text(b"s", str.__str__(value))
    if isinstance(value, bytes | bytearray):
        raw = bytes(value)
        return b"b%d:%b" % (len(raw), raw)
    return None


def _children(value: Any) -> tuple[bytes, Iterator[Any], int] | None:
    """Tag, parts and length of a container, read past any methods that a subclass overrides."""
    if isinstance(value, list):
        return b"l", list.__iter__(value), list.__len__(value)
    if isinstance(value, tuple):
        return b"t", tuple.__iter__(value), tuple.__len__(value)
    if isinstance(value, set):
        return b"e", set.__iter__(value), set.__len__(value)
    if isinstance(value, frozenset):
        return b"e", frozenset.__iter__(value), frozenset.__len__(value)
    if isinstance(value, dict):
        return b"m", (part for pair in dict.items(value) for part in pair), dict.__len__(value)
    return None


def _put(value: Any, parts: list[bytes], room: list[int], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ValueError("a value nested too deep")
    token = _scalar(value)
    inner = _children(value) if token is None else None
    if inner is not None:
        token = b"%b%d:" % (inner[0], inner[2])
    elif token is None:
        token = _text(b"o", type(value).__name__)
    room[0] -= len(token)
    if room[0] < 0:
        raise ValueError("a value too large")
    parts.append(token)
    for part in inner[1] if inner else ():
        _put(part, parts, room, depth + 1)


def decode(
    data: bytes, at: int = 0, mapping: Callable[[Any], Any] = dict, bag: Callable[[Any], Any] = set, depth: int = 0
) -> tuple[Any, int]:
    """The value that starts at an offset, and the offset behind it. Raises ValueError on anything malformed.

    `mapping` is given the list of pairs of a dict and `bag` the list of elements of a set, so that a reader who does
    not trust the data need not hash it.
    """
    tag = data[at : at + 1]
    if tag in (b"N", b"T", b"F"):
        return {b"N": None, b"T": True, b"F": False}[tag], at + 1
    if not tag or tag not in b"idsboltem" or depth > MAX_DEPTH + 9:
        raise ValueError("malformed data")
    end = data.index(b";" if tag in b"id" else b":", at)
    head = data[at + 1 : end].decode("ascii")
    if tag == b"i":
        return int(head, 16), end + 1
    if tag == b"d":
        return float.fromhex(head), end + 1
    size, start = int(head), end + 1
    if not 0 <= size <= len(data) - start:
        raise ValueError("malformed data")
    if tag in b"sbo":
        raw = data[start : start + size]
        text = raw if tag == b"b" else raw.decode("utf-8", "surrogatepass")
        return (Opaque(str(text)) if tag == b"o" else text), start + size
    items, at = [], start
    for _ in range(size * 2 if tag == b"m" else size):
        item, at = decode(data, at, mapping, bag, depth + 1)
        items.append(item)
    if tag == b"m":
        return mapping(list(zip(items[::2], items[1::2], strict=True))), at
    return (bag(items) if tag == b"e" else tuple(items) if tag == b"t" else items), at


def fault(error: BaseException) -> tuple[str, list[str], str]:
    """An exception as plain data: `raised`, the names of its classes, its text cut at 200 characters."""
    names = [
        kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        for kind in type.mro(type(error))
    ]
    try:
        text = str(error)[:200]
    except BaseException:  # noqa: BLE001 - the text is the model's own code
        text = ""
    return "raised", names, text


def outcome(entry: Any, args: Any, kwargs: Any) -> bytes:
    """What a call came to, as two encoded values: `returned` and the value, or a fault and None."""
    try:
        return encode(("returned",)) + encode(entry(*args, **kwargs))
    except BaseException as error:  # noqa: BLE001 - whatever model-written code raises is data
        return encode(fault(error)) + b"N"


def load(code: str, entry: str, names: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
    """Run the code in `names`: how that went, and the function to call or None.

    `returned`, `uncompiled`, `missing` (there is no such function) or a fault.
    """
    try:
        body = compile(code, MODULE, "exec")
    except BaseException as error:  # noqa: BLE001 - a compiler may raise more than SyntaxError on hostile text
        return ("uncompiled", *fault(error)[1:]), None
    try:
        exec(body, names)
    except BaseException as error:  # noqa: BLE001 - whatever model-written code raises is data
        return fault(error), None
    found = names.get(entry)
    return (("returned",), found) if callable(found) else (("missing",), None)


def solve(job: dict[str, Any], write: Callable[[bytes], Any]) -> None:
    """Import the code, then make each call on fresh arguments; write one outcome for the import and one a call."""
    module = type(sys)(MODULE)
    sys.modules[MODULE] = module
    head, entry = load(job["code"], job["entry"], module.__dict__)
    write(encode(head) + b"N")
    for call in job["calls"] if entry else ():
        args, kwargs = decode(call)[0]
        write(outcome(entry, args, kwargs))


REFUSED = ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "ctypes.dlopen", "ctypes.dlsym")


def hook(library: str) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook that refuses what Landlock lets through: sockets with an address, foreign machine code.

    `library` is the folder of the interpreter's own extension modules.
    """
    inside, real = library + os.sep, os.path.realpath

    def refuse(event: str, details: tuple[Any, ...]) -> None:
        if event in REFUSED:
            raise PermissionError(f"{event} is not allowed here")
        if event == "import" and details[1] and not real(details[1]).startswith(inside):
            raise PermissionError("machine code from elsewhere is not allowed here")

    return refuse


def set_limits(job: dict[str, Any]) -> None:
    """Limit this process and its children: CPU seconds, memory, processes, file size. None can be raised again."""
    import resource

    cpu = max(1, -(-int(job["cpu_ms"]) // 1000))
    limits = {
        resource.RLIMIT_CPU: (cpu, cpu + 1),
        resource.RLIMIT_AS: (job["memory_bytes"], job["memory_bytes"]),
        resource.RLIMIT_FSIZE: (FILE_BYTES, FILE_BYTES + job["mark"]),
        resource.RLIMIT_NOFILE: (128, 128),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_NPROC: (job["tasks"], job["tasks"]),
    }
    for kind, pair in limits.items():
        resource.setrlimit(kind, pair)


def main() -> None:
    """The child's whole life: silence the streams, read the job, limit itself, solve, write the sentinel, leave."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.closerange(3, 256)
    with open("job", "rb") as file:  # noqa: PTH123 - pathlib would cost the child 10 ms
        job = decode(file.read())[0]
    os.unlink("job")  # noqa: PTH108
    record = os.open("result", os.O_WRONLY | os.O_APPEND)
    set_limits(job)
    sys.addaudithook(hook(os.path.realpath(os.__file__).rpartition(os.sep)[0]))
    solve(job, lambda data: os.write(record, data))
    os.write(record, encode(("end", job["sentinel"], sum(os.times()[:4]))))
    os._exit(0)


if __name__ == "__main__":
    main()
