"""The speculative-decoding check and the load effect in words, at most 80 columns. Computes nothing."""

from collections.abc import Mapping
from typing import Any

from reports.sweep_wording import ratio_lines
from reports.wording import bounds, confidence, figure, printable, throughput_phrase, wrapped


def speccheck_lines(document: Mapping[str, Any]) -> list[str]:
    """The check in words; the last line is the finding."""
    out = _simulated(document["conditions"][0])
    out += [f"speculation off -> on, margin {document['margin']:g} points", ""]
    out.append(f"{'condition':<26}{'off':>6}{'on':>7}{'difference':>20}  {'verdict':<11}{'excess':>8}")
    for row in document["conditions"]:
        name = f"C = {row['concurrency']}, {'streaming' if row['stream'] else 'not streaming'}"
        scores = [figure(row["scores"][side]["mean"]) for side in ("baseline", "candidate")]
        excess = row["excess_flips"]["value"]
        out.append(
            f"{name:<26}{scores[0]:>6}{scores[1]:>7}{bounds(row['interval']):>20}  {row['verdict']:<11}"
            f"{'n/a' if excess is None else f'{100 * excess:.1f} %':>8}"
        )
    out.append("")
    for row in document["conditions"]:
        out += _condition_lines(row)
    out += _defect_lines(document)
    out += _speed_lines(document)
    return [*(line.rstrip() for line in out), "", *_last(document["finding"])]


def _simulated(document: Mapping[str, Any]) -> list[str]:
    return ["SIMULATED: this is no measurement of an engine"] if document["simulated"] else []


def _last(finding: str) -> list[str]:
    """The finding, which stays one line: it is what people grep for."""
    return [printable(finding)]


def _condition_lines(row: Mapping[str, Any]) -> list[str]:
    agreement, ratio = row["agreement"], row["completion_length_ratio"]
    mode = "streaming" if row["stream"] else "not streaming"
    parts = [f"C = {row['concurrency']}, {mode}:"]
    if agreement["between"] is not None:
        own = [
            f"{100 * agreement[side]:.0f} %" if agreement[side] is not None else "n/a"
            for side in ("baseline", "candidate")
        ]
        parts.append(
            f"texts differ {100 * agreement['between']:.0f} % off to on, {own[0]} off to off, {own[1]} on to on;"
        )
    if ratio is not None:
        parts.append(f"length ratio {ratio:.2f};")
    parts.append(f"off {throughput_phrase(row['throughput']['baseline'])};")
    parts.append(f"on {throughput_phrase(row['throughput']['candidate'])}")
    out = wrapped(" ".join(parts))
    for example in agreement["first_differences"][:1]:
        out += wrapped(
            f"first difference of {example['item']} at character {example['position']}: "
            f"{printable(example['baseline'])!r} and {printable(example['candidate'])!r}",
            "  ",
        )
    return out


def _defect_lines(document: Mapping[str, Any]) -> list[str]:
    out = [""]
    for level in document["by_concurrency"]:
        for row in level["defects"]:
            counts = " -> ".join(
                f"{row[side]['count']} of {row[side]['responses']}" for side in ("baseline", "candidate")
            )
            mark = "  RISEN" if row["risen"] else ""
            shown = f" {printable(row['examples'][0])[:30]!r}" if row["examples"] else ""
            out += wrapped(
                f"C = {level['concurrency']}: {row['kind']} {counts} (p = {row['p']:.2g}){mark}{shown}", "  "
            )
    return out if len(out) > 1 else ["", "  no defect of any kind on either side"]


def _speed_lines(document: Mapping[str, Any]) -> list[str]:
    out = []
    if document["acceptance"]:
        accepted = document["acceptance"]
        rate = "n/a" if accepted["rate"] is None else f"{100 * accepted['rate']:.0f} %"
        out.append(f"drafted {accepted['drafted']:.0f} tokens, accepted {accepted['accepted']:.0f} ({rate})")
    else:
        out.append("drafted and accepted tokens: the server shows no counters")
    speedup = document["speedup"]
    if speedup and speedup["off"] is not None and speedup["on"] is not None:
        low, high = speedup["concurrency"]
        out += wrapped(
            f"from concurrency {low} to {high} the quality pass became {speedup['off']:.2f} times as fast without and "
            f"{speedup['on']:.2f} times with speculation"
        )
    if document["batching"]:
        out += ["", *ratio_lines(document["ratio"]), *_batching_lines(document["batching"])]
    return out


def _batching_lines(batching: Mapping[str, Any]) -> list[str]:
    limits = {True: "speculation cost the batching", False: "speculation cost no batching", None: "batching not shown"}
    sides = [
        f"{name} {batching[name]['signature']}"
        + ("" if batching[name]["k"] is None else f" at {batching[name]['k']} requests at once")
        for name in ("off", "on")
    ]
    return wrapped(f"{limits[batching['cost']]}: {', '.join(sides)}")


def load_lines(document: Mapping[str, Any]) -> list[str]:
    """The load effect in words."""
    low, high = document["concurrency"]
    out = _simulated(document)
    out += [f"{printable(document['serving'])}: concurrency {low} -> {high}, the same items on the same server", ""]
    out += wrapped(
        f"{document['verdict']}: under load the score changed by {figure(document['difference'], signed=True)} points "
        f"({confidence(document)} interval {bounds(document['interval'])}, margin {document['margin']:g})"
    )
    for reason in document["reasons"]:
        out += wrapped(printable(reason), "  - ")
    out += ["", f"{'dimension':<24}{f'C = {low}':>9}{f'C = {high}':>9}{'gained':>8}{'lost':>6}{'unstable':>10}"]
    for row in document["dimensions"]:
        out.append(
            f"{printable(row['dimension'])[:23]:<24}{figure(row['baseline']):>9}{figure(row['candidate']):>9}"
            f"{row['gained']:>8}{row['lost']:>6}{row['unstable']:>10}"
        )
    excess = document["excess_flips"]
    if excess["value"] is not None:
        out += ["", f"flips due to load: excess {100 * excess['value']:.2f} % (p = {excess['p']:.3g})"]
    for side in ("baseline", "candidate"):
        out += wrapped(throughput_phrase(document["throughput"][side]))
    for note in document["identity"]["unknown"]:
        out += wrapped(printable(note), "! ")
    return [line.rstrip() for line in out]
