// The second generation: @copilotkit/core over AG-UI, and AG-UI's own clients.
import { createRequire } from "node:module";
import {
  agent, checkPreflight, hasErrors, need, newId, postJson, prompts, shorten, sleep, test,
  transports, url,
} from "./cases.mjs";

const require = createRequire(import.meta.url);
const { CopilotKitCore } = require("@copilotkit/core");
const { HttpAgent } = require("@ag-ui/client");
const Old = require("agui-client-042");
const { z } = require("zod");
const newest = require("@ag-ui/core/schemas");

const STOP_MS = 5000;
const DESCRIPTION = "Greets somebody by name";

const isReached = (address) => fetch(address).then((reply) => reply.ok, () => false);
const hasRest =
  transports.includes("rest") || (transports.includes("auto") && (await isReached(`${url}/info`)));

/** A core that is connected, and the errors it reports. */
async function connect(transport) {
  const headers = { "X-Conformance": "1" };
  const core = new CopilotKitCore({ runtimeUrl: url, runtimeTransport: transport, headers });
  const errors = [];
  core.subscribe({ onError: ({ error, code }) => errors.push(`${code}: ${error.message}`) });
  for (let tries = 0; tries < 200; tries += 1) {
    if (["connected", "error"].includes(core.runtimeConnectionStatus)) break;
    await sleep(25);
  }
  const status = core.runtimeConnectionStatus;
  need(status === "connected", `the connection is ${status}: ${errors[0] ?? ""}`);
  return { core, errors };
}

/** The agent of a connected core, in a new thread in which this was said. */
async function begin(transport, content) {
  const { core, errors } = await connect(transport);
  const talking = core.getAgent(agent);
  talking.threadId = newId();
  talking.addMessage({ id: newId(), role: "user", content });
  return { core, errors, talking };
}

const textOf = (talking) =>
  talking.messages
    .filter((message) => message.role === "assistant")
    .map((message) => message.content ?? "")
    .join("");

const needNoError = (errors) => need(!errors.length, errors[0]);

const input = (more = {}) => ({
  threadId: newId(),
  runId: newId(),
  state: {},
  messages: [{ id: newId(), role: "user", content: prompts.chat }],
  tools: [],
  context: [],
  forwardedProps: {},
  ...more,
});

/** One run without a client, by REST where the runtime has it, else by its single route. */
function runAgent(agentId, body, accept) {
  return hasRest
    ? postJson(`${url}/agent/${encodeURIComponent(agentId)}/run`, body, accept)
    : postJson(url, { method: "agent/run", params: { agentId }, body }, accept);
}

const run = (body) => runAgent(agent, body, "text/event-stream");

const needStatus = (reply, status) => need(reply.status === status, `status ${reply.status}`);

async function checkChat(transport) {
  const { core, errors, talking } = await begin(transport, prompts.chat);
  let deltas = 0;
  talking.subscribe({ onTextMessageContentEvent: () => { deltas += 1; } });
  await core.runAgent({ agent: talking });
  needNoError(errors);
  need(textOf(talking).trim(), "the assistant said nothing");
  need(deltas >= 2, `there were only ${deltas} events of content`);
  return `${deltas} deltas, "${shorten(textOf(talking), 40)}"`;
}

async function checkTool(transport) {
  const { core, errors, talking } = await begin(transport, prompts.tool);
  let seen = null;
  core.addTool({
    name: "sayHello",
    description: DESCRIPTION,
    parameters: z.object({ name: z.string() }),
    handler: async (given) => {
      seen = given;
      return { greeted: given.name };
    },
  });
  await core.runAgent({ agent: talking });
  needNoError(errors);
  need(seen?.name, "the handler was not called");
  need(talking.messages.some((message) => message.role === "tool"), "there is no tool message");
  const last = talking.messages.at(-1);
  need(last.role === "assistant" && (last.content ?? "").trim(), "there is no closing answer");
  return JSON.stringify(seen);
}

async function checkReplay(transport) {
  const { core, errors, talking } = await begin(transport, prompts.chat);
  await core.runAgent({ agent: talking });
  const said = textOf(talking);
  talking.setMessages([]);
  await core.connectAgent({ agent: talking });
  needNoError(errors);
  const replayed = textOf(talking);
  talking.setMessages([]);
  talking.threadId = newId();
  await core.connectAgent({ agent: talking });
  needNoError(errors);
  need(talking.messages.length === 0, "a new thread has messages");
  need(replayed === said, `replayed ${JSON.stringify(shorten(replayed, 60))}`);
}

async function checkStop(transport) {
  const { core, errors, talking } = await begin(transport, prompts.long);
  const running = core.runAgent({ agent: talking });
  await sleep(300);
  core.stopAgent({ agent: talking });
  const began = Date.now();
  await running;
  need(Date.now() - began < STOP_MS, "the run did not end");
  needNoError(errors);
}

async function checkError(transport) {
  const { core, errors, talking } = await begin(transport, prompts.error);
  await core.runAgent({ agent: talking }).catch((error) => errors.push(`reject: ${error.message}`));
  need(errors.length, "no error was reported");
  need(/run_error|run_failed|agent_run/.test(errors[0]), errors[0]);
  return shorten(errors[0], 90);
}

for (const transport of transports) {
  const name = (text) => `[${transport}] ${text}`;

  test("agui", name(`/info: connects, lists agent "${agent}"`), async () => {
    const { core } = await connect(transport);
    const listed = Object.keys(core.agents);
    need(core.agents[agent], `the agents are ${listed}`);
    return `transport ${core.runtimeTransport}, version ${core.runtimeVersion}, agents ${listed}`;
  });
  test("agui", name("plain chat through @copilotkit/core"), () => checkChat(transport));
  test("agui", name("frontend tool round trip through @copilotkit/core"), () =>
    checkTool(transport));
  test("agui", name("connect replays the thread; a new thread is empty"), () =>
    checkReplay(transport));
  test("agui", name("stop ends a long run"), () => checkStop(transport));
  if (hasErrors) {
    test("agui", name("a model error arrives as RUN_ERROR"), () => checkError(transport));
  }
}

const dataOf = (block) =>
  block
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trimStart())
    .join("\n");

function checkEvent(event) {
  for (const [version, schemas] of [["1.0", newest], ["0.0.42", Old]]) {
    const { success, error } = schemas.EventSchemas.safeParse(event);
    const problem = shorten(error?.issues?.[0] ?? "");
    need(success, `${event.type} is not valid in ${version}: ${problem}`);
  }
  for (const [key, value] of Object.entries(event)) {
    need(value !== null, `${event.type}.${key} is null`);
  }
}

test(
  "agui",
  "event stream: SSE with LF, RUN_STARTED first, RUN_FINISHED last, " +
    "every event valid in AG-UI 1.0 and 0.0.42, no nulls",
  async () => {
    const reply = await run(input());
    needStatus(reply, 200);
    const kind = reply.headers.get("content-type");
    need(/^text\/event-stream/.test(kind), `content-type ${kind}`);
    const body = await reply.text();
    need(!body.includes("\r"), "there is a CR in the stream: the client splits at \\n\\n only");
    const events = body.split("\n\n").map(dataOf).filter(Boolean).map((text) => JSON.parse(text));
    need(events[0]?.type === "RUN_STARTED", `the first event is ${events[0]?.type}`);
    need(events.at(-1)?.type === "RUN_FINISHED", `the last event is ${events.at(-1)?.type}`);
    events.forEach(checkEvent);
    return `${events.length} events`;
  },
);

async function checkDirectly(Client) {
  const address = `${url}/agent/${encodeURIComponent(agent)}/run`;
  const talking = new Client({ url: address, agentId: agent, threadId: newId() });
  const properties = { name: { type: "string" } };
  const parameters = { type: "object", properties, required: ["name"] };
  const tools = [{ name: "sayHello", description: DESCRIPTION, parameters }];
  talking.addMessage({ id: newId(), role: "user", content: prompts.tool });
  await talking.runAgent({ tools });
  const [call] = talking.messages.flatMap((message) => message.toolCalls ?? []);
  need(call?.function?.name === "sayHello", "there is no tool call");
  const given = JSON.parse(call.function.arguments);
  const content = JSON.stringify({ greeted: given.name });
  talking.addMessage({ id: newId(), role: "tool", toolCallId: call.id, content });
  await talking.runAgent({ tools });
  need(textOf(talking).trim(), "there is no closing text");
  return JSON.stringify(given);
}

if (hasRest) {
  for (const [version, Client] of [["1.0.0", HttpAgent], ["0.0.42", Old.HttpAgent]]) {
    const name = `HttpAgent straight at /agent/${agent}/run, tool round trip`;
    test("agui", `@ag-ui/client ${version} ${name}`, () => checkDirectly(Client));
  }
}

test("agui", "image content part is accepted", async () => {
  const source = { type: "data", value: "iVBORw0KGgo=", mimeType: "image/png" };
  const content = [{ type: "text", text: prompts.chat }, { type: "image", source }];
  const reply = await run(input({ messages: [{ id: newId(), role: "user", content }] }));
  needStatus(reply, 200);
  need((await reply.text()).includes("RUN_FINISHED"), "there is no RUN_FINISHED");
});

test(
  "agui",
  "AG-UI 1.0 input fields (protocolVersion, parentRunId, resume) are accepted",
  async () => {
    const body = input({ protocolVersion: "1.0", parentRunId: newId(), resume: [] });
    const reply = await run(body);
    needStatus(reply, 200);
    await reply.text();
  },
);

test("agui", "unknown agent: HTTP 404 with {error,message}", async () => {
  const reply = await runAgent("no-such-agent", input());
  needStatus(reply, 404);
  const told = await reply.json();
  need(told.error && told.message, JSON.stringify(told));
});

test("agui", "a body that is no RunAgentInput: HTTP 400", async () =>
  needStatus(await run({}), 400));

if (transports.includes("single")) {
  test("agui", "single route: unknown method is HTTP 400", async () =>
    needStatus(await postJson(url, '{"method":"no/such"}'), 400));
}

test("agui", "stop of an idle thread: 200 {stopped:false}", async () => {
  const threadId = newId();
  const reply = hasRest
    ? await fetch(`${url}/agent/${agent}/stop/${threadId}`, { method: "POST" })
    : await postJson(url, { method: "agent/stop", params: { agentId: agent, threadId } });
  needStatus(reply, 200);
  need((await reply.json()).stopped === false, "stopped is not false");
});

test("agui", "CORS preflight", () =>
  checkPreflight(hasRest ? `${url}/agent/${agent}/run` : url, "content-type,authorization"));
