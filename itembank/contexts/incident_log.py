"""An operations log: alarms that are opened, raised, moved between teams, merged, closed, opened again; and a roster.

Lines of other systems fill the log. Alarm numbers, services and teams come in look-alike neighbours. The facts hold the
events and the roster lines in the order of the text, and replaying them is the reader's work. It answers nothing.
"""

from itertools import islice
from typing import Any

from itembank.contexts._document import Dice, Document, estimated_tokens

TEAMS = ("Heron", "Herring", "Osprey", "Curlew", "Plover", "Petrel")
SERVICES = (
    "lock-gate-1",
    "lock-gate-11",
    "tide-feed-a",
    "tide-feed-e",
    "berth-planner",
    "berth-planner-eu",
    "toll-meter",
    "toll-meter-2",
    "radio-relay-n",
    "radio-relay-m",
    "crane-control",
    "crane-console",
)
CAUSES = ("late readings", "no heartbeat", "disk almost full", "clock drift", "refused connections", "stuck queue")
NOISE = (
    "monitor    {service} answers in {m} ms, limit {n} ms",
    "backup     nightly copy of {service} finished, {n} files",
    "deploy     {service} release {n}.{m} is live",
    "gauge      water level {n} cm at mark {m}",
    "badge      door {m} opened for team {team}",
    "monitor    {service} queue length {n}, no alarm",
    "note       team {team} asks about ALM-{alarm}; the log already says it",
)
HEAD = """OPERATIONS LOG OF THE TERN QUAY LOCKS

Reading this log: an alarm belongs to the team of its latest "assigned" line, whoever closes it. Severity 1 is the
worst; the latest severity holds. "merged into" closes the first alarm for good and changes nothing about the second. A
closed alarm can be opened again by a "reopened" line. A roster line names the extension under which a team is reached
from that moment on.
"""


def document(*, seed: int, tokens: int) -> Document:
    """A log of about `tokens` tokens; facts: `events` and `roster`, each in the order of the text."""
    dice = Dice(seed)
    lines, size, minute = [HEAD], estimated_tokens(HEAD), 0
    state: dict[int, dict[str, Any]] = {}
    facts: dict[str, list[dict[str, Any]]] = {"events": [], "roster": []}
    for team in TEAMS:
        lines.append(_roster(dice, 0, team, facts))
        size += estimated_tokens(lines[-1]) + 1
    while size < tokens:
        minute += dice.between(1, 9)
        throw = dice.between(1, 100)
        if throw <= 3:
            body = _roster(dice, minute, dice.pick(TEAMS), facts)
        elif throw <= 17 or not state:
            body = _opened(dice, minute, state, facts)
        elif throw <= 50:
            body = _moved(dice, minute, state, facts)
        else:
            body = _line(minute, _noise(dice, state))
        lines.append(body)
        size += estimated_tokens(body) + 1
    return Document(text="\n".join(lines) + "\n", facts=facts)


def _line(minute: int, text: str) -> str:
    return f"day {minute // 1440 + 1:02d} {minute // 60 % 24:02d}:{minute % 60:02d}  {text}"


def _roster(dice: Dice, minute: int, team: str, facts: dict[str, list[dict[str, Any]]]) -> str:
    entry = {"minute": minute, "team": team, "extension": f"{dice.between(2, 8)}{dice.between(100, 999)}"}
    facts["roster"].append(entry)
    return _line(minute, f"roster     team {team} is reached under extension {entry['extension']}")


def _opened(dice: Dice, minute: int, state: dict[int, dict[str, Any]], facts: dict[str, list[dict[str, Any]]]) -> str:
    number = 1000 + 13 * len(state) + dice.between(0, 12)
    event = {
        "minute": minute,
        "alarm": number,
        "kind": "opened",
        "service": dice.pick(SERVICES),
        "cause": dice.pick(CAUSES),
        "severity": dice.between(2, 4),
        "team": dice.pick(TEAMS),
    }
    state[number] = {"open": True, "merged": False, **event}
    facts["events"].append(event)
    return _line(
        minute,
        f"ALM-{number}   opened: {event['service']}, {event['cause']}, severity {event['severity']},"
        f" assigned to team {event['team']}",
    )


def _moved(dice: Dice, minute: int, state: dict[int, dict[str, Any]], facts: dict[str, list[dict[str, Any]]]) -> str:
    recent = list(islice(reversed(state), 25))[::-1]
    number = dice.pick(recent)
    alarm = state[number]
    if alarm["merged"]:
        return _line(minute, _noise(dice, state))
    event: dict[str, Any] = {"minute": minute, "alarm": number}
    if not alarm["open"]:
        event["kind"], text = "reopened", "reopened, the cause is back"
    else:
        kind = dice.pick(("closed", "closed", "severity", "assigned", "merged"))
        if kind == "severity":
            event |= {"kind": kind, "severity": dice.pick([s for s in (1, 2, 3, 4) if s != alarm["severity"]])}
            text = f"severity is now {event['severity']}"
        elif kind == "assigned":
            event |= {"kind": kind, "team": dice.pick([team for team in TEAMS if team != alarm["team"]])}
            text = f"assigned to team {event['team']}"
        elif kind == "merged" and (others := [n for n in recent if n != number and not state[n]["merged"]]):
            event |= {"kind": kind, "into": dice.pick(others)}
            text = f"merged into ALM-{event['into']}"
        else:
            event["kind"], text = "closed", f"closed by team {dice.pick(TEAMS)}"
    _applied(alarm, event)
    facts["events"].append(event)
    return _line(minute, f"ALM-{number}   {text}")


def _applied(alarm: dict[str, Any], event: dict[str, Any]) -> None:
    alarm |= {key: event[key] for key in ("severity", "team") if key in event}
    alarm["open"] = event["kind"] not in ("closed", "merged")
    alarm["merged"] = event["kind"] == "merged"


def _noise(dice: Dice, state: dict[int, dict[str, Any]]) -> str:
    return dice.pick(NOISE).format(
        service=dice.pick(SERVICES),
        n=dice.between(20, 990),
        m=dice.between(1, 40),
        team=dice.pick(TEAMS),
        alarm=dice.pick(list(state)) if state else 1000,
    )
