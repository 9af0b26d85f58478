// node kit.mjs RUNTIME-URL [options]: the README beside it tells of them.
import { cases, key, limit, only, url, wanted } from "./cases.mjs";

if (!url) {
  process.stderr.write("usage: node kit.mjs RUNTIME-URL [options]\n");
  process.exit(2);
}

// The clients write to the console, leave promises alone, and look for the window of a browser.
const ignore = () => {};
console.warn = ignore;
console.error = ignore;
console.debug = ignore;
process.on("unhandledRejection", ignore);
globalThis.window ??= {
  location: { origin: "http://localhost:3000", href: "http://localhost:3000/" },
  addEventListener: ignore,
  removeEventListener: ignore,
};

if (key) {
  const send = globalThis.fetch;
  globalThis.fetch = (address, options = {}) => {
    const headers = new Headers(options.headers ?? (address.headers || {}));
    if (options.method !== "OPTIONS") headers.set("authorization", `Bearer ${key}`);
    return send(address, { ...options, headers });
  };
}

await import("./gql.mjs");
await import("./agui.mjs");

async function runInTime(run) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`it did not end within ${limit} ms`)), limit);
  });
  try {
    return await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
}

const count = { passed: 0, failed: 0 };
for (const { group, name, run } of cases) {
  if (only !== "both" && only !== group) continue;
  if (wanted && !`${group} ${name}`.includes(wanted)) continue;
  const began = Date.now();
  try {
    const note = await runInTime(run);
    count.passed += 1;
    const told = note ? `  (${note})` : "";
    process.stdout.write(`PASS ${group} ${name}${told} [${Date.now() - began} ms]\n`);
  } catch (error) {
    count.failed += 1;
    const told = String(error?.message ?? error).replace(/\s+/g, " ").slice(0, 300);
    process.stdout.write(`FAIL ${group} ${name}: ${told}\n`);
  }
}
process.stdout.write(`${count.passed} passed, ${count.failed} failed\n`);
process.exitCode = count.failed ? 1 : 0;
process.exit();
