// What both generations share: the options, the list of cases, and small helpers.

const words = process.argv.slice(2);
const named = new Map();
const plain = [];
for (let at = 0; at < words.length; at += 1) {
  if (words[at].startsWith("--")) {
    named.set(words[at].slice(2), words[at + 1]);
    at += 1;
  } else {
    plain.push(words[at]);
  }
}

const option = (name, usual) => named.get(name) ?? usual;

export const url = plain[0]?.replace(/\/$/, "");
export const key = option("key", null);
export const only = option("only", "both");
export const agent = option("agent", "default");
export const gqlAgent = option("gql-agent", null);
export const wanted = option("case", "");
export const transports = option("transports", "auto,rest,single").split(",");
export const limit = Number(option("timeout", 20000));
export const prompts = {
  chat: option("prompt-chat", "hi"),
  tool: option("prompt-tool", 'call:sayHello:{"name":"Ada Lovelace"}'),
  error: option("prompt-error", "ERR500"),
  long: option("prompt-long", "LONG"),
};
export const hasErrors = prompts.error !== "none";

export const cases = [];

export function test(group, name, run) {
  cases.push({ group, name, run });
}

export function need(condition, message) {
  if (!condition) throw new Error(message);
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
export const newId = () => crypto.randomUUID();
export const shorten = (value, length = 160) =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? String(value))).slice(0, length);

export function postJson(address, body, accept) {
  const headers = { "content-type": "application/json", ...(accept ? { accept } : {}) };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return fetch(address, { method: "POST", headers, body: text });
}

const PAGE = "http://localhost:3000";

export async function checkPreflight(address, headers) {
  const reply = await fetch(address, {
    method: "OPTIONS",
    headers: {
      origin: PAGE,
      "access-control-request-method": "POST",
      "access-control-request-headers": headers,
    },
  });
  need(reply.status >= 200 && reply.status < 300, `status ${reply.status}`);
  const origin = reply.headers.get("access-control-allow-origin");
  need(origin === "*" || origin === PAGE, `allow-origin ${origin}`);
  const allowed = (reply.headers.get("access-control-allow-headers") ?? "").toLowerCase();
  const isAllowed = allowed === "*" || headers.split(",").every((name) => allowed.includes(name));
  need(isAllowed, `allow-headers ${allowed}`);
  const methods = reply.headers.get("access-control-allow-methods") ?? "POST";
  need(/post|\*/i.test(methods), `allow-methods ${methods}`);
}
