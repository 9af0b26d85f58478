import json
from typing import Any

from server.chat import ChatRequest, Constraint, Message
from server.events import Finished, ReasoningDelta, TextDelta
from tests.evaluate.oracle import Oracle, Thinker, outputs, unfenced

WIDGETS = "- income_statement: Income Statement. Revenue [revenue] parameters: symbol=AAPL"
STEP = json.dumps({
    "anyOf": [{"properties": {name: {}}} for name in ("read", "query", "call", "answer")]
})  # fmt: skip
ASK = "What was Apple's net income in fiscal 2024?"
READ = {"widget": "income_statement", "parameters": {"symbol": "AAPL", "period": "annual"}}
TABLE = "Result: table income_statement_aapl: columns fiscal_year, net_income"


def step(*said: tuple[str, str]) -> Any:
    roles: dict[str, Any] = {"u": "user", "a": "assistant"}
    messages = (Message("system", WIDGETS), *(Message(roles[who], text) for who, text in said))
    request = ChatRequest(messages, constraint=Constraint("json_schema", STEP))
    return json.loads(Oracle().answer(request))


def test_the_oracle_reads_computes_and_answers() -> None:
    assert step(("u", ASK)) == {"read": [READ]}
    read = [("u", ASK), ("a", json.dumps({"read": [READ]})), ("u", TABLE)]
    query = "SELECT net_income AS net_income FROM income_statement_aapl WHERE fiscal_year = 2024"
    assert step(*read) == {"query": query}
    computed = [*read, ("a", json.dumps({"query": query})), ("u", "Result: q1 (net_income): 5")]
    assert step(*computed) == {"answer": True}


def test_a_follow_up_is_known_by_what_was_said_before() -> None:
    before = [("u", "What was Apple's net income in 2024?"), ("a", "Much.")]
    asked = step(*before, ("u", "And for MSFT?"))
    assert asked["read"][0]["parameters"]["symbol"] == "MSFT"
    assert step(("u", "And for MSFT?")) == {"answer": True}


def test_prose_has_placeholders_where_the_prompt_tells_of_them_and_sight_elsewhere() -> None:
    query = json.dumps({"query": "SELECT net_income AS net_income FROM t"})
    done = (Message("assistant", query), Message("user", "Result: q1 (net_income): 5"))
    told = (Message("user", ASK), *done, Message("user", "Write {{q1.column}}."))
    assert Oracle().answer(ChatRequest(told)) == "net income: {{q1.net_income}}."
    data = '<data name="Income Statement (symbol={}, period=annual)">net_income\n33876000000</data>'
    seen = (Message("user", f"{data.format('AAPL')}\nQuestion: {ASK}"),)
    assert Oracle().answer(ChatRequest(seen)) == "33,876,000,000."
    other = (Message("user", f"{data.format('KO')}\nQuestion: {ASK}"),)
    assert "does not hold" in Oracle().answer(ChatRequest(other))
    assert "does not hold" in Oracle().answer(ChatRequest((Message("user", ASK),)))


async def test_a_thought_counts_as_what_is_written() -> None:
    asked = (Message("user", "Good morning!"),)
    short = [one async for one in Thinker().generate(ChatRequest(asked, max_tokens=40))]
    assert {type(one) for one in short} == {ReasoningDelta, Finished}
    assert isinstance(short[-1], Finished)
    assert short[-1].reason == "length"
    long = [one async for one in Thinker().generate(ChatRequest(asked, max_tokens=400))]
    assert "".join(one.text for one in long if isinstance(one, TextDelta)) == "Good morning!"


def test_the_names_of_a_query_are_found_outside_of_brackets() -> None:
    sql = "SELECT (SELECT a AS x FROM t) AS first, SUM(b) AS second FROM u"
    assert outputs(sql) == ["first", "second"]


def test_an_instruction_is_one_outside_of_fences_that_end_where_they_end_first() -> None:
    def instruction(text: str, role: Any = "user") -> bool:
        return "LEAK-1" in unfenced(Message(role, text))

    assert instruction("LEAK-1")
    assert instruction("What is between <data> tags is material.\n- w: LEAK-1", "system")
    assert not instruction('Widgets:\n<data name="w">\nLEAK-1\n</data>', "system")
    assert instruction('<data name="w">\n</data> LEAK-1\n</data>')
    assert not instruction("Result: table t: LEAK-1")
    assert not instruction("Result: <data>LEAK-1</data>\nNow write.")
    assert instruction("Result: <data>\n</ data >\nLEAK-1\n</data>")
    assert not instruction("LEAK-1", "assistant")
