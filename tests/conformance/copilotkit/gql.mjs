// The first generation: @copilotkit/runtime-client-gql, GraphQL with incremental delivery.
import { createRequire } from "node:module";
import {
  checkPreflight, gqlAgent, hasErrors, need, newId, postJson, prompts, shorten, sleep, test, url,
} from "./cases.mjs";

const {
  CopilotRequestType, CopilotRuntimeClient, ImageMessage, ResultMessage,
  Role, TextMessage, convertGqlOutputToMessages, convertMessagesToGqlInput,
  filterAdjacentAgentStateMessages,
} = createRequire(import.meta.url)("@copilotkit/runtime-client-gql");

const PAGE = "http://localhost:3000/";
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const FAILURES = ["UNKNOWN_ERROR", "MESSAGE_STREAM_INTERRUPTED", "GUARDRAILS_VALIDATION_FAILED"];
const SAY_HELLO = {
  name: "sayHello",
  description: "Greets somebody by name",
  jsonSchema: JSON.stringify({
    type: "object",
    properties: { name: { type: "string", description: "who to greet" } },
    required: ["name"],
  }),
  available: "enabled",
};
const ACCEPT =
  "application/graphql-response+json, application/graphql+json, application/json, " +
  "text/event-stream, multipart/mixed";
const STREAMED = `mutation g($data: GenerateCopilotResponseInput!, $properties: JSONObject) {
  generateCopilotResponse(data: $data, properties: $properties) {
    threadId
    ... on CopilotResponse @defer { status { ... on BaseResponseStatus { code } __typename } }
    messages @stream {
      __typename
      ... on BaseMessageOutput { id createdAt }
      ... on BaseMessageOutput @defer { status { ... on SuccessMessageStatus { code } } }
      ... on TextMessageOutput { content @stream role }
    }
    metaEvents @stream { ... on LangGraphInterruptEvent { type name value } }
  }
}`;
const WHOLE = `mutation g($data: GenerateCopilotResponseInput!) {
  generateCopilotResponse(data: $data) {
    threadId
    status { ... on BaseResponseStatus { code } }
    messages { __typename ... on TextMessageOutput { content } }
  }
}`;

const system = () =>
  new TextMessage({ id: newId(), role: Role.System, content: "You are a terse assistant." });
const user = (content) => new TextMessage({ id: newId(), role: Role.User, content });
const client = (more = {}) => new CopilotRuntimeClient({ url, ...more });

const joinedOf = (response, type, field) =>
  (response?.messages ?? [])
    .filter((message) => message.__typename === type)
    .map((message) => (message[field] ?? []).join(""))
    .join("");

/** One request: everything the client saw until the stream ended. */
async function ask(messages, { more = {}, properties = {}, signal, headers } = {}) {
  const seen = { errors: [], warnings: [], updates: 0, states: new Set(), threw: null, last: null };
  const asking = client({
    headers,
    handleGQLErrors: (error) => seen.errors.push(error),
    handleGQLWarning: (warning) => seen.warnings.push(warning),
  });
  const data = {
    frontend: { actions: [SAY_HELLO], url: PAGE },
    threadId: newId(),
    runId: null,
    extensions: {},
    metaEvents: [],
    messages: convertMessagesToGqlInput(messages),
    metadata: { requestType: CopilotRequestType.Chat },
    agentStates: [],
    forwardedParameters: {},
    context: [],
    ...more,
  };
  const answer = asking.generateCopilotResponse({ data, properties, signal });
  try {
    for await (const value of readAll(asking.asStream(answer))) {
      seen.last = value?.generateCopilotResponse ?? seen.last;
      seen.updates += 1;
      const text = joinedOf(seen.last, "TextMessageOutput", "content");
      const called = joinedOf(seen.last, "ActionExecutionMessageOutput", "arguments");
      seen.states.add(`${text}\u0000${called}`);
    }
  } catch (error) {
    seen.threw = error;
  }
  const shown = filterAdjacentAgentStateMessages(seen.last?.messages ?? []);
  return { ...seen, data, messages: convertGqlOutputToMessages(shown) };
}

async function* readAll(stream) {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function checkEnd(answer) {
  need(!answer.threw, `the stream threw: ${answer.threw?.message}`);
  need(!answer.errors.length, `the client reported: ${answer.errors[0]?.message}`);
  need(answer.last, "no data arrived");
  const { status } = answer.last;
  need(status?.code === "Success", `the status is ${JSON.stringify(status)}`);
}

const textsIn = (answer) => answer.messages.filter((message) => message.isTextMessage());
const textOf = (answer) => textsIn(answer).map((message) => message.content).join("");
const actionIn = (answer) => answer.messages.find((message) => message.isActionExecutionMessage());

test("gql", "availableAgents answers a list of {id,name,description}", async () => {
  const { error, data } = await client().availableAgents().toPromise();
  need(!error, error?.message);
  const agents = data?.availableAgents?.agents;
  need(Array.isArray(agents), "agents is not a list");
  for (const each of agents) {
    const fields = [each.id, each.name, each.description];
    need(fields.every((field) => typeof field === "string"), `this is no agent: ${shorten(each)}`);
  }
  return `${agents.length} agents`;
});

test(
  "gql",
  "plain chat: text grows over several updates, statuses end in Success, threadId comes back",
  async () => {
    const answer = await ask([system(), user(prompts.chat)]);
    checkEnd(answer);
    need(textOf(answer).trim(), "there is no text");
    for (const { status } of textsIn(answer)) {
      need(status?.code === "Success", `the status of a message is ${JSON.stringify(status)}`);
    }
    need(answer.last.threadId === answer.data.threadId, "threadId changed");
    need(answer.states.size >= 3, `only ${answer.states.size} states were seen: not streamed`);
    return `${answer.updates} updates, "${shorten(textOf(answer), 40)}"`;
  },
);

function variables(more) {
  const textMessage = { role: "user", content: prompts.chat };
  const message = { id: "1", createdAt: new Date().toISOString(), textMessage };
  return { data: { frontend: { actions: [] }, messages: [message], ...more } };
}

function readParts(body, boundary) {
  const mark = `--${boundary}`;
  return body
    .split(`\r\n${mark}`)
    .slice(body.startsWith(mark) ? 0 : 1)
    .map((part) => part.slice(part.indexOf("\r\n\r\n") + 4))
    .filter((part) => part.trim().startsWith("{"))
    .map((part) => JSON.parse(part));
}

function checkIncrement({ path, items }) {
  need(Array.isArray(path), "an increment has no path");
  const isPlaced = !items || Number.isInteger(path.at(-1));
  need(isPlaced, `the path of a streamed item does not end in its index: ${JSON.stringify(path)}`);
}

test(
  "gql",
  "wire format: 200, multipart/mixed, path-with-index increments, hasNext closes, " +
    "trailing boundary after each part",
  async () => {
    const given = variables({ metadata: { requestType: "Chat" }, threadId: "t" });
    const body = { operationName: "g", query: STREAMED, variables: { ...given, properties: {} } };
    const reply = await postJson(url, body, ACCEPT);
    need(reply.status === 200, `status ${reply.status}`);
    const kind = reply.headers.get("content-type");
    need(/^multipart\/mixed/i.test(kind), `content-type ${kind}`);
    const boundary = /boundary="?([^";]+)"?/.exec(kind)?.[1] ?? "-";
    const text = await reply.text();
    const parts = readParts(text, boundary);
    need(parts.length >= 3, "there are fewer than 3 parts");
    const [first] = parts;
    need(first.data && first.hasNext === true, "the first part has no data or no hasNext:true");
    need(parts.at(-1).hasNext === false, "the last part has no hasNext:false");
    parts.slice(1).flatMap((part) => part.incremental ?? []).forEach(checkIncrement);
    need(text.trimEnd().endsWith(`--${boundary}--`), "there is no closing boundary");
    return `${parts.length} parts`;
  },
);

test(
  "gql",
  "frontend action: name, streamed JSON arguments, Success status, " +
    "and the follow-up with its result",
  async () => {
    const said = [system(), user(prompts.tool)];
    const first = await ask(said);
    checkEnd(first);
    const action = actionIn(first);
    need(action, "no action came");
    need(action.name === "sayHello", `the name is ${action.name}`);
    need(action.arguments?.name, `the arguments are ${JSON.stringify(action.arguments)}`);
    need(action.status?.code === "Success", `the status is ${JSON.stringify(action.status)}`);
    const result = new ResultMessage({
      id: `result-${action.id}`,
      actionExecutionId: action.id,
      actionName: action.name,
      result: ResultMessage.encodeResult({ greeted: action.arguments.name }),
    });
    const second = await ask([...said, action, result]);
    checkEnd(second);
    need(textOf(second).trim(), "the follow-up has no text");
    return `${JSON.stringify(action.arguments)} -> "${shorten(textOf(second), 40)}"`;
  },
);

test("gql", "image message is accepted", async () => {
  const image = new ImageMessage({ id: newId(), role: Role.User, format: "png", bytes: PNG });
  checkEnd(await ask([system(), image, user(prompts.chat)]));
});

test(
  "gql",
  "properties, extra headers, context and forwardedParameters are accepted",
  async () => {
    const more = {
      context: [{ description: "page", value: "cats" }],
      forwardedParameters: { temperature: 0.2, maxTokens: 64 },
    };
    const properties = { authorization: "tok", nested: { a: 1 } };
    const headers = { Authorization: "Bearer x" };
    checkEnd(await ask([system(), user(prompts.chat)], { properties, headers, more }));
  },
);

test("gql", "no version-mismatch warning reaches the user", async () => {
  const { warnings } = await ask([user(prompts.chat)]);
  need(!warnings.length, shorten(String(warnings[0]), 120));
});

test("gql", "a query without @stream/@defer gets one JSON answer", async () => {
  const body = { query: WHOLE, variables: variables({ metadata: {} }) };
  const reply = await postJson(url, body, "application/json");
  const kind = reply.headers.get("content-type");
  need(reply.status === 200 && /json/.test(kind), `${reply.status} ${kind}`);
  const found = await reply.json();
  const response = found.data?.generateCopilotResponse;
  need(response?.messages?.[0]?.content?.join("").trim(), shorten(found, 200));
  need(response.threadId, "no threadId was made");
});

const loadState = (agentName, threadId = newId()) =>
  client().loadAgentState({ threadId, agentName }).toPromise();

test(
  "gql",
  "loadAgentState of an unknown agent: GraphQL error with extensions.code AGENT_NOT_FOUND",
  async () => {
    const { error } = await loadState("no-such-agent", "t");
    need(error, "there is no error");
    const told = error.graphQLErrors?.[0]?.extensions;
    need(told?.code === "AGENT_NOT_FOUND", `extensions ${shorten(told ?? error.message)}`);
  },
);

const sessionOf = (agentName, threadId = newId()) => ({ agentSession: { agentName, threadId } });

if (gqlAgent) {
  test("gql", `loadAgentState of ${gqlAgent}: strings for state and messages`, async () => {
    const { error, data } = await loadState(gqlAgent);
    need(!error, error?.message);
    JSON.parse(data.loadAgentState.state);
    JSON.parse(data.loadAgentState.messages);
    const kind = typeof data.loadAgentState.threadExists;
    need(kind === "boolean", `threadExists is a ${kind}`);
  });

  test("gql", `agent session with ${gqlAgent} runs`, async () => {
    const agentStates = [{ agentName: gqlAgent, state: '{"count":1}' }];
    const more = { ...sessionOf(gqlAgent), agentStates };
    const answer = await ask([user(prompts.chat)], { more });
    checkEnd(answer);
    need(answer.messages.length, "there is no message");
    for (const message of answer.messages.filter((each) => each.isAgentStateMessage())) {
      const isState = typeof message.state === "object" && message.agentName === gqlAgent;
      need(isState, `this is no state of ${gqlAgent}: ${shorten(message)}`);
    }
  });
}

if (hasErrors) {
  test("gql", "a model error reaches the client and the stream ends", async () => {
    const { last, threw } = await ask([user(prompts.error)]);
    const status = last?.status;
    const isFailure = threw || status?.__typename === "FailedResponseStatus";
    need(isFailure, `no failure was seen: ${JSON.stringify(status)}`);
    if (!status) return threw.message;
    need(FAILURES.includes(status.reason), `the reason is ${status.reason}`);
    return `${status.reason}: ${status.details?.description}`;
  });
}

test("gql", "abort in the middle, then the next request works", async () => {
  const leaving = new AbortController();
  setTimeout(() => leaving.abort(), 250);
  await ask([user(prompts.long)], { signal: leaving.signal });
  await sleep(200);
  checkEnd(await ask([user(prompts.chat)]));
});

test("gql", "two requests at once do not mix", async () => {
  const [chat, tool] = await Promise.all([ask([user(prompts.chat)]), ask([user(prompts.tool)])]);
  checkEnd(chat);
  checkEnd(tool);
  need(!actionIn(chat), "the chat got the action of the other request");
  need(actionIn(tool), "the action was lost");
});

test("gql", "CORS preflight of the browser client", () =>
  checkPreflight(url, "content-type,x-copilotkit-runtime-client-gql-version"));

test(
  "gql",
  "unknown agent in agentSession is an error, and the server still works afterwards",
  async () => {
    const more = sessionOf("no-such-agent", "t");
    const { threw, last } = await ask([user(prompts.chat)], { more });
    need(threw || last?.status?.code === "Failed", "there is no error");
    checkEnd(await ask([user(prompts.chat)]));
  },
);
