"""Makes a serving ready for a ladder: launched if it is ours to launch, asked for one token, identified, self-tested.

What the user can mend stops here with one line, before any level is spent. Measures no level itself.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from itembank.errors import UserError
from runner.client import Client
from runner.config import ServingConfig
from runner.crew import KEPT_RAW, Crew
from runner.dialect import chat_body
from runner.environment import anchor, host, tool
from runner.failure import advice
from runner.identity import identity_digest, read_identity
from runner.ladder import PROMPT, Ladder, LadderPlan
from runner.launch import launched
from runner.preflight import identify_again
from runner.record import RunRecord
from runner.redact import redacted_tree
from runner.selftest import client_ceiling
from runner.store import RunFolder, utc_now


@asynccontextmanager
async def measuring(
    serving: ServingConfig, plan: LadderPlan, *, out: Path, folder: RunFolder | None = None
) -> AsyncIterator[Ladder]:
    """A ladder ready to measure; its folder is `folder` where a run is resumed, else a new one below `out`.

    Raises UserError saying what to do if the server cannot be asked. On the way out the identity is read again and
    the record gets its status: `complete`, `incomplete` where the server was lost, `interrupted` for everything else.
    """
    async with AsyncExitStack() as stack:
        given = serving
        if serving.launch:
            folder = folder or new_folder(given, plan, out)
            stack.callback(_leave, folder)
            log = folder.path / f"server-{len(folder.record.boots) + 1}.log"
            serving = await stack.enter_async_context(launched(serving, log))
        client = await stack.enter_async_context(Client(serving, kept_raw=KEPT_RAW))
        bodies = _Bodies(serving, await client.model())
        await _asked(client, serving, bodies(PROMPT, 1))
        identity = await read_identity(serving, client)
        bodies.engine = identity.engine
        await _asked(client, serving, bodies(PROMPT, plan.max_tokens))
        if folder is None:
            folder = new_folder(given, plan, out)
            stack.callback(_leave, folder)
        boot = {"number": len(folder.record.boots) + 1, "started_at": utc_now(), "launched": bool(given.launch)}
        folder.update(
            status="running",
            identity_before=folder.record.identity_before or identity,
            boots=(*folder.record.boots, {**boot, "identity": identity_digest(identity)}),
            host={**folder.record.host, "client": await client_ceiling()},
        )
        crew = await stack.enter_async_context(Crew(serving, client, plan.workers))
        ladder = Ladder(client=client, crew=crew, folder=folder, plan=plan, body=bodies)
        status = "interrupted"
        try:
            yield ladder
            status = "incomplete" if ladder.lost else "complete"
            if not ladder.lost:
                await identify_again(folder, serving, client)
        finally:
            notes = (ladder.lost,) if ladder.lost else ()
            folder.update(status=status, ended_at=utc_now(), notes=(*folder.record.notes, *notes))


def new_folder(serving: ServingConfig, plan: LadderPlan, out: Path) -> RunFolder:
    """A run folder whose record says what will be measured."""
    described = msgspec.to_builtins(serving)
    record = RunRecord(
        kind="ladder",
        serving=redacted_tree({key: value for key, value in described.items() if key != "sampling"}),
        sampling=described["sampling"],
        plan=msgspec.to_builtins(plan),
        started_at=utc_now(),
        anchor=anchor(),
        tool=tool(),
        host=host(),
    )
    return RunFolder.create(out, record)


def _leave(folder: RunFolder) -> None:
    """Close the folder; one that is still running never came to its first level."""
    if folder.record.status == "running":
        folder.end("incomplete")
    folder.close()


def recorded_plan(record: RunRecord, path: Path) -> LadderPlan:
    """The plan that a record was made with. Raises UserError if it is no ladder's."""
    if record.kind != "ladder":
        raise UserError(f"{path} is a {record.kind} run; resume it with `triplicate run --resume`")
    try:
        return msgspec.convert(dict(record.plan), LadderPlan)
    except msgspec.ValidationError as error:
        raise UserError(f"{path}: its plan cannot be read: {error}") from None


class _Bodies:
    """Builds the request for a prompt and a token limit, in the dialect of the engine once that is known."""

    def __init__(self, serving: ServingConfig, model: str) -> None:
        self._serving, self._model = serving, model
        self.engine: str | None = None

    def __call__(self, prompt: str, max_tokens: int) -> Mapping[str, Any]:
        return chat_body(
            model=self._model,
            messages=[{"role": "user", "content": prompt}],
            max_tokens=max_tokens,
            sampling=self._serving.sampling,
            engine=self.engine,
            fixed_length=True,
            extra_body=self._serving.extra_body,
        )


async def _asked(client: Client, serving: ServingConfig, body: Mapping[str, Any]) -> None:
    """One request before any level is spent. Raises UserError with what to do if it fails."""
    exchange = await client.send(body)
    if exchange.failure is not None:
        raise UserError(advice(exchange.failure, serving))
