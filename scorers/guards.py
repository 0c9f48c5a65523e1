"""Decides what must be decided before any scorer looks: truncation, broken reasoning, emptiness. Scores nothing."""

from dataclasses import replace

from itembank.item import Item
from scorers.defects import inspect
from scorers.reasoning import Parted, part
from scorers.response import Response
from scorers.verdict import Defect, Verdict, failed, unscorable

EXEMPT = "about_control_tokens"
"""Items with this tag ask about control tokens: nothing is removed and nothing is a defect."""


def guard(item: Item, response: Response) -> tuple[Response, Verdict | None, tuple[Defect, ...]]:
    """What the scorer may see, the verdict if a guard decides, and the defects of the judged text."""
    parted = part(response.text)
    exempt = EXEMPT in item.tags
    visible, defects = (parted.visible, ()) if exempt else inspect(parted.visible, item.tools)
    seen = replace(response, text=visible)
    return seen, _stopped(item, response) or _empty(parted, seen), defects


def _stopped(item: Item, response: Response) -> Verdict | None:
    """The verdict where the generation was cut off."""
    cap = item.max_tokens if response.token_cap is None else response.token_cap
    tokens = response.completion_tokens
    if response.finish_reason == "length":
        return unscorable("truncated", "the server stopped at the token cap (finish_reason length)")
    if tokens is not None and tokens >= cap:
        return unscorable("truncated", f"{tokens} completion tokens reach the cap of {cap}")
    if response.finish_reason == "content_filter":
        return unscorable("filtered", "the server filtered the answer")
    if response.finish_reason in ("abort", "error"):
        return unscorable("aborted", f"the server ended the answer with {response.finish_reason}")
    return None


def _empty(parted: Parted, seen: Response) -> Verdict | None:
    """The verdict where reasoning is all there is, or nothing at all."""
    if parted.unclosed:
        return unscorable("unclosed_reasoning", "a reasoning marker opens and never closes")
    if seen.text.strip() or seen.tool_calls:
        return None
    if parted.marked or (seen.reasoning or "").strip():
        return unscorable("reasoning_only", "reasoning without an answer")
    return failed("empty", "no text and no tool call")
