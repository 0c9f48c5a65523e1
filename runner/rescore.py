"""`triplicate rescore`: judges the stored answers of a run again. Asks no server and changes no trial."""

import argparse
import sys

from itembank.errors import UserError
from runner.find import find_run
from runner.run import recorded_bank
from runner.store import RunFolder
from scorers.check import validate
from scorers.judge import judge_many, verdict_row


def rescore_run(args: argparse.Namespace) -> int:
    """Write verdicts.jsonl anew and say how many verdicts changed."""
    from tqdm import tqdm

    path = find_run(args.run, args.out)
    with RunFolder.resume(path) as folder:
        if folder.record.kind != "quality":
            raise UserError(f"{path} is a {folder.record.kind} run; only quality runs hold answers")
        bank = recorded_bank(folder.record, args.bank)
        validate(bank)
        before = {(row["item"], row["repeat"]): row for row in folder.verdicts()}
        answers = [(t.item_id, t.repeat, t.exchange.response) for t in folder.trials() if t.exchange.response]
        verdicts = judge_many([(bank.by_id[item_id], response) for item_id, _, response in answers])
        bar = tqdm(verdicts, total=len(answers), unit="verdict", disable=not sys.stderr.isatty())
        rows = [
            verdict_row(bank.by_id[i], repeat, verdict) for (i, repeat, _), verdict in zip(answers, bar, strict=True)
        ]
        folder.replace_verdicts(rows)
    changed = [row for row in rows if before.get((row["item"], row["repeat"]), {}).get("outcome") != row["outcome"]]
    for row in changed:
        old = before.get((row["item"], row["repeat"]), {}).get("outcome", "none")
        sys.stdout.write(f"{row['item']} repeat {row['repeat']}: {old} -> {row['outcome']} {row['reason']}\n")
    sys.stdout.write(f"{len(rows)} verdicts, {len(changed)} changed\n{path}\nnext: triplicate report {path}\n")
    return 0
