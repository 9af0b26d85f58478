// node drive.mjs PAGE_URL SHOTS_FOLDER CHROMIUM: chats, lets an action run, meets an error.
import { chromium } from "playwright-core";

const [pageUrl, shots, executablePath] = process.argv.slice(2);
const LIMIT = { timeout: 30000 };
const args = [
  "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
  // The browser itself asks for its maker's hosts at every start; here no name but ours is known.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];
const browser = await chromium.launch({ executablePath, args, headless: true });
const page = await browser.newPage({ viewport: { width: 900, height: 800 } });
const elsewhere = new Set();
const complaints = [];
page.on("console", (line) => line.type() === "error" && complaints.push(line.text().slice(0, 300)));
await page.route("**/*", (route) => {
  const { hostname } = new URL(route.request().url());
  if (hostname === "127.0.0.1") return route.continue();
  elsewhere.add(hostname);
  return route.abort();
});
const say = async (text) => {
  const box = page.locator("textarea").first();
  await box.fill(text, LIMIT);
  await box.press("Enter");
};
const shows = (text, at = 0) => page.getByText(text).nth(at).waitFor({ state: "visible", ...LIMIT });
const steps = {
  load: async () => {
    await page.goto(pageUrl, LIMIT);
    await shows("Hello, this is the page.");
  },
  chat: async () => {
    await say("hi");
    await shows("Hello from the fake model.");
  },
  action: async () => {
    await say('call:sayHello:{"name":"Ada"}');
    await page.locator("#greeted", { hasText: "Ada" }).waitFor(LIMIT);
    await shows("The tool said:");
  },
  error: async () => {
    await say("ERR500");
    await shows("The model failed as it was told to.");
  },
};
const done = [];
let failed = "";
for (const [name, step] of Object.entries(steps)) {
  try {
    await step();
    done.push(name);
  } catch (error) {
    failed = `${name}: ${String(error).split("\n")[0]}`;
  }
  await page.screenshot({ path: `${shots}/${name}.png` });
  if (failed) break;
}
await browser.close();
console.log(JSON.stringify({ done, failed, elsewhere: [...elsewhere], complaints }));
process.exit(failed ? 1 : 0);
