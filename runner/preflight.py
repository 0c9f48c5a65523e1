"""What is asked of a server before and after a measurement: whether it answers us, and whether it is still the same."""

from collections.abc import Mapping
from typing import Any

from itembank.errors import UserError
from runner.client import Client
from runner.config import ServingConfig
from runner.dialect import chat_body
from runner.exchange import FailureKind
from runner.failure import advice
from runner.identity import difference, read_identity, was_restarted, with_fingerprint
from runner.retry import PASSING
from runner.store import RunFolder

QUESTION: tuple[Mapping[str, Any], ...] = ({"role": "user", "content": "Reply with OK."},)

RESTARTED = "the server was restarted while it was measured"


async def reachable_model(client: Client, serving: ServingConfig) -> str:
    """The model to ask for, once the server has shown that it answers us at all.

    Raises UserError saying what to do if it cannot be reached or wants another key.
    """
    if serving.model != "auto":
        failure = (await client.get(f"{client.base_url}/models", timeout_s=30.0)).failure
        if failure is not None and (failure.kind is FailureKind.CONNECT or failure.status in (401, 403)):
            raise UserError(advice(failure, serving))
    return await client.model()


async def require_answer(client: Client, serving: ServingConfig) -> None:
    """Raise UserError saying what to do unless the model answers a question of one token.

    A fault that may pass by itself is left to the run.
    """
    model = await reachable_model(client, serving)
    body = chat_body(
        model=model, messages=QUESTION, max_tokens=1, sampling=serving.sampling, extra_body=serving.extra_body
    )
    failure = (await client.send(body)).failure
    if failure is not None and failure.kind is FailureKind.HTTP_STATUS and failure.status not in PASSING:
        raise UserError(advice(failure, serving))


async def identify_again(
    folder: RunFolder, serving: ServingConfig, client: Client, fingerprint: str | None = None
) -> None:
    """Read the identity once more; facts that changed make the run INVALID and stand in its record.

    A restart of a server that triplicate did not launch is noted; with the same configuration it is no change.
    `fingerprint` is what chat replies carried as `system_fingerprint`.
    """
    record = folder.record
    after = with_fingerprint(await read_identity(serving, client), fingerprint)
    changed = difference(record.identity_before, after)
    known = [*record.identity_changes, *(line for line in changed if line not in record.identity_changes)]
    restarted = not serving.launch and was_restarted(record.identity_before, after)
    notes = tuple(dict.fromkeys((*record.notes, RESTARTED))) if restarted else record.notes
    folder.update(identity_after=after, identity_changes=tuple(known), notes=notes)
