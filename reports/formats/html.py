"""The report as one HTML file that opens offline: pictures first, then every answer. Needs the extra `report`.

Nothing that a model or a server wrote is ever markup here: jinja2 escapes it, the drawer of the charts escapes what it
writes, the script shows it as text, and the page's policy runs nothing but the page's own script.
"""

from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from itembank.errors import UserError
from reports import report_page, sweep_wording, wording
from reports.charts import shown

if TYPE_CHECKING:
    from reports.report import Report

SUFFIX = ".html"


def render(report: "Report") -> str:
    """The whole page. Raises UserError saying what to install where the extra is missing."""
    missing = missing_package()
    if missing:
        raise UserError(f"the HTML report needs {missing}; pip install 'triplicate[report]'")
    import jinja2

    script, style = asset("page.js"), asset("page.css")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=cleaned,
    )
    environment.filters.update(filters())
    environment.globals.update(sentences=sweep_wording, wording=wording, cell_markup=report_page.cell_markup)
    page: str = environment.get_template("page.html.j2").render(
        document=report.document,
        drawings=report_page.drawings(report.document),
        grid=report_page.grid(report.document),
        data=report_page.embedded(report),
        policy=report_page.policy(script, style),
        script=script,
        style=style,
    )
    return page.lstrip()


def missing_package() -> str | None:
    """The first package that a page needs and that is not installed; None where all are."""
    needed = {"altair": "altair", "jinja2": "jinja2", "vl_convert": "vl-convert-python"}
    return next((package for module, package in needed.items() if find_spec(module) is None), None)


def asset(name: str) -> str:
    """A file of the page that lies beside this one."""
    return files("reports.formats").joinpath(name).read_text("utf-8")


def cleaned(value: object) -> object:
    """A printed value with characters that hide or reorder text made visible; markup of our own as it is."""
    if type(value) is not str or value.isprintable():
        return value
    return "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in value)


def filters() -> dict[str, Any]:
    """What the template prints numbers with."""
    return {
        "figure": wording.figure,
        "bounds": wording.bounds,
        "times": sweep_wording.times,
        "shown": shown,
        "value": fact_value,
    }


def fact_value(value: Any) -> str:
    """A fact's value for people; lists and mappings as JSON."""
    import json

    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "unknown"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
