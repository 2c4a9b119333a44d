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

/** Calls the process. Throws `Refused`, or another error without a connection. */
export async function call(path, body) {
  const headers = { "x-checkrein-page": keep.get("page") ?? "" };
  const options = { headers, credentials: "same-origin", redirect: "error" };
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

function show(state, text) {
  const element = byId("connection");
  element.dataset.state = state;
  if (element.textContent !== text) element.textContent = text;
}

let current = null;

/** Follows the changes until `unfollow`. Connects again after a failure. `handle(name, data)` receives each message. */
export async function follow(handle) {
  unfollow();
  const own = { stopped: false, abort: null };
  current = own;
  let wait = 300;
  while (!own.stopped) {
    let silence;
    try {
      own.abort = new AbortController();
      const alive = () => {
        clearTimeout(silence);
        silence = setTimeout(() => own.abort.abort(), SILENCE);
      };
      alive();
      const response = await fetch("/api/changes", {
        headers: { "x-checkrein-page": keep.get("page") ?? "" },
        signal: own.abort.signal,
      });
      if (response.status === 401) { loggedOut(); return; }
      if (!response.ok) throw new Error(`status ${response.status}`);
      show("on", "connected");
      wait = 300;
      await read(response.body, handle, alive);
    } catch { /* shown below */ }
    clearTimeout(silence);
    if (own.stopped) return;
    show("off", "disconnected, retrying");
    await new Promise((done) => setTimeout(done, wait));
    wait = Math.min(wait * 1.6, 4000);
  }
}

export function unfollow() {
  if (!current) return;
  current.stopped = true;
  current.abort?.abort();
  current = null;
  show("wait", "not connected");
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
