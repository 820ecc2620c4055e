"""The list of errors in `docs/errors.md` is what the code can raise; `--bless` writes it anew."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "errors.md"
CODE = re.compile(r"AD\d{3}")
HEADING = "`…` stands for what depends on the program.\n"


def text_of(node: ast.expr) -> str | None:
    """A message as text; what is filled in at run time is an ellipsis."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.sub(r"\{\w*\}", "…", node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "…"
            for part in node.values
        )
    if isinstance(node, ast.BinOp):
        return (text_of(node.left) or "…") + (text_of(node.right) or "…")
    if isinstance(node, ast.IfExp):
        return text_of(node.body)
    return None


def found(path: Path) -> Iterator[tuple[str, str]]:
    """The codes of a file, each with the message that follows it in a call or a tuple."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        items = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else []
        for code, message in zip(items, [*items[1:], ast.Constant(None)]):
            if isinstance(code, ast.Constant) and isinstance(code.value, str) and CODE.fullmatch(code.value):
                yield code.value, " ".join((text_of(message) or "").split("\n")[0].split())


def listing() -> str:
    """The section of the document."""
    messages: dict[str, list[str]] = {}
    for path in sorted((ROOT / "adgen").rglob("*.py")):
        for code, message in found(path):
            if message and message not in messages.setdefault(code, []):
                messages[code].append(message)
    return "".join(f"- **{code}** {'; '.join(texts)}\n" for code, texts in sorted(messages.items()) if texts)


def test_every_code_is_documented(bless: bool) -> None:
    """The document lists every code and no other."""
    text = DOCUMENT.read_text(encoding="utf-8")
    head = text[: text.index(HEADING) + len(HEADING)]
    if bless:
        DOCUMENT.write_text(head + "\n" + listing(), encoding="utf-8")
        text = DOCUMENT.read_text(encoding="utf-8")
    listed = re.findall(r"^- \*\*(AD\d{3})\*\*", text, re.MULTILINE)
    assert listed == re.findall(r"^- \*\*(AD\d{3})\*\*", listing(), re.MULTILINE), "run pytest --bless on this file"
