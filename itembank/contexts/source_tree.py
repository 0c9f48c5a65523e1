"""A tree of small Python modules: constants that build on constants of other modules, and functions that use them.

Names repeat in several modules with other values, imports rename, and a constant may be assigned twice, so that a
reader has to follow the very import that a module uses. The facts hold every module's statements. The text is valid
Python that needs nothing outside itself, but nobody runs it here.
"""

from typing import Any

from itembank.contexts._document import Dice, Document, estimated_tokens

PACKAGES = ("berth", "berths", "crane", "cranes", "tide", "tides", "toll", "tolls", "lock", "locks")
AREAS = ("core", "night", "north", "east")
STEMS = (
    "limits",
    "limit",
    "defaults",
    "policy",
    "timing",
    "timings",
    "quota",
    "rules",
    "plan",
    "plans",
    "table",
    "state",
)
NAMES = (
    "MAX_QUEUE",
    "MAX_QUEUES",
    "RETRY_LIMIT",
    "RETRIES_LIMIT",
    "GRACE_S",
    "GRACE_MS",
    "SLOT_COUNT",
    "SLOTS",
    "BASE_FEE",
    "BASE_RATE",
)
NOTES = (
    "# Raised after the autumn review; the old value is in the wiki, not here.",
    "# Shared with the night shift.",
    "# Do not read this from the environment.",
    "# {name} was {n} before the rebuild.",
    "# The module of the same name in the other package has its own {name}.",
)
PURPOSES = (
    "how long a request may wait",
    "what a visiting vessel pays",
    "how many slots are handed out",
    "when a retry is still worth it",
    "what the console shows at night",
)


def document(*, seed: int, tokens: int) -> Document:
    """A tree of about `tokens` tokens; fact `modules`: {path: list of statements in order}, see `_module`."""
    dice = Dice(seed)
    paths = dice.shuffled([f"{p}/{area}/{stem}.py" for p in PACKAGES for area in AREAS for stem in STEMS])
    modules: dict[str, list[dict[str, Any]]] = {}
    texts, size = ["The files of the project `tern`, one after the other.\n"], 12
    while size < tokens - 65 and paths:
        path = paths.pop()
        modules[path] = _module(dice, modules)
        texts.append(_text(dice, path, modules[path]))
        size += estimated_tokens(texts[-1]) + 1
    order = dice.shuffled(texts[1:])
    return Document(text="\n".join([texts[0], *order]) + "\n", facts={"modules": modules})


def _module(dice: Dice, earlier: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Statements: {import, from, as}, {name, value}, {name, base, plus} or {function, name, times}."""
    statements: list[dict[str, Any]] = []
    known: list[str] = []
    paths = list(earlier)
    for path in dict.fromkeys(dice.pick(paths) for _ in range(dice.between(0, 3) if paths else 0)):
        names = [s["name"] for s in earlier[path] if "function" not in s and "import" not in s]
        name = dice.pick(names)
        alias = f"{path.split('/')[0].upper()}_{name}" if name in known or dice.chance(0.5) else name
        if alias not in known:
            statements.append({"import": name, "from": path, "as": alias})
            known.append(alias)
    for _ in range(dice.between(2, 4)):
        name = dice.pick(NAMES)
        if known and dice.chance(0.5):
            statements.append({"name": name, "base": dice.pick(known), "plus": dice.between(1, 60)})
        else:
            statements.append({"name": name, "value": dice.between(2, 900)})
        known += [] if name in known else [name]
    for number in range(dice.between(1, 2)):
        function = ("allowed", "effective")[number]
        statements.append({"function": function, "name": dice.pick(known), "times": dice.between(2, 5)})
    return statements


def _text(dice: Dice, path: str, statements: list[dict[str, Any]]) -> str:
    lines = [f"==> tern/{path} <==", f'"""Part of {path.split("/")[0]}: {dice.pick(PURPOSES)}."""', ""]
    for statement in statements:
        if "import" in statement:
            source = "tern." + statement["from"].removesuffix(".py").replace("/", ".")
            renamed = "" if statement["as"] == statement["import"] else f" as {statement['as']}"
            lines.append(f"from {source} import {statement['import']}{renamed}")
        elif "function" in statement:
            lines += ["", "", f"def {statement['function']}(night: bool = False) -> int:"]
            lines += [f'    """Say {dice.pick(PURPOSES)}."""', "    if night:"]
            lines += [f"        return {statement['name']} * {statement['times']}", f"    return {statement['name']}"]
        else:
            if lines[-1].startswith("from "):
                lines.append("")
            if dice.chance(0.25):
                lines.append(dice.pick(NOTES).format(name=statement["name"], n=dice.between(2, 900)))
            value = statement.get("value")
            lines.append(f"{statement['name']} = {value if value is not None else _sum(statement)}")
    return "\n".join(lines) + "\n"


def _sum(statement: dict[str, Any]) -> str:
    return f"{statement['base']} + {statement['plus']}"
