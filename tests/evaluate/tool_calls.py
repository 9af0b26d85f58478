"""Checks that the calls a real model writes reach the client, whatever form they have.

    python -m tests.evaluate.tool_calls --model PATH [--requests 200] [--seed 1]

Half of the requests need a call. A fifth asks for JSON as text about the same subjects, the rest
for plain answers. Every model text is kept in build/evaluate-tool-calls.json.
"""

import argparse
import asyncio
import json
import random
import re
import sys
import time
from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jsonschema

from server.asking.ask import Means
from server.chat import ChatRequest, Message, Sampling, Tool
from server.conversation.run import converse
from server.engine import styles
from server.engine.base import EngineOptions, ModelFacts
from server.engine.process import WorkerProcess
from server.engine.styles.base import Format, Parser, Prepared
from server.engine.watch import WatchLimits
from server.events import (
    ClientToolCall,
    Failed,
    Finished,
    Piece,
    StopReason,
    TextDelta,
    TokenLogprob,
    Usage,
)
from server.system.files import write_atomically

REPORT = Path("build/evaluate-tool-calls.json")
AT_ONCE = 4
MAX_TOKENS = {"call": 128, "json": 96, "plain": 48}
TOOL_SETS = 12
PATIENT = WatchLimits(silent_s=600, step_s=1800, load_s=600)
"""Long limits of time: a machine that is busy with other things is slow, not broken."""
TEXT, NUMBER, WHOLE, FLAG = ({"type": kind} for kind in ("string", "number", "integer", "boolean"))


def tool(name: str, description: str, required: str, **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": required.split()}
    return Tool(name, description, schema)


TOOLS = (
    tool("get_weather", "Forecast for a city.", "city", city=TEXT, days=WHOLE),
    tool("get_stock_price", "The latest price of a share.", "symbol", symbol=TEXT, currency=TEXT),
    tool(
        "convert_currency",
        "Converts an amount of money.",
        "amount source target",
        amount=NUMBER,
        source=TEXT,
        target=TEXT,
    ),
    tool(
        "set_timer",
        "Starts a timer.",
        "minutes",
        minutes=WHOLE,
        label={"type": "string", "description": "What it is for."},
    ),
    tool(
        "send_email",
        "Sends an email.",
        "to subject body",
        to={"type": "array", "items": TEXT},
        subject=TEXT,
        body=TEXT,
    ),
    tool(
        "search_flights",
        "Finds flights.",
        "origin destination",
        origin=TEXT,
        destination=TEXT,
        date={"type": "string", "description": "As 2026-05-31."},
        cabin={"enum": ["economy", "business", "first"]},
    ),
    tool("switch_light", "Turns a light on or off.", "room on", room=TEXT, on=FLAG),
    tool("find_recipe", "Finds recipes.", "dish", dish=TEXT, vegetarian=FLAG, most_minutes=WHOLE),
    tool("read_file", "Reads a file of the project.", "path", path=TEXT, first_line=WHOLE),
    tool("run_query", "Runs SQL on the sales database.", "sql", sql=TEXT),
    tool(
        "book_table",
        "Reserves a table.",
        "restaurant guests time",
        restaurant=TEXT,
        guests=WHOLE,
        time=TEXT,
    ),
    tool(
        "add_event",
        "Adds an event to the calendar.",
        "title when",
        title=TEXT,
        when={
            "type": "object",
            "properties": {"day": TEXT, "hour": {"type": "integer", "maximum": 23}},
            "required": ["day"],
        },
    ),
)
CALLS = {
    "get_weather": (
        "What will the weather be in {city} over the next {n} days?",
        "Wie wird das Wetter in {city} in den nächsten {n} Tagen?",
        "Quel temps fera-t-il à {city} demain ?",
        "¿Qué tiempo hará en {city} mañana?",
        "{city}未来{n}天的天气怎么样?",
    ),
    "get_stock_price": (
        "What does a share of {company} cost right now?",
        "Was kostet eine Aktie von {company} gerade?",
        "Quel est le cours actuel de l'action {company} ?",
        "¿A cuánto cotiza {company} ahora?",
        "{company}现在的股价是多少?",
    ),
    "convert_currency": (
        "Convert {n}0 dollars to euros.",
        "Rechne {n}0 Euro in Schweizer Franken um.",
        "Convertis {n}0 euros en yens.",
        "Convierte {n}0 dólares a pesos mexicanos.",
        "把{n}0美元换成人民币是多少?",
    ),
    "set_timer": (
        "Set a timer for {n} minutes for the eggs.",
        "Stell einen Timer auf {n} Minuten.",
        "Mets un minuteur de {n} minutes pour les pâtes.",
        "Pon un temporizador de {n} minutos.",
        "设一个{n}分钟的计时器。",
    ),
    "send_email": (
        "Send ann@example.com an email that the meeting moves to {n} o'clock.",
        "Schreib eine E-Mail an ben@example.com, dass ich {n} Minuten später komme.",
        "Envoie un courriel à zoe@example.com pour la remercier.",
        "Manda un correo a leo@example.com con el asunto Factura {n}.",
        "给li@example.com发邮件、说会议改到{n}点。",
    ),
    "search_flights": (
        "Find flights from {city} to Lisbon on 2026-06-{n}.",
        "Suche Flüge von {city} nach Rom am 2026-07-{n}.",
        "Trouve un vol de {city} à Oslo en classe affaires.",
        "Busca vuelos de {city} a Lima para el 2026-08-{n}.",
        "查一下从{city}到东京的航班。",
    ),
    "switch_light": (
        "Turn the light in the kitchen on.",
        "Mach das Licht im Flur aus.",
        "Allume la lumière du salon.",
        "Apaga la luz del dormitorio.",
        "把卧室的灯关掉。",
    ),
    "find_recipe": (
        "Find me a vegetarian lasagne that takes at most {n} minutes.",
        "Such ein Rezept für Kartoffelsuppe.",
        "Trouve une recette de ratatouille.",
        "Busca una receta de gazpacho.",
        "找一个宫保鸡丁的菜谱。",
    ),
    "read_file": (
        "Show me what is in src/main.py.",
        "Lies die Datei docs/notes.txt ab Zeile {n}.",
        "Ouvre le fichier config/settings.toml.",
        "Lee el archivo README.md.",
        "读取文件 src/app.py。",
    ),
    "run_query": (
        "How many orders were placed in the sales database this year?",
        "Frag die Datenbank nach den {n} größten Kunden.",
        "Interroge la base pour le total des ventes par pays.",
        "Consulta en la base los {n} productos más vendidos.",
        "查询数据库里销售额最高的{n}个产品。",
    ),
    "book_table": (
        "Book a table for {n} at Da Mario at 19:30.",
        "Reserviere einen Tisch für {n} im Adler um 20 Uhr.",
        "Réserve une table pour {n} au Petit Zinc à 20 h.",
        "Reserva una mesa para {n} en Casa Pepe a las 21:00.",
        "在海底捞订一张{n}个人的桌子、晚上七点。",
    ),
    "add_event": (
        "Put a dentist appointment on Friday at {n} into my calendar.",
        "Trag für Montag um {n} Uhr den Elternabend ein.",
        "Ajoute un rendez-vous chez le coiffeur mardi à {n} h.",
        "Añade al calendario la cena con Eva el jueves.",
        "在日历里加上周三{n}点的团队会议。",
    ),
}
JSON_TEXTS = (
    "Write a JSON object that describes a weather report for {city} with made-up values.",
    "Give me an example JSON payload for an email with to, subject and body. Just show it.",
    "Show the JSON that a call of {tool} would look like. Do not call it.",
    "Schreib mir ein JSON-Objekt für eine Tischreservierung mit Name, Personen und Uhrzeit.",
    "Zeig ein Beispiel in JSON für eine Liste von drei Flügen.",
    "Donne-moi un exemple JSON d'une recette avec ses ingrédients.",
    "Écris un objet JSON avec les champs symbol, price et currency pour {company}.",
    "Escribe un JSON de ejemplo con un evento de calendario.",
    "Dame en JSON la estructura de los argumentos de {tool}.",
    "用JSON格式写一个货币兑换的例子。",
    "请给出一个包含城市和气温的JSON示例。",
    "Translate this into JSON: the light in the kitchen is on, the one in the hall is off.",
)
PLAIN_TEXTS = (
    "What is the capital of Australia?",
    "Explain in one sentence what inflation is.",
    "Thank you, that was all!",
    "Which tools do you have?",
    "Translate 'good morning' into French.",
    "Was ist der Unterschied zwischen Wetter und Klima?",
    "Nenne drei Primzahlen.",
    "Warum ist der Himmel blau?",
    "Écris un haïku sur la pluie.",
    "Combien font 12 fois 12 ?",
    "¿Quién escribió Don Quijote?",
    "Dame un sinónimo de rápido.",
    "光速是多少?",
    "用一句话介绍长城。",
    "Write a Python function that adds two numbers.",
)
CITIES = ("Paris", "Graz", "Nairobi", "Osaka", "Lima", "Turku", "Sevilla", "Quebec")
COMPANIES = ("Apple", "Siemens", "Toyota", "Novartis", "Nvidia", "L'Oréal")
FENCE, TAG = re.compile("```([A-Za-z_]*)"), re.compile(r"<([A-Za-z_|]+)[=>]")


@dataclass
class Asked:
    """A request, and what came of it."""

    kind: str
    question: str
    tools: tuple[Tool, ...]
    wanted: str = ""
    written: list[str] = field(default_factory=list)
    """The texts that the model wrote, one for each time it was asked."""
    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    end: str = ""

    @property
    def missed(self) -> bool:
        """Whether a tool's name with arguments behind it was passed on as text."""
        names = "|".join(re.escape(one.name) for one in self.tools)
        called = (
            rf"\b({names})\b[\"'`]?\s*(\(|[,:]?\s*\{{|,\s*[\"'](arguments|parameters|args|input))"
        )
        return re.search(called, self.text) is not None

    @property
    def valid(self) -> bool:
        schemas = {one.name: one.parameters for one in self.tools}
        return all(
            name in schemas and jsonschema.Draft202012Validator(schemas[name]).is_valid(given)
            for name, given in self.calls
        )

    @property
    def form(self) -> str:
        """What the model put around its first call."""
        said = self.written[0] if self.written else ""
        begun = "text, " if said[:1].isalpha() else ""
        if tag := TAG.search(said):
            return f"{begun}<{tag[1]}>"
        if fence := FENCE.search(said):
            return f"{begun}fence {fence[1]}".rstrip()
        return begun + ("bare JSON" if "{" in said else "bare")


class Recorder:
    """A parser that keeps the text it was fed."""

    def __init__(self, parser: Parser, asked: Asked) -> None:
        self._parser = parser
        self._asked = asked
        asked.written.append("")

    @property
    def stopped(self) -> bool:
        return self._parser.stopped

    @property
    def holds(self) -> bool:
        return self._parser.holds

    def feed(self, text: str, logprobs: tuple[TokenLogprob, ...] = ()) -> list[Piece]:
        self._asked.written[-1] += text
        return self._parser.feed(text, logprobs)

    def end(self, reason: StopReason, usage: Usage) -> list[Piece]:
        return self._parser.end(reason, usage)


def make_requests(count: int, seed: int) -> list[Asked]:
    dice = random.Random(seed)
    kinds = ["call"] * (count // 2) + ["json"] * (count // 5)
    kinds += ["plain"] * (count - len(kinds))
    dice.shuffle(kinds)
    sets = [dice.sample(TOOLS, dice.randint(2, 5)) for _ in range(TOOL_SETS)]
    # Requests with the same tools follow each other, so that the tools are in the cache.
    return [
        _request(kind, sets[at * TOOL_SETS // len(kinds)], dice) for at, kind in enumerate(kinds)
    ]


def _request(kind: str, offered: list[Tool], dice: random.Random) -> Asked:
    wanted = dice.choice(offered).name
    templates = {"call": CALLS[wanted], "json": JSON_TEXTS, "plain": PLAIN_TEXTS}[kind]
    question = dice.choice(templates).format(
        city=dice.choice(CITIES),
        company=dice.choice(COMPANIES),
        n=dice.randint(2, 15),
        tool=wanted,
    )
    return Asked(kind, question, tuple(offered), wanted if kind == "call" else "")


async def ask(engine: WorkerProcess, at: int, asked: Asked, temperature: float) -> None:
    request = ChatRequest(
        (Message("user", asked.question),),
        tools=asked.tools,
        max_tokens=MAX_TOKENS[asked.kind],
        sampling=Sampling(temperature=temperature, seed=at),
        client=str(at),
    )
    async with aclosing(converse(Means(engine), request)) as events:
        async for event in events:
            match event:
                case TextDelta(text):
                    asked.text += text
                case ClientToolCall(call):
                    asked.calls.append((call.name, call.arguments))
                case Finished(reason):
                    asked.end = reason
                case Failed(error):
                    asked.end = f"failed: {error}"
                case _:
                    pass


async def evaluate(model: Path, requests: list[Asked], given: argparse.Namespace) -> None:
    def recording(facts: ModelFacts) -> Format:
        style = styles.choose(facts)

        def prepare(request: ChatRequest, known: ModelFacts) -> Prepared:
            made = style.prepare(request, known)
            return replace(made, parser=Recorder(made.parser, requests[int(request.client)]))

        return Format(style.name, style.fits, prepare, style.always, style.shape)

    options = EngineOptions(
        context_tokens=AT_ONCE * 2048, slots=AT_ONCE, threads=given.threads, speculate=False
    )
    engine = WorkerProcess(model, options, choose=recording, limits=PATIENT)
    turn = asyncio.Semaphore(AT_ONCE)

    async def in_turn(at: int) -> None:
        async with turn:
            await ask(engine, at, requests[at], given.temperature)
            save(model, requests)

    try:
        await engine.load()
        await asyncio.gather(*map(in_turn, range(len(requests))))
    finally:
        await engine.close()


def save(model: Path, requests: list[Asked]) -> dict[str, Any]:
    """Writes the report so far, so that a run that is broken off has its figures, too."""
    ended = [one for one in requests if one.end]
    sys.stderr.write(f"{len(ended)} of {len(requests)}\n")
    found = {"model": model.stem, **summary(ended)}
    transcripts = [
        {
            "kind": one.kind,
            "question": one.question,
            "tools": [offered.name for offered in one.tools],
            "written": one.written,
            "text": one.text,
            "calls": one.calls,
            "end": one.end,
            "missed": one.missed,
            "valid": one.valid,
        }
        for one in ended
    ]
    REPORT.parent.mkdir(exist_ok=True)
    report = json.loads(REPORT.read_text("utf-8")) if REPORT.exists() else {}
    report[model.stem] = {**found, "transcripts": transcripts}
    write_atomically(REPORT, json.dumps(report, ensure_ascii=False, indent=1))
    return found


def summary(requests: list[Asked]) -> dict[str, Any]:
    called = [one for one in requests if one.calls]
    unread = [one for one in requests if one.missed and not one.calls and one.kind != "json"]
    missed = [one for one in unread if one.end != "length"]
    needed = [one for one in requests if one.kind == "call"]
    made = len(called) + len(missed)
    valid = sum(one.valid for one in called)
    return {
        "requests": len(requests),
        "calls needed": len(needed),
        "calls made": made,
        "recognised": len(called),
        "valid": valid,
        "recognised and valid, percent": round(100 * valid / made, 1) if made else None,
        "calls of the wanted tool": sum(one.wanted in dict(one.calls) for one in needed),
        "asked again": sum(len(one.written) > 1 for one in requests),
        "JSON asked for": sum(one.kind == "json" for one in requests),
        "calls where JSON was asked for": sum(one.kind == "json" for one in called),
        "calls where text was asked for": sum(one.kind == "plain" for one in called),
        "calls cut by the limit of tokens": len(unread) - len(missed),
        "failed": sum(one.end.startswith("failed") for one in requests),
        "forms": dict(Counter(one.form for one in called).most_common()),
        "forms missed": dict(Counter(one.form for one in missed).most_common()),
    }


def main() -> None:
    asking = argparse.ArgumentParser(description=__doc__)
    asking.add_argument("--model", type=Path, required=True)
    asking.add_argument("--requests", type=int, default=200)
    asking.add_argument("--seed", type=int, default=1)
    asking.add_argument("--threads", type=int, help="fewer are faster where others compute, too")
    asking.add_argument("--temperature", type=float, default=0.7)
    given = asking.parse_args()
    requests = make_requests(given.requests, given.seed)
    begin = time.monotonic()
    asyncio.run(evaluate(given.model, requests, given))
    found = save(given.model, requests) | {"seconds": round(time.monotonic() - begin)}
    for name, value in found.items():
        sys.stdout.write(f"{name:32} {value}\n")


if __name__ == "__main__":
    main()
