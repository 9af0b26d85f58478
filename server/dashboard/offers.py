"""Tools and skills that the client offers: whether one is needed, and with which arguments."""

from dataclasses import dataclass

from server.asking.ask import Means, ask_json
from server.chat import Json
from server.dashboard.query import OfferedTool, Query, Skill
from server.language.ranking import rank, stems
from server.schemas.bounded import closed

LEAST_SCORE = 0.4
SHOWN = 6
NONE = "none"
CHOOSE = "You decide whether one of the tools is needed to answer. If none is, answer 'none'."
FILL = "You fill in the arguments of a tool so that its result answers the question."


@dataclass(frozen=True, slots=True)
class ToolUse:
    tool: OfferedTool
    arguments: Json


async def choose_tool(query: Query, means: Means) -> ToolUse | None:
    """A tool not used yet in this turn, with arguments that fit its schema."""
    used = {
        result.arguments.get("tool_name")
        for result in query.new_results
        if result.function == "execute_agent_tool"
    }
    tools = [tool for tool in query.tools if tool.name not in used]
    if not tools or used:
        return None
    documents = [{tool.name: 2.0, tool.description: 1.0} for tool in tools]
    order = [one for one in rank(query.question, documents) if one.score >= LEAST_SCORE]
    shown = [tools[one.index] for one in order[:SHOWN]]
    if not shown:
        return None
    tool = shown[0] if _is_asked_for(query, shown[0]) else await _ask(query, means, shown)
    if tool is None:
        return None
    return ToolUse(tool, await _arguments(query, means, tool))


def choose_skill(query: Query) -> Skill | None:
    """A skill of the catalogue that the question names and that was not brought yet."""
    brought = {
        result.arguments.get("slug")
        for result in query.results
        if result.function == "get_skill_content"
    }
    known = {skill.slug for skill in query.skills} | brought
    asked = set(stems(query.question))
    for skill in query.catalogue:
        words = set(stems(skill.slug.replace("-", " ")))
        if skill.slug not in known and words and words <= asked and "skill" in asked:
            return skill
    return None


def _is_asked_for(query: Query, tool: OfferedTool) -> bool:
    """'Use the lookup tool': the word tool, and a word of the tool's name."""
    asked = set(stems(query.question))
    return "tool" in asked and bool(asked & set(stems(tool.name)))


async def _ask(query: Query, means: Means, tools: list[OfferedTool]) -> OfferedTool | None:
    aliases = {f"T{number}": tool for number, tool in enumerate(tools, 1)}
    lines = [f"{alias}: {one.name} - {one.description[:120]}" for alias, one in aliases.items()]
    schema: Json = closed({"tool": {"enum": [NONE, *aliases]}})
    text = "Tools:\n" + "\n".join(lines) + f"\n\nQuestion: {query.question}"
    answer = await ask_json(means, (CHOOSE, text), schema, max_tokens=16) or {}
    return aliases.get(str(answer.get("tool")))


async def _arguments(query: Query, means: Means, tool: OfferedTool) -> Json:
    """Bound to the tool's own schema; a single required text is the question itself if need be."""
    properties = tool.schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        return {}
    text = f"Tool: {tool.name} - {tool.description[:300]}\n\nQuestion: {query.question}"
    answer = await ask_json(means, (FILL, text), tool.schema, max_tokens=256)
    if answer is not None:
        return {name: value for name, value in answer.items() if name in properties}
    required = tool.schema.get("required") or []
    texts = [name for name in required if properties.get(name, {}).get("type") == "string"]
    return dict.fromkeys(texts, query.question)
