// node agents.mjs URL gql|auto|rest|single AGENT TURNS
// Talks to one agent with an unmodified client; TURNS is a JSON list of {say}, {answer} or {result}.
// Prints what the client made of each turn.
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const [url, transport, agent, turns] = process.argv.slice(2);
console.warn = console.error = console.debug = () => {};
globalThis.window ??= { location: { origin: "http://localhost:3000", href: "http://localhost:3000/" }, addEventListener() {}, removeEventListener() {} };
const uid = () => crypto.randomUUID();

async function gql(list) {
  const G = require("@copilotkit/runtime-client-gql");
  const threadId = uid();
  const errors = [];
  const client = new G.CopilotRuntimeClient({ url, handleGQLErrors: (e) => errors.push(e.message) });
  let history = [], asked = [];
  const told = [];
  for (const turn of list) {
    const metaEvents = [];
    if (turn.say) history.push(new G.TextMessage({ id: uid(), role: G.Role.User, content: turn.say }));
    if (turn.answer) metaEvents.push({ name: asked[0].name, value: asked[0].value, response: turn.answer });
    if (turn.result) {
      const call = history.findLast((m) => m.isActionExecutionMessage());
      history.push(new G.ResultMessage({ id: "result-" + call.id, actionExecutionId: call.id, actionName: call.name, result: turn.result }));
    }
    const data = { frontend: { actions: [], url: "http://localhost:3000/" }, threadId, runId: null, extensions: {}, metaEvents, messages: G.convertMessagesToGqlInput(history), metadata: { requestType: G.CopilotRequestType.Chat }, agentStates: [], forwardedParameters: {}, context: [], agentSession: { agentName: agent, threadId } };
    const reader = client.asStream(client.generateCopilotResponse({ data, properties: {} })).getReader();
    let last = null;
    const seen = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      last = value?.generateCopilotResponse ?? last;
      for (const m of last?.messages ?? []) if (m.__typename === "AgentStateMessageOutput" && !seen.some((s) => s.id === m.id)) seen.push({ id: m.id, node: m.nodeName, active: m.active, state: JSON.parse(m.state) });
    }
    asked = last.metaEvents ?? [];
    const inMessages = asked.flatMap((e) => (e.data?.messages ? G.convertGqlOutputToMessages(e.data.messages) : []));
    const messages = [...G.convertGqlOutputToMessages(G.filterAdjacentAgentStateMessages(last.messages)), ...inMessages];
    history = [...history, ...messages.filter((m) => !m.isAgentStateMessage())];
    told.push({
      status: last.status?.code,
      states: seen.map(({ id, ...rest }) => rest),
      kept: messages.filter((m) => m.isAgentStateMessage()).length,
      text: messages.filter((m) => m.isTextMessage()).map((m) => m.content).join("\n"),
      calls: messages.filter((m) => m.isActionExecutionMessage()).map((m) => ({ name: m.name, arguments: m.arguments, status: m.status?.code })),
      results: messages.filter((m) => m.isResultMessage()).map((m) => ({ name: m.actionName, result: m.result })),
      asked: asked.map((e) => ({ name: e.name, value: e.value ?? null })),
      errors,
    });
  }
  return told;
}

async function agui(list) {
  const { CopilotKitCore } = require("@copilotkit/core");
  const core = new CopilotKitCore({ runtimeUrl: url, runtimeTransport: transport });
  const errors = [];
  core.subscribe({ onError: ({ error, code }) => errors.push(`${code}: ${error.message}`) });
  for (let i = 0; i < 200 && core.runtimeConnectionStatus !== "connected"; i++) await new Promise((r) => setTimeout(r, 25));
  const one = core.getAgent(agent);
  one.threadId = uid();
  const told = [];
  let asked = [];
  for (const turn of list) {
    const steps = [], states = [], custom = [];
    const watch = one.subscribe({
      onStepStartedEvent: ({ event }) => { steps.push("start " + event.stepName); },
      onStepFinishedEvent: ({ event }) => { steps.push("end " + event.stepName); },
      onStateChanged: ({ state }) => { states.push(structuredClone(state)); },
      onCustomEvent: ({ event }) => { custom.push({ name: event.name, value: event.value }); },
    });
    const before = one.messages.length;
    if (turn.say) one.addMessage({ id: uid(), role: "user", content: turn.say });
    const forwardedProps = turn.answer ? { command: { resume: turn.answer, interruptEvent: asked[0].value } } : {};
    await core.runAgent({ agent: one, forwardedProps });
    watch.unsubscribe();
    asked = custom.filter((e) => e.name === "on_interrupt");
    told.push({ steps, states, asked, custom: custom.map((e) => e.name), text: one.messages.slice(before).filter((m) => m.role === "assistant").map((m) => m.content ?? "").join("\n"), errors });
  }
  return told;
}

const told = await (transport === "gql" ? gql : agui)(JSON.parse(turns));
console.log(JSON.stringify(told));
process.exit(0);
