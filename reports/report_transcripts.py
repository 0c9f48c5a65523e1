"""The transcripts of a report's runs in a compact form for a page: what was asked, answered, judged. Judges nothing.

Equal texts are kept once. A text that is longer than the page can hold is cut in its middle, and says so.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from itembank.bank import Bank, load_bank
from itembank.errors import UserError
from reports.agreement import answer_text
from runner.exchange import Exchange, Trial
from runner.store import RunFolder

TEXT_CHARACTERS = 200_000
RAW_CHARACTERS = 16_000
RAW_TOTAL = 48_000_000
"""Characters of raw replies that a page may hold before compression."""
TEXT_BYTES = 100_000_000
"""Memory for all texts of a page before compression; one that needs more would not fit the page either."""


@dataclass(slots=True)
class Texts:
    """Texts by number, each kept once."""

    limit: int
    all: list[str] = field(default_factory=list)
    size: int = 0
    """Bytes of memory of all of them."""
    _numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str | None, limit: int | None = None) -> int | None:
        """The number of a text, cut; None for None and for an empty one."""
        if not text:
            return None
        short = cut_middle(text, min(limit or self.limit, self.limit))
        if short not in self._numbers:
            self._numbers[short] = len(self.all)
            self.all.append(short)
            self.size += sys.getsizeof(short)
        return self._numbers[short]


def transcripts(
    names: Sequence[str], runs: Sequence[RunFolder], limit: int = TEXT_CHARACTERS, most: int | None = None
) -> dict[str, Any] | None:
    """`texts`; by item what was asked and what is right; by configuration and item the trials.

    `limit` is the most characters of one text; raw replies are shorter the more of them there are. None where the texts
    would take more than `most` bytes of memory.
    """
    texts = Texts(limit)
    read = [(run, {(row["item"], row["repeat"]): row for row in run.verdicts()}) for run in runs]
    raw_limit = min(RAW_CHARACTERS, limit, max(400, RAW_TOTAL // max(1, sum(len(rows) for _, rows in read))))
    items: dict[str, dict[str, Any]] = {}
    sides = []
    for name, (run, verdicts) in zip(names, read, strict=True):
        bank = bank_of(run)
        trials: dict[str, list[dict[str, Any]]] = {}
        for trial in run.trials():
            if trial.item_id not in items:
                items[trial.item_id] = _item_row(trial, bank, texts)
            verdict = verdicts.get((trial.item_id, trial.repeat), {})
            items[trial.item_id]["dimension"] = verdict.get("dimension") or items[trial.item_id]["dimension"]
            rows = trials.setdefault(trial.item_id, [])
            rows[:] = [row for row in rows if row["repeat"] != trial.repeat]
            rows.append(_trial_row(trial, verdict, texts, raw_limit))
            if most is not None and texts.size > most:
                return None
        for rows in trials.values():
            rows.sort(key=lambda row: int(row["repeat"]))
        sides.append({"name": name, "trials": trials})
    return {"texts": texts.all, "items": items, "sides": sides}


def bank_of(run: RunFolder) -> Bank | None:
    """The bank that a run asked, if it is at hand on this machine; None otherwise. Asks no network."""
    name = str(run.record.bank.get("name", ""))
    if not name or name.startswith("hub:"):
        return None
    try:
        return load_bank(name)
    except UserError:
        return None


def cut_middle(text: str, limit: int) -> str:
    r"""At most `limit` characters and a mark of what is left out.

    >>> cut_middle("0123456789", 4)
    '01\n[... 6 characters left out ...]\n89'
    """
    if len(text) <= limit:
        return text
    head = (limit + 1) // 2
    tail = limit - head
    mark = f"\n[... {len(text) - limit} characters left out ...]\n"
    return text[:head] + mark + (text[-tail:] if tail else "")


def _item_row(trial: Trial, bank: Bank | None, texts: Texts) -> dict[str, Any]:
    import json

    item = bank.by_id.get(trial.item_id) if bank else None
    same = item is not None and item.digest == trial.item_digest
    gold = json.dumps(dict(item.expect), ensure_ascii=False, indent=1) if same and item else None
    return {
        "dimension": item.dimension if item else trial.item_id.rpartition("-")[0],
        "prompt": texts.number(asked(trial.exchange.request)),
        "gold": texts.number(gold),
        "why": texts.number(item.rationale if same and item else None),
    }


def asked(request: Mapping[str, Any]) -> str:
    """The messages of a request as text, each under its role, and the names of the tools that were offered."""
    import json

    parts = []
    for message in request.get("messages") or ():
        content = message.get("content")
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=1)
        parts.append(f"[{message.get('role')}]\n{text}")
    names = [str(tool.get("function", {}).get("name")) for tool in request.get("tools") or ()]
    return "\n\n".join(parts + ([f"[tools offered]\n{', '.join(names)}"] if names else []))


def _trial_row(trial: Trial, verdict: Mapping[str, Any], texts: Texts, raw_limit: int) -> dict[str, Any]:
    exchange = trial.exchange
    response = exchange.response
    row = {
        "repeat": trial.repeat,
        "outcome": verdict.get("outcome") or "error",
        "reason": verdict.get("reason") or (exchange.failure.kind if exchange.failure else ""),
        "detail": verdict.get("detail") or (exchange.failure.detail if exchange.failure else ""),
        "extracted": texts.number(verdict.get("extracted")),
        "defects": [[defect["kind"], defect["text"]] for defect in verdict.get("defects") or ()],
        "answer": texts.number(answer_text(response)) if response else None,
        "reasoning": texts.number(response.reasoning) if response else None,
        "finish": response.finish_reason if response else None,
        "tokens": exchange.usage.completion_tokens if exchange.usage else None,
        "seconds": _seconds(exchange),
        "raw": texts.number(exchange.raw, raw_limit),
    }
    return {key: value for key, value in row.items() if value not in (None, "", [])}


def _seconds(exchange: Exchange) -> float | None:
    return None if exchange.sent_ns is None else round((exchange.done_ns - exchange.sent_ns) / 1e9, 3)
