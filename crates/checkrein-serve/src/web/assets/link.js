// Login, requests and the stream of changes.

import { byId, keep } from "./dom.js";

/** Time without a message after which the connection counts as broken. The process sends one every 10 s. */
const SILENCE = 25_000;

export class Refused extends Error {
  constructor(status, body) {
    super(body?.error ?? `status ${status}`);
    this.status = status;
    this.body = body;
  }
}

let loggedOut = () => {};

/** Registers a function that is called when the session is no longer valid. */
export const onLoggedOut = (call) => { loggedOut = call; };

/** Time in which the process answers a request. Reports over many files take long. */
const LONGEST = 60_000;

/** Calls the process. Throws `Refused`, or another error without an answer. */
export async function call(path, body, timeout = LONGEST) {
  const headers = { "x-checkrein-page": keep.get("page") ?? "" };
  const options = { headers, credentials: "same-origin", redirect: "error", signal: AbortSignal.timeout(timeout) };
  if (body !== undefined) {
    options.method = "POST";
    options.body = JSON.stringify(body);
    headers["content-type"] = "application/json";
  }
  const response = await fetch(path, options);
  const text = await response.text();
  let json = null;
  try { json = text ? JSON.parse(text) : null; } catch { /* no JSON */ }
  if (response.status === 401 && path.startsWith("/api/")) loggedOut();
  if (!response.ok) throw new Refused(response.status, json);
  return json;
}

/** Logs in with a token or a code. */
export async function login(token) {
  const { page } = await call("/login", { token });
  keep.set("page", page);
}

export async function logout() {
  await call("/logout", {}).catch(() => {});
  keep.set("page", null);
}

/** Takes the token out of the address, so that it is in no history and no screenshot. */
export function tokenOfAddress() {
  const token = location.hash.slice(1);
  if (!/^[0-9a-f]{64}$/.test(token)) return null;
  history.replaceState(null, "", "/");
  return token;
}

let connectionChanged = () => {};

/** Registers a function that receives the state of the connection: `on`, `off` or `wait`. */
export const onConnection = (call) => { connectionChanged = call; };

const TEXTS = { on: "connected", off: "disconnected, retrying", wait: "connecting", none: "not logged in" };

function show(state) {
  const element = byId("connection");
  element.dataset.state = state;
  if (element.textContent !== TEXTS[state]) element.textContent = TEXTS[state];
  connectionChanged(state);
}

/** Lock of the tab that reads the stream. */
const LOCK = "checkrein-stream";

/** Channel on which that tab passes everything on. */
const CHANNEL = "checkrein-stream";

/** Time in which that tab answers. */
const PATIENCE = 2000;

/** Interval at which a visible tab checks that another one reads the stream. */
const CHECK = 15_000;

let current = null;

/**
 * Follows the changes until `unfollow`. `handle(name, data)` receives each message. Browsers open at most six connections to an address, so
 * the tabs of a browser share one stream: the tab with the lock reads it and passes each message on.
 */
export function follow(handle) {
  unfollow();
  const own = { handle, version: null, state: "wait", heard: 0, term: null, reader: null, channel: null, timer: null };
  current = own;
  show("wait");
  if (!navigator.locks || !window.BroadcastChannel) {
    own.term = new AbortController();
    stream(own, own.term.signal);
    return;
  }
  own.channel = new BroadcastChannel(CHANNEL);
  own.channel.addEventListener("message", (event) => receive(own, event.data));
  own.timer = setInterval(() => check(own), CHECK);
  lead(own);
  check(own);
}

export function unfollow() {
  const own = current;
  current = null;
  if (own) {
    clearInterval(own.timer);
    own.term.abort();
    own.channel?.close();
  }
  show("none");
}

document.addEventListener("visibilitychange", () => { if (current) check(current); });
// A tab that was frozen has missed messages.
document.addEventListener("resume", () => { if (current) { current.version = null; check(current); } });

/** Returns `true` if this tab reads the stream. */
const reads = (own) => own.reader !== null && !own.reader.aborted;

/** Waits for the lock, and reads the stream while this tab has it. `steal`: takes it from a tab that does not answer. */
async function lead(own, steal = false) {
  own.term?.abort();
  const term = new AbortController();
  own.term = term;
  try {
    await navigator.locks.request(LOCK, steal ? { steal } : { signal: term.signal }, () => stream(own, term.signal));
  } catch { /* ended, or another tab has taken the lock */ }
  term.abort();
  if (own === current && own.term === term) lead(own);
}

/** Takes the lock if the tab that has it does not answer, or is hidden without a connection: browsers slow down hidden tabs. */
async function check(own) {
  if (document.hidden || reads(own) || !own.channel) return;
  const asked = performance.now();
  own.channel.postMessage({ kind: "ask" });
  await new Promise((done) => setTimeout(done, PATIENCE));
  if (own !== current || reads(own) || document.hidden) return;
  if (own.heard < asked || (own.isHiddenReader && own.state !== "on")) lead(own, true);
}

/** Handles a message of another tab. */
function receive(own, message) {
  if (own !== current) return;
  if (message.kind === "ask") {
    if (reads(own)) report(own);
    return;
  }
  if (reads(own)) return;
  own.heard = performance.now();
  if (message.kind === "message") deliver(own, message.name, message.data);
  if (message.kind !== "state") return;
  own.state = message.state;
  own.isHiddenReader = message.isHidden;
  show(message.state);
  // This tab was opened after the first message of the stream.
  if (message.version !== null && own.version === null) deliver(own, "hello", message.version);
}

function deliver(own, name, data) {
  if (name === "hello") own.version = data;
  own.handle(name, data);
}

/** Reports the state of the connection to the other tabs. */
function report(own) {
  own.channel?.postMessage({ kind: "state", state: own.state, version: own.state === "on" ? own.version : null, isHidden: document.hidden });
}

/** Reads the stream until `signal`. Connects again after a failure. */
async function stream(own, signal) {
  own.reader = signal;
  const change = (state) => {
    own.state = state;
    show(state);
    report(own);
  };
  let wait = 300;
  while (!signal.aborted) {
    const connection = new AbortController();
    const end = () => connection.abort();
    signal.addEventListener("abort", end);
    let silence;
    try {
      const alive = () => {
        clearTimeout(silence);
        silence = setTimeout(end, SILENCE);
      };
      alive();
      const response = await fetch("/api/changes", {
        headers: { "x-checkrein-page": keep.get("page") ?? "" },
        signal: connection.signal,
      });
      if (response.status === 401 && own === current) { loggedOut(); break; }
      if (!response.ok) throw new Error(`status ${response.status}`);
      change("on");
      wait = 300;
      await read(response.body, (name, data) => {
        if (signal.aborted) return;
        own.channel?.postMessage({ kind: "message", name, data });
        deliver(own, name, data);
      }, alive);
    } catch { /* shown below */ }
    clearTimeout(silence);
    signal.removeEventListener("abort", end);
    if (signal.aborted) break;
    change("off");
    await new Promise((done) => setTimeout(done, wait));
    wait = Math.min(wait * 1.6, 4000);
  }
}

async function read(body, handle, alive) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    alive();
    text += value;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      let [name, data] = ["message", ""];
      for (const line of block.split("\n")) {
        if (line.startsWith("event:")) name = line.slice(6).trim();
        else if (line.startsWith("data:")) data += line.slice(5).trim();
      }
      if (data || name !== "message") handle(name, data);
    }
  }
}
