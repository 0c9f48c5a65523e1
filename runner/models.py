"""Reads which models a server lists. Sends nothing."""

from itembank.errors import UserError
from runner.assemble import sound
from runner.config import ServingConfig
from runner.failure import is_html
from runner.reply import Reply


def only_model(reply: Reply, serving: ServingConfig) -> str:
    """The one model in the reply of `/models`. Raises UserError if there is not exactly one."""
    listed = reply.json()
    rows = listed.get("data") if isinstance(listed, dict) else None
    where = f"{serving.base_url.rstrip('/')}/models"
    if not isinstance(rows, list):
        page = "an HTML page" if is_html(reply.body) else "no list of models"
        raise UserError(
            f"{where} answers {page}; base_url must be that of an OpenAI-compatible API and usually ends in /v1"
        )
    names = [sound(row["id"]) for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
    if len(names) != 1:
        found = f"lists {len(names)} models ({', '.join(names[:8])})" if names else "lists no model"
        raise UserError(f'{where} {found}; name the one to measure in the configuration: model = "..."')
    return names[0]
