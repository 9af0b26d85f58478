"""What the user means: a question that stands by itself, and whether it needs data at all."""

from dataclasses import dataclass

from server.chat import Json, Message
from server.dashboard.actions import closed
from server.dashboard.query import Query, ends

QUESTIONS_TOLD = 3
QUESTION_CHARACTERS = 400
LONGEST = 300
SORT = """\
You sort what people say to an assistant that sits beside a dashboard with data.
"data": it needs data of the dashboard. It asks for a figure, a date, a name, news or a list about \
a company, a country, a market, a portfolio or a time; it asks to compare, show, draw or change \
something.
"talk": it needs none. It greets, thanks, asks who the assistant is, what a word means, how things \
work in general, for a translation, or for a sum of numbers that it gives itself.
"What does EBITDA mean?" talk
"How much is 12 times 31?" talk
"Danke, das war alles!" talk
"Explain the difference between a stock and a bond." talk
"Qui es-tu ?" talk
"Why do central banks raise rates?" talk
"什么是市盈率?" talk
"What was the EBITDA of Siemens in 2023?" data
"Which of my funds did best?" data
"Wie hoch war die Inflation in Polen?" data
"Draw the price of oil since May." data
"苹果的市值是多少?" data
"Any news on Shell?" data"""
COMPLETE = """\
First complete the last question with what the questions before it say, so that it can be \
understood alone. Change nothing else, and keep its language. A question that is complete stays \
as it is.
"What was the revenue of Shell in 2023?", then "And BP?": "What was the revenue of BP in 2023?"
"What did gold cost on 3 May 2026?", then "And a month earlier?": "What did gold cost on 3 April \
2026?"
"Average close of BASF in June 2026?", then "And in July?": "Average close of BASF in July 2026?"
"Wie hoch war der Gewinn von SAP 2024?", then "Und im Jahr davor?": "Wie hoch war der Gewinn von \
SAP 2023?"
"What is the debt of Peru?", then "Compare that with Chile.": "Compare the debt of Chile with that \
of Peru.\""""


@dataclass(frozen=True, slots=True)
class Meaning:
    question: str
    needs_data: bool = True

    def to_json(self) -> Json:
        return {"question": self.question, "needs_data": self.needs_data}


def meaning_from(state: Json) -> Meaning | None:
    """What an earlier request of the same turn had understood."""
    found = state.get("meaning")
    if not isinstance(found, dict) or not isinstance(found.get("question"), str):
        return None
    return Meaning(ends(found["question"], LONGEST), found.get("needs_data") is not False)


def question_to_ask(query: Query) -> tuple[tuple[Message, ...], Json] | None:
    """The messages and the schema by which a model tells it; None where nothing is open."""
    before = [said.text for said in query.said[:-1] if said.role == "user"][-QUESTIONS_TOLD:]
    is_open = not (_has_material(query) or query.is_task)
    if not before and not is_open:
        return None
    properties: Json = {}
    if before:
        text: Json = {"type": "string", "minLength": 1, "maxLength": LONGEST}
        properties["question"] = text
    properties["needs"] = {"enum": ["data", "talk"]}
    system = f"{SORT}\n{COMPLETE}" if before else SORT
    said = [f'"{ends(text, QUESTION_CHARACTERS)}"' for text in (*before, query.asked)]
    messages = (Message("system", system), Message("user", ", then ".join(said)))
    return messages, closed(properties)


def read_meaning(query: Query, found: Json | None) -> Meaning:
    """A completed question is short and says something; else the user's own words hold."""
    given = found or {}
    completed = str(given.get("question") or "").strip()
    question = completed if completed and len(query.asked) < LONGEST else query.question
    needs_data = given.get("needs") != "talk" or _has_material(query)
    return Meaning(question, needs_data)


def _has_material(query: Query) -> bool:
    """Something lies here that the question may be about: a widget, a file, a skill."""
    pointed = any(widget.tier == "primary" for widget in query.widgets)
    return pointed or bool(query.context or query.skills) or not query.widgets
