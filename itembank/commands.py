"""The commands of this layer: what a bank holds, one item of it, and the whole bank as a file."""

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from itembank.errors import UserError, nearest

Command = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]
BANK_HELP = "builtin, a .yaml, .jsonl, .csv or .parquet file, or hub:owner/name[:split] (default builtin)"


def add_list(parser: argparse.ArgumentParser) -> None:
    """The arguments of `bank list`."""
    parser.add_argument("bank", nargs="?", default="builtin", metavar="BANK", help=BANK_HELP)
    parser.add_argument("--json", action="store_true", help="print one JSON document (default: a table)")


def list_bank(args: argparse.Namespace) -> int:
    """Show the dimensions of a bank: how many items, how hard, in which languages."""
    from itembank.bank import load_bank

    bank = load_bank(args.bank)
    rows = [_summary(name, [item for item in bank.items if item.dimension == name]) for name in _dimensions(bank.items)]
    if args.json:
        print(json.dumps({"bank": bank.name, "digest": bank.digest, "items": len(bank.items), "dimensions": rows}))
        return 0
    width = max(len("dimension"), *(len(row["dimension"]) for row in rows))
    print(f"{'dimension':{width}}  items  1 2 3 4 5 (difficulty)  languages")
    for row in rows:
        spread = " ".join(f"{row['difficulty'].get(str(level), 0) or '.':>1}" for level in range(1, 6))
        languages = ", ".join(f"{name} {count}" for name, count in row["languages"].items())
        print(_plain(f"{row['dimension']:{width}}  {row['items']:>5}  {spread:22}  {languages}"))
    print(_plain(f"{len(bank.items)} items, digest {bank.digest}; `triplicate bank show ID` prints one of {bank.name}"))
    return 0


def add_show(parser: argparse.ArgumentParser) -> None:
    """The arguments of `bank show`."""
    parser.add_argument("id", metavar="ID", help="the item's id, such as extraction-04")
    parser.add_argument("--bank", default="builtin", metavar="BANK", help=BANK_HELP)
    parser.add_argument("--json", action="store_true", help="print one JSON document (default: text)")


def show_item(args: argparse.Namespace) -> int:
    """Show one item: the prompt as it is sent, what is right, and the examples."""
    from itembank.bank import load_bank

    bank = load_bank(args.bank)
    if args.id not in bank.by_id:
        raise UserError(f"no item {args.id!r} in {bank.name}; {nearest(args.id, list(bank.by_id))}")
    item = bank.by_id[args.id]
    if args.json:
        print(json.dumps({**_row(item), "digest": item.digest}, ensure_ascii=False))
        return 0
    parts = [
        f"{item.id}  {item.dimension}, difficulty {item.difficulty}, at most {item.max_tokens} tokens"
        f"{', ' + ' '.join(item.tags) if item.tags else ''}, digest {item.digest}"
    ]
    for message in item.messages:
        parts.append(_titled(message.get("role", "user"), _text(message.get("content") or message)))
    if item.tools:
        parts.append(_titled("tools", _text(item.tools)))
    parts.append(_titled(f"right, judged by {item.scorer}", _text(item.expect)))
    for kind, examples in (("must pass", item.accept), ("must not pass", item.reject)):
        parts += [_titled(f"{kind} {n}", _text(example)) for n, example in enumerate(examples, 1)]
    if item.rationale:
        parts.append(_titled("why", item.rationale))
    print(_plain("\n\n".join(parts)))
    return 0


def add_export(parser: argparse.ArgumentParser) -> None:
    """The arguments of `bank export`."""
    parser.add_argument("bank", nargs="?", default="builtin", metavar="BANK", help=BANK_HELP)
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write: .jsonl or .parquet")


def export_bank(args: argparse.Namespace) -> int:
    """Write a bank to a .jsonl or .parquet file, long documents filled in; reading it back gives the same digest."""
    from itembank.bank import load_bank

    path = Path(args.output)
    if path.suffix not in (".jsonl", ".parquet"):
        raise UserError(f"{path}: the name must end in .jsonl or .parquet")
    if not path.parent.is_dir():
        raise UserError(f"{path}: there is no folder {path.parent}; make it first")
    bank = load_bank(args.bank)
    rows = [_row(item) for item in bank.items]
    try:
        if path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        else:
            _write_parquet(rows, path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror or error}") from None
    print(f"{len(rows)} items, digest {bank.digest}, in {path}")
    return 0


def _write_parquet(rows: list[dict[str, Any]], path: Path) -> None:
    """Structured fields become JSON text, since a column has one shape and `expect` has many."""
    try:
        import datasets
    except ImportError:
        raise UserError(".parquet needs `datasets`: pip install 'triplicate[hub]', or write .jsonl") from None
    numbers = ("max_tokens", "difficulty")
    columns: dict[str, list[Any]] = {key: [] for key in rows[0]}
    for row in rows:
        for key, value in row.items():
            plain = isinstance(value, str | int)
            columns[key].append(value if plain else json.dumps(value, ensure_ascii=False))
    kinds = {key: datasets.Value("int32" if key in numbers else "string") for key in columns}
    table = datasets.Dataset.from_dict(columns, features=datasets.Features(kinds))
    table.to_parquet(str(path))


def _row(item: Any) -> dict[str, Any]:
    """The item as an authored row, its context already filled in."""
    import dataclasses

    return {
        field.name: list(value) if isinstance(value := getattr(item, field.name), tuple) else value
        for field in dataclasses.fields(item)
    }


def _dimensions(items: tuple[Any, ...]) -> list[str]:
    return list(dict.fromkeys(item.dimension for item in items))


def _summary(dimension: str, items: list[Any]) -> dict[str, Any]:
    languages = [tag.removeprefix("lang:") for item in items for tag in item.tags if tag.startswith("lang:")]
    return {
        "dimension": dimension,
        "items": len(items),
        "difficulty": _counts(str(item.difficulty) for item in items),
        "languages": _counts(languages),
    }


def _counts(values: Any) -> Mapping[str, int]:
    from collections import Counter

    return dict(sorted(Counter(values).items()))


def _titled(title: str, text: str) -> str:
    return f"--- {title}\n{text}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _plain(text: str) -> str:
    """The text without the control characters that would steer a terminal."""
    return "".join(c if c in "\n\t" or (c.isprintable() or c.isspace()) else "\ufffd" for c in text)


COMMANDS: dict[str, Command] = {
    "bank list": (add_list, list_bank),
    "bank show": (add_show, show_item),
    "bank export": (add_export, export_bank),
}
