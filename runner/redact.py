"""Takes secrets out of text and of JSON-like values before anything is written or printed.

It knows names that hold secrets (`api_key`, `HF_TOKEN`, `Authorization`), the shapes of well-known keys, the secret
parts of URLs, and the values it is told. It does not guess that an arbitrary string is a secret.
"""

import functools
import os
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

HIDDEN = "***"
DEEPEST = 60
LONGEST_KEPT = 80
"""Characters of a name whose verdict is remembered: the same few come with every request."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ALWAYS = re.compile(
    r"secret|passw(?:or)?d|passphrase|credential|authorization|bearer|cookie|signature|"
    r"(?:api|access|private|auth|ssh|encryption|license|account)[_.-]?key|(?:auth|access|refresh|session|hf)[_.-]?token",
    re.I,
)
_UPPER = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH")
_TOKENS_OF_TEXT = {
    *("bos", "eos", "pad", "unk", "sep", "cls", "mask", "image", "audio", "video", "stop", "next", "special"),
    *("eot", "eom", "start", "end", "first", "last", "per", "prompt", "draft", "prefix", "suffix", "fim"),
}
_NOT_SECRET_KEYS = {"cache", "model", "sort", "page", "group", "primary", "partition", "label", "attention"}
_QUERY = {"key", "token", "sig", "sign", "auth", "pass", "pwd", "code", "jwt", "apikey"}
_HARMLESS = re.compile(r"(?:null|none|true|false|\*{3})?", re.I)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

_TOO_SHORT = re.compile(r"[\w./]{0,15}", re.ASCII)
"""What no pattern below can match: they need more characters or other ones."""
_URL_USER = re.compile(r"(?<![\w+.-])([A-Za-z][\w+.-]{0,20}://)[^\s/@?#\"'<>]{1,2000}@")
_URL_QUERY = re.compile(r"(?<=[?&])([\w.%-]{1,80})=([^&\s\"'<>#]+)")
_SCHEME = re.compile(r"\b(Bearer|Basic|Token|ApiKey)(\s+)([A-Za-z0-9._~+/=-]{6,})", re.I)
_HEADER = re.compile(
    r"^([ \t<>*]{0,8}(?:(?:proxy-)?authorization|(?:set-)?cookie|x-api-key|api-key)[ \t]{0,8}:[ \t]*)([^\n]+)",
    re.I | re.M,
)
_BARE = r"[^\s\"',\]\[-][^\s\"',\]]*"
_FLAG = re.compile(
    rf"(?<![\w-])(--?)([A-Za-z][\w.-]{{0,79}})([\"']\s{{0,8}},\s{{0,8}}[\"']|\s{{1,8}}|=)(\"[^\"\n]*\"|'[^'\n]*'|{_BARE})"
)
_FLAG_LIST = re.compile(rf"(?<![\w-])(--?[\w.-]{{0,40}}(?:keys|tokens|secrets|passwords)[\s=])({_BARE}(?:\s+{_BARE})*)")
_NAME = re.compile(r"(?<![\w.-])([A-Za-z_][\w.-]{0,79})\\?[\"']?\s{0,8}[:=]\s{0,8}")
_VALUE = re.compile(r"\\?\"(?:[^\"\\\n]|\\[^\"\n])*\\?\"|'[^'\n]*'|[^\s,;&\"'}\])]+")
_SHAPES = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bhf_[A-Za-z0-9]{16,}|\bnvapi-[\w-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abpsr]-[\w-]{10,}|\bA(?:KIA|SIA)[A-Z0-9]{16}\b"
    r"|\bAIza[\w-]{30,}|\bgsk_[A-Za-z0-9]{20,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
)


def is_secret(name: str) -> bool:
    """Whether a field, flag, header or variable of that name holds a secret; `..._env` holds a variable's name.

    >>> [is_secret(name) for name in ("api_key", "HF_TOKEN", "adminApiKey", "max_num_batched_tokens", "bos_token")]
    [True, True, True, False, False]
    """
    return _tells_secret(name) if len(name) <= LONGEST_KEPT else _tells_secret.__wrapped__(name)


@functools.lru_cache(4096)
def _tells_secret(name: str) -> bool:
    if name.endswith(("_env", "-env")):
        return False
    if _ALWAYS.search(name):
        return True
    if name.isupper():
        return bool(_UPPER.search(name))
    words = [word.lower() for word in _WORD.findall(name)]
    if len(words) < 2:
        return words == ["apikey"]
    before, last = words[-2], words[-1]
    if last == "token":
        return before not in _TOKENS_OF_TEXT
    return (last == "key" and before not in _NOT_SECRET_KEYS) or (last == "keys" and before in ("api", "access"))


def secret_values(names: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> frozenset[str]:
    """The values of the variables of those names, and of every variable whose name says that it is a secret."""
    environ = os.environ if environ is None else environ
    chosen = set(names) | {name for name in environ if is_secret(name)}
    found = {environ[name].strip() for name in chosen if name in environ}
    return frozenset(value for value in found if len(value) >= 6 and not _is_plain(value))


def redacted(text: str, values: Collection[str] = ()) -> str:
    """The text without secrets; each becomes `***`. `values` are secrets known by their content.

    >>> redacted("vllm serve m --api-key hunter22 --max-num-seqs 8")
    'vllm serve m --api-key *** --max-num-seqs 8'
    >>> redacted("http://me:pw@host/v1?api_key=x1&n=2")
    'http://***@host/v1?api_key=***&n=2'
    """
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    if _TOO_SHORT.fullmatch(text):
        return text
    text = _SHAPES.sub(HIDDEN, text)
    text = _URL_USER.sub(rf"\1{HIDDEN}@", text)
    text = _URL_QUERY.sub(_query, text)
    text = _HEADER.sub(rf"\1{HIDDEN}", text)
    text = _SCHEME.sub(rf"\1\2{HIDDEN}", text)
    text = _FLAG_LIST.sub(_flag_list, text)
    text = _FLAG.sub(_flag, text)
    return _without_pairs(text)


@functools.lru_cache(64)
def redacted_header(value: str, values: frozenset[str]) -> str:
    """A reply header without secrets; most headers of a server are the same with every reply."""
    return redacted(value, values)


def redacted_tree(value: Any, values: Collection[str] = (), depth: int = 0) -> Any:
    """A JSON-like value without secrets, of the same shape; what lies deeper than 60 levels is hidden."""
    if isinstance(value, str):
        return redacted(value, values)
    if depth > DEEPEST and isinstance(value, Mapping | list | tuple):
        return HIDDEN
    if isinstance(value, Mapping):
        return {_name(key, values): _field(str(key), inner, values, depth) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_arguments(value, values, depth))
    return value


def _name(key: Any, values: Collection[str]) -> Any:
    return redacted(key, values) if isinstance(key, str) else key


def _field(name: str, value: Any, values: Collection[str], depth: int) -> Any:
    if is_secret(name) and value and value is not True:
        is_count = isinstance(value, int | float) and not _ALWAYS.search(name)
        return value if is_count else HIDDEN
    if name.lower() == "token" and isinstance(value, str) and _looks_opaque(value):
        return HIDDEN
    return redacted_tree(value, values, depth + 1)


def _arguments(items: Iterable[Any], values: Collection[str], depth: int) -> Iterable[Any]:
    """The elements of a list; in a command line, what follows a secret flag is hidden."""
    hidden = listed = False
    for item in items:
        is_flag = isinstance(item, str) and item.startswith("-")
        yield HIDDEN if hidden and isinstance(item, str) and not is_flag else redacted_tree(item, values, depth + 1)
        if is_flag:
            name = item.lstrip("-")
            hidden, listed = _is_secret_flag(name), name.lower().endswith("s")
        elif not listed:
            hidden = False


def _is_secret_flag(name: str) -> bool:
    return is_secret(name) or name.lower() in ("key", "token")


def _is_plain(value: str) -> bool:
    return bool(_HARMLESS.fullmatch(value) or _NUMBER.fullmatch(value))


def _looks_opaque(value: str) -> bool:
    return len(value) >= 8 and not re.search(r"\s", value)


def _query(match: re.Match[str]) -> str:
    name = match[1]
    secret = is_secret(name) or name.lower().rpartition("-")[2] in _QUERY or name.lower() in _QUERY
    return f"{name}={HIDDEN}" if secret else match[0]


def _flag(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2]}{match[3]}{HIDDEN}" if _is_secret_flag(match[2]) else match[0]


def _flag_list(match: re.Match[str]) -> str:
    return f"{match[1]}{HIDDEN}" if is_secret(match[1].strip("-= ")) else match[0]


def _without_pairs(text: str) -> str:
    """The text without the values of secret names; a value may itself hold pairs, so only secret ones are skipped."""
    parts, done = [], 0
    for name in _NAME.finditer(text):
        if name.start() < done or not (is_secret(name[1]) or name[1].lower() == "token"):
            continue
        value = _VALUE.match(text, name.end())
        if value is None or not _is_pair(name[1], value[0]):
            continue
        quote = re.match(r"\\?[\"']?", value[0])
        mark = quote[0] if quote else ""
        parts += [text[done : name.end()], mark, HIDDEN, mark]
        done = value.end()
    return "".join((*parts, text[done:]))


def _is_pair(name: str, value: str) -> bool:
    inner = value.strip("\\\"'")
    if _HARMLESS.fullmatch(inner) or (_NUMBER.fullmatch(inner) and not _ALWAYS.search(name)):
        return False
    return is_secret(name) or (name.lower() == "token" and _looks_opaque(inner))
