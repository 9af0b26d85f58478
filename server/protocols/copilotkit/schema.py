"""The schema of CopilotKit's runtime, and documents checked against it."""

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from graphql import (
    DirectiveNode,
    DocumentNode,
    FieldNode,
    GraphQLDeferDirective,
    GraphQLError,
    GraphQLSchema,
    GraphQLStreamDirective,
    OperationDefinitionNode,
    Visitor,
    build_schema,
    get_operation_ast,
    parse,
    specified_directives,
    validate,
    visit,
)

MAX_TOKENS = 4000
REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class Document:
    node: DocumentNode
    is_incremental: bool

    def operation(self, name: str | None) -> OperationDefinitionNode | None:
        return get_operation_ast(self.node, name)


class Refused(Exception):
    """The document is none we can run: GraphQL's own words for why."""

    def __init__(self, errors: list[GraphQLError]) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.errors = errors


def _load() -> GraphQLSchema:
    text = files(__package__).joinpath("schema.graphql").read_text("utf-8")
    built = build_schema(text)
    return GraphQLSchema(
        built.query_type,
        built.mutation_type,
        types=tuple(built.type_map.values()),
        directives=(*specified_directives, GraphQLDeferDirective, GraphQLStreamDirective),
    )


SCHEMA = _load()
LONGEST_DOCUMENT = 200_000


@lru_cache(REMEMBERED)
def read(text: str) -> Document:
    """Clients send the same few documents over and over: each is checked once."""
    if len(text) > LONGEST_DOCUMENT:
        raise Refused([GraphQLError("The document is too long.")])
    try:
        node = parse(text, max_tokens=MAX_TOKENS)
    except GraphQLError as error:
        raise Refused([error]) from None
    errors = validate(SCHEMA, node)
    if errors:
        raise Refused([_marked(error, "GRAPHQL_VALIDATION_FAILED") for error in errors])
    directives = _Directives()
    visit(node, directives)
    return Document(node, not directives.names.isdisjoint({"defer", "stream"}))


def field_of(operation: OperationDefinitionNode, name: str) -> FieldNode | None:
    """The one field of that name at the top of the operation."""
    found = [
        one
        for one in operation.selection_set.selections
        if isinstance(one, FieldNode) and one.name.value == name
    ]
    return found[0] if len(found) == 1 else None


class _Directives(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def enter_directive(self, node: DirectiveNode, *_: object) -> None:
        self.names.add(node.name.value)


def _marked(error: GraphQLError, code: str) -> GraphQLError:
    error.extensions = {"code": code}
    return error
