"""The trials with their verdicts as one Parquet table, and the same table on a hub. Needs the extra `hub`.

`datasets.load_dataset("parquet", data_files="report.parquet")` reads the file; each row is one answer to one item.
Holds what was measured, no figure that was computed from it.
"""

import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from itembank.errors import UserError
from reports.agreement import answer_text
from runner.exchange import Trial

if TYPE_CHECKING:
    from datasets import Dataset

    from reports.report import Report

SUFFIX = ".parquet"
COLUMNS = {
    **dict.fromkeys(("configuration", "item", "dimension", "item_digest"), "string"),
    **dict.fromkeys(("repeat", "boot", "seed"), "int64"),
    **dict.fromkeys(("outcome", "reason", "detail", "extracted", "defects", "scorer"), "string"),
    "scorer_version": "int64",
    **dict.fromkeys(("request", "answer", "reasoning", "finish_reason", "failure", "raw", "at"), "string"),
    **dict.fromkeys(("prompt_tokens", "completion_tokens", "retries"), "int64"),
    **dict.fromkeys(("sent_ns", "first_token_ns", "done_ns"), "int64"),
}
"""Column to its type; every column may be null."""


def render(report: "Report") -> bytes:
    """The table as the bytes of a Parquet file."""
    buffer = io.BytesIO()
    dataset(report).to_parquet(buffer)
    return buffer.getvalue()


def push(report: "Report", target: str) -> str:
    """Put the table on the hub as `hub:owner/name`; the name that was pushed. Raises UserError."""
    kind, _, name = target.partition(":")
    if kind != "hub" or name.count("/") != 1 or not all(name.split("/")):
        raise UserError(f"--push {target}: give hub:owner/name")
    made = dataset(report)
    try:
        made.push_to_hub(name)
    except Exception as error:  # noqa: BLE001 the hub's client raises what its transport raises
        raise UserError(f"--push {target}: {type(error).__name__}: {str(error)[:200]}") from None
    return name


def dataset(report: "Report") -> "Dataset":
    """The rows as a dataset. Raises UserError without the extra and without quality runs."""
    try:
        from datasets import Dataset, Features, Value, disable_progress_bars
    except ImportError:
        raise UserError("a Parquet table needs datasets; pip install 'triplicate[hub]'") from None
    disable_progress_bars()
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for row in rows(report):
        for name, values in columns.items():
            values.append(row[name])
    if not columns["item"]:
        raise UserError("these runs hold no answers; a Parquet table needs a quality run (`triplicate run`)")
    features = Features({name: Value(kind) for name, kind in COLUMNS.items()})
    made: Dataset = Dataset.from_dict(columns, features=features)
    return made


def rows(report: "Report") -> Iterator[dict[str, Any]]:
    """A row for each trial of each quality run, in the order of the record."""
    for configuration in report.configurations:
        if configuration.quality is None:
            continue
        verdicts = {(row["item"], row["repeat"]): row for row in configuration.quality.verdicts()}
        for trial in configuration.quality.trials():
            verdict = verdicts.get((trial.item_id, trial.repeat), {})
            row = {"configuration": configuration.name, **_trial(trial), **_verdict(verdict)}
            row["dimension"] = verdict.get("dimension")
            yield {name: _storable(value) for name, value in row.items()}


def _trial(trial: Trial) -> dict[str, Any]:
    exchange = trial.exchange
    response, usage = exchange.response, exchange.usage
    return {
        "item": trial.item_id,
        "item_digest": trial.item_digest,
        "repeat": trial.repeat,
        "boot": trial.boot,
        "seed": trial.seed,
        "at": trial.at,
        "request": json.dumps(exchange.request, ensure_ascii=False),
        "answer": answer_text(response) if response else None,
        "reasoning": response.reasoning if response else None,
        "finish_reason": response.finish_reason if response else None,
        "failure": str(exchange.failure.kind) if exchange.failure else None,
        "raw": exchange.raw,
        "prompt_tokens": usage.prompt_tokens if usage else None,
        "completion_tokens": usage.completion_tokens if usage else None,
        "retries": exchange.retries,
        "sent_ns": exchange.sent_ns,
        "first_token_ns": exchange.token_ns[0] if exchange.token_ns else None,
        "done_ns": exchange.done_ns,
    }


def _verdict(verdict: dict[str, Any]) -> dict[str, Any]:
    names = ("outcome", "reason", "detail", "extracted", "scorer", "scorer_version")
    defects = verdict.get("defects")
    return {name: verdict.get(name) for name in names} | {"defects": json.dumps(defects) if defects else None}


def _storable(value: Any) -> Any:
    """Text that is not Unicode (bytes of a reply that were none) as escapes; everything else as it is."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
