"""Collects the texts that people read into the translation files: python -m scripts.translations"""

import ast
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, get_args, get_origin
from xml.etree import ElementTree

from app.home import ADDRESS_HELP, NO_MODEL
from app.logs import LEVEL_CHOICES
from app.look.translate import CONTEXT, FOLDER, LANGUAGES, SERVER, read
from app.shell.session import NO_TRAY, STAYS
from app.shell.window import PAGES
from server.models import catalogue
from server.plugins import install
from server.settings import OWN_FIELDS, Settings, choice_label

ROOT = Path(__file__).parent.parent


def calls(function: str, *folders: str) -> Iterator[ast.Call]:
    """Yields every call of a function, in the order of the files."""
    for path in (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == function:
                yield node


def literals(function: str, *folders: str) -> list[str]:
    """Returns every literal that is the first argument of a function, each once."""
    first = (call.args[0] for call in calls(function, *folders))
    found = (str(text.value) for text in first if isinstance(text, ast.Constant))
    return list(dict.fromkeys(found))


@cache
def texts() -> list[str]:
    """Returns the window's own texts."""
    return list(dict.fromkeys([*literals("tr", "app"), *declared()]))


@cache
def sentences() -> list[str]:
    """Returns the templates of the sentences that the window may show."""
    found = [
        *literals("Sentence", "app", "server"),
        *(one.good_at for one in catalogue.read().models),
    ]
    for server in json.loads(install.COMMON.read_text("utf-8")).values():
        labels = [option["label"] for option in server.get("options", ())]
        found += [server["about"], server["reaches"], *labels]
    return list(dict.fromkeys(found))


def declared() -> list[str]:
    """Returns texts that are declared elsewhere and are passed to tr when they are shown."""
    found = [page.title for page in PAGES]
    found += [NO_TRAY, STAYS, ADDRESS_HELP, NO_MODEL, *(words for words, _ in LEVEL_CHOICES)]
    for group in Settings.model_fields.values():
        found.append(group.title or "")
        assert isinstance(group.annotation, type)
        for info in getattr(group.annotation, "model_fields", {}).values():
            found += [info.title or "", info.description or ""]
            if get_origin(info.annotation) is Literal:
                found += [choice_label(word) for word in get_args(info.annotation)]
    for info in OWN_FIELDS.values():
        found += [info.title or "", info.description or ""]
    return [text for text in found if text]


@cache
def contexts() -> dict[str, list[str]]:
    """Returns the window's own texts, and the sentences that it shows."""
    return {CONTEXT: texts(), SERVER: sentences()}


def write(path: Path, language: str, known: Mapping[str, Mapping[str, str]]) -> int:
    """Writes a translation file and returns how many texts lack a translation.

    Known translations are kept, new texts are marked as unfinished. A text stays in its place in
    the file, so that a change of the code does not move others.
    """
    root = ElementTree.Element("TS", version="2.1", language=language)
    missing = 0
    for name, found in contexts().items():
        context = ElementTree.SubElement(root, "context")
        ElementTree.SubElement(context, "name").text = name
        for text in in_order(found, _sources(path, name)):
            missing += _add(context, text, known.get(name, {}).get(text))
    ElementTree.indent(root, " ")
    body = ElementTree.tostring(root, encoding="unicode")
    path.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n{body}\n', "utf-8")
    return missing


def in_order(found: list[str], before: list[str]) -> list[str]:
    """Keeps the order of known texts. A new text follows the one before it in the code."""
    wanted = set(found)
    order = [text for text in before if text in wanted]
    for place, text in enumerate(found):
        if text not in order:
            order.insert(order.index(found[place - 1]) + 1 if place else 0, text)
    return order


def _sources(path: Path, name: str) -> list[str]:
    if not path.is_file():
        return []
    messages = ElementTree.parse(path).getroot().iterfind(f"context[name='{name}']/message")
    return [message.findtext("source", "") for message in messages]


def _add(context: ElementTree.Element, text: str, translated: str | None) -> bool:
    """Adds a message. Returns whether its translation is missing."""
    message = ElementTree.SubElement(context, "message")
    ElementTree.SubElement(message, "source").text = text
    translation = ElementTree.SubElement(message, "translation")
    if translated is None:
        translation.set("type", "unfinished")
        return True
    translation.text = translated
    return False


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    for language in LANGUAGES:
        path = FOLDER / f"moat_{language}.ts"
        missing = write(path, language, {name: read(path, name) for name in (CONTEXT, SERVER)})
        count = sum(map(len, contexts().values()))
        sys.stdout.write(f"{path}: {count} texts, {missing} without translation\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
