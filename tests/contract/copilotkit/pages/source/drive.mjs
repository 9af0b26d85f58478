// node drive.mjs PAGE_URL SHOTS_FOLDER CHROMIUM STEP…: takes these steps on the page, in this order.
import { chromium } from "playwright-core";

const [pageUrl, shots, executablePath, ...wanted] = process.argv.slice(2);
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
const isEmpty = (box) => box.evaluate((found) => found.value === "");
const say = async (text) => {
  const box = page.locator("textarea").first();
  await box.fill(text, LIMIT);
  // A chat that does not know its runtime yet keeps the text: a person presses again.
  for (const end = Date.now() + LIMIT.timeout; Date.now() < end; ) {
    await box.press("Enter");
    for (let i = 0; i < 20; i++) {
      if (await isEmpty(box)) return;
      await page.waitForTimeout(50);
    }
  }
  throw new Error(`the chat did not take: ${text}`);
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
  cards: async () => {
    await say('twice:confirmOrder:[{"item":"apples"},{"item":"pears"}]');
    for (const item of ["apples", "pears"]) {
      await page.locator("button:enabled", { hasText: `Confirm ${item}` }).click(LIMIT);
    }
    await shows("The tool said: yes to pears");
    const cards = await page.locator("button", { hasText: "Confirm" }).count();
    if (cards !== 2) throw new Error(`${cards} cards are shown`);
  },
  thought: async () => {
    await say("THINK");
    await shows("I ponder as I was told to.");
  },
  document: async () => {
    const file = { name: "order.txt", mimeType: "text/plain", buffer: Buffer.from("ECHO plums") };
    await page.locator("input[type=file]").first().setInputFiles(file);
    await page.getByText("order.txt").first().waitFor(LIMIT);
    await say("What is in it?");
    await shows("It was read: ECHO plums");
  },
  error: async () => {
    await say("ERR500");
    await shows("The model failed as it was told to.");
  },
};
const done = [];
let failed = "";
for (const name of wanted) {
  try {
    await steps[name]();
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
