"""Filling templates: they hold text, names and plain loops, and every decision was taken before."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2

PACKAGE = Path(__file__).resolve().parent.parent


def template_folder() -> Path:
    """The templates of an installed package, or of a checkout."""
    installed = PACKAGE / "templates"
    return installed if installed.is_dir() else PACKAGE.parent / "templates"


@cache
def environment() -> jinja2.Environment:
    """Jinja, set so that an undefined name is an error and text comes out as written."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_folder()),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )


def render(template: str, **names: Any) -> str:
    """The text of a template with names filled in."""
    return environment().get_template(template).render(**names)
