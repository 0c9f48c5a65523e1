"""A comparison in words: the sentence to quote, what it does not say, plain text in 80 columns. Computes nothing."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

WIDTH = 80
CLAIMS = {
    "PARITY": "as good as the baseline within the margin",
    "IMPROVEMENT": "better than the baseline; the measured gain reaches the margin",
    "REGRESSION": "worse than the baseline; the measured drop reaches the margin",
    "UNDECIDED": "not decided",
    "INVALID": "no comparison: the two runs cannot be held against each other",
}

Document = Mapping[str, Any]


def printable(text: str) -> str:
    """The text with U+FFFD for every character that moves a terminal's cursor or hides itself.

    >>> printable("a" + chr(27) + "[31mb")
    'a�[31mb'
    """
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def figure(value: float | None, digits: int = 1, signed: bool = False) -> str:
    """A number for people; `n/a` where there is none, and never a minus before zero.

    >>> figure(None), figure(-0.04), figure(2.0, signed=True)
    ('n/a', '0.0', '+2.0')
    """
    if value is None:
        return "n/a"
    rounded = round(value, digits) + 0.0
    return f"{rounded:+.{digits}f}" if signed and rounded else f"{rounded:.{digits}f}"


def bounds(pair: Sequence[float] | None) -> str:
    """An interval for people."""
    return "no interval" if pair is None else f"{figure(pair[0], signed=True)} to {figure(pair[1], signed=True)}"


def confidence(document: Document) -> str:
    """The two-sided confidence of the interval, from its one-sided level.

    >>> confidence({"look": {"alpha": 0.05}}), confidence({"look": {"alpha": 0.022}})
    ('90 %', '95.6 %')
    """
    return f"{100.0 * (1.0 - 2.0 * document['look']['alpha']):.3g} %"


def sentence(document: Document) -> str:
    """The one sentence that a person can quote."""
    if document["verdict"] == "INVALID":
        return f"INVALID: {document['reasons'][0] if document['reasons'] else 'nothing to compare'}."
    scores, repeats = document["scores"], document["repeats"]
    base, cand = printable(document["baseline"]), printable(document["candidate"])
    measured = (
        f"{cand} scored {figure(scores['candidate']['mean'])} and {base} {figure(scores['baseline']['mean'])} "
        f"on {document['items']} items asked {repeats['candidate']} and {repeats['baseline']} times"
    )
    if document["interval"] is None:
        scored = None not in (scores["candidate"]["mean"], scores["baseline"]["mean"])
        follows = "repeat before you decide" if scored else "there is nothing to compare"
        return f"{document['verdict']}: {measured}; {follows}."
    return (
        f"{document['verdict']}: {measured}, a difference of {figure(document['difference'], signed=True)} points "
        f"({confidence(document)} interval {bounds(document['interval'])}, margin {document['margin']:g})."
    )


def not_said(document: Document) -> list[str]:
    """What the sentence does not say, a line each."""
    lines = ["It speaks of these items on these servers; other items of their kind have a wider interval."]
    if document["verdict"] == "PARITY":
        lines.append(f"Parity means: not worse by {document['margin']:g} points. It does not mean equal answers.")
    if document["verdict"] == "UNDECIDED":
        lines.append("Undecided means neither good nor bad: it is no sign of parity.")
    lines.append("No single dimension is judged: with ten items, five one-way flips are needed to exclude chance.")
    return lines


def lines(document: Document) -> list[str]:
    """The comparison as plain text of at most 80 columns."""
    out = [f"{document['verdict']}  {CLAIMS[document['verdict']]}", ""]
    out += wrapped(document["sentence"])
    for reason in document["reasons"]:
        out += wrapped(printable(reason), "  - ")
    out += ["", *_score_lines(document), "", *_dimension_lines(document), "", *_change_lines(document)]
    out += ["", *_throughput_lines(document)]
    out += _identity_lines(document)
    for warning in document["warnings"]:
        out += wrapped(printable(warning), "! ")
    out += ["", "What this does not say:"]
    for line in document["not_said"]:
        out += wrapped(line, "  - ")
    return [line.rstrip() for line in out]


def wrapped(text: str, mark: str = "") -> list[str]:
    """Lines of at most 80 columns, the first one behind a mark."""
    return textwrap.wrap(text, WIDTH, initial_indent=mark, subsequent_indent=" " * len(mark)) or [mark]


def _score_lines(document: Document) -> list[str]:
    out = [f"{'':<10}{'mean':>7}{'micro':>7}{'min':>7}{'max':>7}{'range':>7}{'sd':>6}{'coverage':>10}{'band':>15}"]
    for side in ("baseline", "candidate"):
        row = document["scores"][side]
        cells = "".join(f"{figure(row[key]):>7}" for key in ("mean", "micro", "min", "max", "range"))
        band = " to ".join(figure(value) for value in row["band"])
        coverage = "n/a" if row["coverage"] is None else f"{100.0 * row['coverage']:.1f} %"
        out.append(f"{side:<10}{cells}{figure(row['sd'], 2):>6}{coverage:>10}{band:>15}")
        if row["unscored_dimensions"]:
            out += wrapped(f"without {', '.join(row['unscored_dimensions'])}: nothing scorable there", "  ! ")
    out.append(f"difference {figure(document['difference'], signed=True)} points")
    if document["interval"] is not None:
        out[-1] += f", {confidence(document)} interval {bounds(document['interval'])} for these items;"
        out.append(f"           {bounds(document['population_interval'])} for items of this kind (never decides)")
    if document["worst_case"]:
        worst = document["worst_case"]
        out.append(
            f"worst case of the unscorable: {figure(worst['difference'], signed=True)}, {bounds(worst['interval'])}"
        )
    return out


def _dimension_lines(document: Document) -> list[str]:
    out = [f"{'dimension (watch)':<24}{'base':>7}{'cand':>7}{'gained':>8}{'lost':>6}{'unstable':>10}{'self-flips':>13}"]
    for row in document["dimensions"]:
        flips = f"{row['self_flips']['baseline']} / {row['self_flips']['candidate']}"
        out.append(
            f"{printable(row['dimension'])[:23]:<24}{figure(row['baseline']):>7}{figure(row['candidate']):>7}"
            f"{row['gained']:>8}{row['lost']:>6}{row['unstable']:>10}{flips:>13}"
        )
    return out


def _change_lines(document: Document) -> list[str]:
    excess, agreement = document["excess_flips"], document["agreement"]
    out = []
    if excess["value"] is not None:
        out += wrapped(
            f"excess flips {100.0 * excess['value']:.2f} % (p = {excess['p']:.3g}): outcomes that changed beyond the "
            "noise of either side"
        )
    if agreement["between"] is not None:
        own = ", ".join(
            f"{side} against itself {100.0 * agreement[side]:.0f} %"
            for side in ("baseline", "candidate")
            if agreement[side] is not None
        )
        out += wrapped(
            f"texts that differ: between the two {100.0 * agreement['between']:.0f} %{', ' + own if own else ''}"
        )
    for row in document["defects"]:
        counts = " and ".join(f"{row[side]['count']} of {row[side]['responses']}" for side in ("baseline", "candidate"))
        shown = f", for example {printable(row['examples'][0])[:40]!r}" if row["examples"] else ""
        out += wrapped(f"{row['kind']}: {counts} responses (p = {row['p']:.2g}){shown}", "  ")
    return out


def _throughput_lines(document: Document) -> list[str]:
    out = []
    for side in ("baseline", "candidate"):
        out += wrapped(f"{side}: {throughput_phrase(document['throughput'][side])}")
    return out


def throughput_phrase(row: Document) -> str:
    """A throughput with all its labels."""
    if row["tok_s"] is None:
        return f"no throughput: token counts are {row['token_source']}, concurrency {row['concurrency']}"
    return (
        f"{figure(row['tok_s'])} tok/s at concurrency {row['concurrency']}, {figure(row['mean_tokens'], 0)} tokens a "
        f"reply, {row['prompts']}, tokens from {row['token_source']}"
    )


def _identity_lines(document: Document) -> list[str]:
    out = []
    for row in document["identity"]["differs"]:
        out += wrapped(printable(f"differs: {row['name']}: {row['baseline']} -> {row['candidate']}"), "  ")
    if document["simulated"]:
        out.append(f"  simulated, no real engine: {', '.join(document['simulated'])}")
    return out
