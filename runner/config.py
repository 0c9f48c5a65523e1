"""Reads triplicate.toml: which servings there are and what is intended of them. Talks to nothing."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from itembank.errors import UserError, nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How answers are drawn."""

    temperature: Annotated[float, Meta(ge=0)] = 0.0
    max_tokens: Annotated[int, Meta(ge=1)] = 4096
    """Caps an item's own limit."""
    top_p: Annotated[float, Meta(gt=0, le=1)] | None = None
    seed: int = 0
    """The base that seeds are derived from when the temperature is above 0; none is sent at 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How triplicate itself starts a server; what it did not start it never stops."""

    command: Annotated[tuple[str, ...], Meta(min_length=1)]
    """`{port}` stands for the free port that is chosen."""
    ready_timeout_s: Annotated[float, Meta(gt=0)] = 600.0
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None

    @property
    def takes_port(self) -> bool:
        """Whether the command or its environment has a place for the port that is chosen."""
        return any("{port}" in word for word in (*self.command, *self.env.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingConfig:
    """One serving: where it answers and what its owner says of it."""

    name: str
    base_url: str = ""
    """Ends in `/v1`; empty where triplicate launches it."""
    model: str = "auto"
    """`auto`: the only model that the server lists."""
    api_key_env: str | None = None
    """The name of the variable that holds the key, never a key."""
    gpus: Annotated[int, Meta(ge=1)] | None = None
    pid: Annotated[int, Meta(ge=0)] = 0
    """0: found from the listening port."""
    verify_tls: bool = True
    sampling: Sampling = field(default_factory=Sampling)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Sent with every request as it is."""
    launch: Launch | None = None
    intended: Mapping[str, Any] = field(default_factory=dict)
    """Facts by name, as the unit file or the plan has them."""

    @property
    def api_key(self) -> str | None:
        """The key itself. Raises UserError if the variable is named but not set."""
        if not self.api_key_env:
            return None
        key = os.environ.get(self.api_key_env)
        if not key:
            raise UserError(f"serving {self.name}: the variable {self.api_key_env} is not set; export it first")
        return key


@dataclass(frozen=True, slots=True, kw_only=True)
class BankSource:
    """Where the items come from."""

    source: str = "builtin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """triplicate.toml as a whole."""

    bank: BankSource = field(default_factory=BankSource)
    serving: tuple[ServingConfig, ...] = ()


def load_config(path: Path | None) -> Config:
    """The configuration at `path`, or of `triplicate.toml` here; empty where there is no such file.

    Raises UserError naming file and field.
    """
    chosen = path or Path("triplicate.toml")
    if path is None and not chosen.exists():
        return Config()
    try:
        tree = tomllib.loads(chosen.read_text("utf-8"))
        _refuse_unknown(tree, chosen)
        config = msgspec.convert(tree, Config)
    except FileNotFoundError:
        raise UserError(f"no configuration at {chosen}; give an existing file with --config") from None
    except msgspec.ValidationError as error:
        raise UserError(f"{chosen}: {error}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{chosen}: not readable: {error}") from None
    names = [serving.name for serving in config.serving]
    for serving in config.serving:
        if names.count(serving.name) > 1:
            raise UserError(f"{chosen}: two servings are named {serving.name!r}; names must be unique")
        if serving.launch and not (serving.launch.takes_port or serving.base_url):
            raise UserError(
                f"{chosen}: serving {serving.name}: write {{port}} in its launch command, or give its base_url"
            )
        if not serving.launch:
            check_url(serving.base_url, f"{chosen}: serving {serving.name}: base_url")
    return config


def _refuse_unknown(tree: Mapping[str, Any], path: Path) -> None:
    _refuse_keys(tree, Config, f"{path}: top level")
    _refuse_keys(tree.get("bank"), BankSource, f"{path}: bank")
    rows = tree.get("serving")
    for row in rows if isinstance(rows, list) else ():
        where = f"{path}: serving {row.get('name', '?') if isinstance(row, dict) else '?'}"
        _refuse_keys(row, ServingConfig, where)
        if isinstance(row, dict):
            _refuse_keys(row.get("sampling"), Sampling, f"{where}: sampling")
            _refuse_keys(row.get("launch"), Launch, f"{where}: launch")


def _refuse_keys(table: Any, known: type, where: str) -> None:
    fields = list(known.__dataclass_fields__)  # type: ignore[attr-defined]
    for key in table if isinstance(table, dict) else ():
        if key not in fields:
            raise UserError(f"{where}: unknown key {key!r}; {nearest(key, fields)}")


def check_url(url: str, where: str) -> None:
    """Raise UserError unless `url` is an http or https address with a host."""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        sound = sound and not parts.query and not parts.fragment
    except ValueError:
        sound = False
    if not sound:
        raise UserError(f"{where}: {url!r} is no http address; write for example http://127.0.0.1:8000/v1")


def serving(config: Config, name: str) -> ServingConfig:
    """The serving of that name, or an unnamed one for a base URL. Raises UserError with the nearest name."""
    for known in config.serving:
        if known.name == name:
            return known
    if "://" in name:
        check_url(name, "serving")
        parts = urlsplit(name)
        return ServingConfig(name=f"{parts.hostname}-{parts.port or parts.scheme}", base_url=name.rstrip("/"))
    names = [known.name for known in config.serving]
    raise UserError(f"no serving {name!r} in the configuration, and it is no URL; {nearest(name, names)}")


def stored_serving(record: Any, known: ServingConfig | None) -> ServingConfig:
    """The serving that a record was measured on: the configuration's own entry where it still has one.

    Raises UserError if that entry now samples otherwise than the record says.
    """
    serving = known or msgspec.convert(dict(record.serving), ServingConfig)
    sampling = msgspec.convert(dict(record.sampling), type(serving.sampling))
    if known and known.sampling != sampling:
        raise UserError(f"serving {known.name}: sampling differs from the record's; restore it or start a new run")
    return replace(serving, sampling=sampling)
