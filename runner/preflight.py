"""What is asked of a server before and after a measurement: whether it answers us, and whether it is still the same."""

from collections.abc import Mapping
from typing import Any

from itembank.errors import UserError
from runner.client import Client
from runner.config import ServingConfig
from runner.dialect import chat_body
from runner.exchange import FailureKind
from runner.failure import advice
from runner.identity import difference, read_identity
from runner.retry import PASSING
from runner.store import RunFolder

QUESTION: tuple[Mapping[str, Any], ...] = ({"role": "user", "content": "Reply with OK."},)


async def answering_model(client: Client, serving: ServingConfig) -> str:
    """The model to ask for, once the server has answered a question of one token with it.

    Raises UserError saying what to do if it does not; a fault that may pass by itself is left to the run.
    """
    model = await client.model()
    body = chat_body(
        model=model, messages=QUESTION, max_tokens=1, sampling=serving.sampling, extra_body=serving.extra_body
    )
    failure = (await client.send(body)).failure
    refused = failure is not None and failure.kind is FailureKind.HTTP_STATUS and failure.status not in PASSING
    if failure is not None and (refused or failure.kind is FailureKind.CONNECT):
        raise UserError(advice(failure, serving))
    return model


async def identify_again(folder: RunFolder, serving: ServingConfig, client: Client) -> None:
    """Read the identity once more; facts that changed make the run INVALID and stand in its record."""
    record = folder.record
    after = await read_identity(serving, client)
    changed = difference(record.identity_before, after)
    known = [*record.identity_changes, *(line for line in changed if line not in record.identity_changes)]
    folder.update(identity_after=after, identity_changes=tuple(known))
