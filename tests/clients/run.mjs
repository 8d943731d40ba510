// node run.mjs CHROMIUM URL SECONDS: opens the page in headless Chromium, waits for the Flash programs to end, and
// prints one JSON object: `ended`, the `reports` it made, and a `log` of the browser's console and of
// the requests that failed.  Playwright ends the browser when this process ends, however it ends.
import { chromium } from "playwright-core";

const [executablePath, url, seconds] = process.argv.slice(2);
const log = [];
const browser = await chromium.launch({
  executablePath,
  // Root, as in a container, has no sandbox; the rest keeps the browser from calling home.
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--no-first-run"],
});
let ended = false;
let reports = {};
try {
  const page = await browser.newPage();
  page.on("console", (message) => log.push(`console ${message.type()}: ${message.text()}`));
  // Ruffle does not survive an error of its own: no use in waiting for what will not come.
  const dead = new Promise((resolve, reject) => {
    page.on("pageerror", (error) => reject(new Error(`page error: ${error.message}`)));
    page.on("crash", () => reject(new Error("the page crashed")));
  });
  dead.catch(() => {}); // it may happen before anybody waits for it
  page.on("requestfailed", (request) => log.push(`${request.url()}: ${request.failure()?.errorText}`));
  page.on("response", (reply) => {
    if (!reply.ok()) log.push(`${reply.request().method()} ${reply.url()}: ${reply.status()}`);
  });
  await page.goto(url);
  const end = page.waitForFunction("running === 0", null, { timeout: seconds * 1000, polling: 50 });
  await Promise.race([end, dead]).then(() => { ended = true; }, (error) => log.push(error.message));
  // A page that hangs has no answer to this either.
  const patience = new Promise((resolve) => { setTimeout(resolve, 5000, {}).unref(); });
  reports = await Promise.race([page.evaluate("reports"), patience]);
} catch (error) {
  log.push(error.message);
} finally {
  await browser.close();
}
process.stdout.write(JSON.stringify({ ended, reports, log }));
