// Start of the page: login, views, keyboard, and the way of changes into the views.

import { announce, byId, el, fill, keep } from "./dom.js";
import * as detail from "./detail.js";
import { call, follow, login, logout, onConnection, onLoggedOut, tokenOfAddress, unfollow } from "./link.js";
import * as panels from "./panels.js";
import * as questions from "./questions.js";
import { Timeline } from "./timeline.js";

const VIEWS = ["timeline", "hooks", "coverage", "trust", "what-if"];

const KEYS = [
  ["?", "this list"],
  ["g, n", "first question, next question"],
  ["a, d", "approve or deny the question with the focus"],
  ["r", "deny it with a reason; Enter in the reason denies"],
  ["e", "edit its input; Ctrl Enter approves the new input"],
  ["s", "tick “for this session” of the question"],
  ["1 – 5", "timeline, hooks, coverage, trust, what if"],
  ["j, k", "next and previous event (or the arrow keys)"],
  ["Enter", "open the event"],
  ["/", "search"],
  ["[, ]", "previous and next session"],
  ["t", "newest event"],
  ["Esc", "close, or clear the search"],
];

let overview = { sessions: [], hooks: [], status: {} };
let chosen = null;
let view = "timeline";
let version = null;
const timeline = new Timeline({ open: (id) => detail.open(id) });

// Theme

const theme = (name) => {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
};
theme(keep.get("theme"));
byId("theme").addEventListener("click", () => {
  const isDark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  keep.set("theme", isDark ? "light" : "dark");
  theme(isDark ? "light" : "dark");
});

// Login

function showLogin(problem = "") {
  unfollow();
  byId("live").hidden = true;
  byId("logout").hidden = true;
  byId("login").hidden = false;
  byId("login-error").textContent = problem;
  byId("code").focus();
}

onConnection(questions.connected);
onLoggedOut(() => showLogin(keep.get("page") ? "The session has expired. Log in again." : ""));

byId("login-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  byId("login-error").textContent = "";
  try {
    await login(byId("code").value.trim());
    byId("code").value = "";
    start();
  } catch (error) {
    byId("login-error").textContent = error.message;
  }
});

byId("logout").addEventListener("click", async () => { await logout(); showLogin(); });

// Views

function showView(name, focus = false) {
  view = name;
  for (const other of VIEWS) {
    byId(`view-${other}`).hidden = other !== name;
    const tab = byId(`tab-${other}`);
    tab.setAttribute("aria-selected", other === name);
    tab.tabIndex = other === name ? 0 : -1;
    if (other === name && focus) tab.focus();
  }
  if (name === "hooks") panels.hooks(overview.hooks, overview.status, chooseHook);
  if (name === "coverage") panels.coverage();
  if (name === "trust") panels.trust();
  if (name === "timeline") timeline.draw(true);
}

for (const name of VIEWS) byId(`tab-${name}`).addEventListener("click", () => showView(name));
document.querySelector(".tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  showView(VIEWS[(VIEWS.indexOf(view) + step + VIEWS.length) % VIEWS.length], true);
  event.preventDefault();
});

function choose(session) {
  chosen = session;
  timeline.set({ session: session?.session ?? null, agent: session?.agent ?? null, subagent: null, hook: null });
  panels.sessions(overview.sessions, chosen, choose);
  byId("lanes").hidden = true;
}

function chooseHook(hook) {
  showView("timeline");
  byId("filter-text").value = "";
  chosen = null;
  timeline.set({ session: null, agent: null, subagent: null, text: "", hook });
  panels.sessions(overview.sessions, chosen, choose);
  announce(`Events of the hook ${hook}`);
}

function step(by) {
  const all = [null, ...overview.sessions];
  const at = all.findIndex((session) => session?.session === chosen?.session && session?.agent === chosen?.agent);
  choose(all[Math.max(0, Math.min(all.length - 1, at + by))]);
}

// Data

async function readOverview() {
  try {
    overview = await call("/api/overview");
  } catch { return; }
  panels.sessions(overview.sessions, chosen, choose);
  if (view === "hooks") panels.hooks(overview.hooks, overview.status, chooseHook);
}

let reading = null;
/** Reads the overview soon, at most once in a while. */
function readSoon() {
  reading ??= setTimeout(() => { reading = null; readOverview(); }, 700);
}

async function readQuestions() {
  try {
    questions.show(await call("/api/approvals"));
  } catch { /* the connection shows it */ }
}

function readAll() {
  readOverview();
  readQuestions();
  timeline.reload();
}

function handle(name, data) {
  if (name === "hello") {
    // Another version of the process has other files.
    if (version !== null && version !== data) { location.reload(); return; }
    version = data;
    readAll();
  } else if (name === "reset") {
    readAll();
  } else if (name === "changes") {
    const changes = JSON.parse(data);
    timeline.add(changes.events);
    readSoon();
  } else if (name === "approvals") {
    questions.show(JSON.parse(data));
    readSoon();
  }
}

function start() {
  byId("login").hidden = true;
  byId("live").hidden = false;
  byId("logout").hidden = false;
  follow(handle);
}

// Keyboard

const help = byId("help");
fill(help,
  el("header", { class: "drawer-head" }, el("h2", { id: "help-title" }, "Keyboard"), el("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => help.close() }, "✕")),
  el("dl", { class: "keys" }, KEYS.map(([key, text]) => [el("dt", {}, key.split(", ").map((name, index) => [index ? " " : "", el("kbd", {}, name)])), el("dd", {}, text)])));
byId("help-open").addEventListener("click", () => help.showModal());
for (const dialog of [help, byId("detail")]) {
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}

const isTyping = (element) => element instanceof HTMLInputElement ? !["checkbox", "button", "submit"].includes(element.type) : element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement;

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("live").hidden) return;
  if (event.key === "Escape" && document.activeElement === byId("filter-text")) {
    byId("filter-text").value = "";
    timeline.set({ text: "", hook: null });
    byId("rows").focus();
    return;
  }
  if (isTyping(document.activeElement)) return;
  if (help.open) return;
  const isReading = detail.isOpen();
  if (event.key === "j" || event.key === "k") {
    if (view !== "timeline") return;
    timeline.move(event.key === "j" ? 1 : -1);
    if (isReading) timeline.openSelected();
    event.preventDefault();
    return;
  }
  if (isReading) return;
  if (questions.key(event.key, event.repeat)) { event.preventDefault(); return; }
  if (event.repeat) return;
  const actions = {
    "?": () => help.showModal(),
    g: () => questions.focusNext(0),
    n: () => questions.focusNext(1),
    "/": () => { showView("timeline"); byId("filter-text").focus(); },
    t: () => { showView("timeline"); byId("rows").scrollTop = 0; timeline.draw(); },
    "[": () => step(-1),
    "]": () => step(1),
    Enter: () => {
      // Buttons and cards have their own meaning of the key.
      if (document.activeElement === document.body || document.activeElement === byId("main")) timeline.openSelected();
      else return false;
    },
  };
  VIEWS.forEach((name, index) => { actions[String(index + 1)] = () => showView(name); });
  const action = actions[event.key];
  if (!action || action() === false) return;
  event.preventDefault();
});

setInterval(() => questions.tick(), 1000);
// Ages are texts, so they are written again now and then.
setInterval(() => { if (!byId("live").hidden) panels.sessions(overview.sessions, chosen, choose); }, 20_000);
panels.whatIf((id) => detail.open(id));

const token = tokenOfAddress();
if (token) {
  login(token).then(start, (error) => (keep.get("page") ? start() : showLogin(error.message)));
} else if (keep.get("page")) {
  start();
} else {
  showLogin();
}
