// Elements, texts and times. Everything from agents becomes text, never markup.

/** Characters that are invisible, look like a space, or control the order of others: those that `visible` of the program replaces. */
const HIDDEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{16fe4}\u{1d159}\u{e0000}-\u{e0fff}]/gu;

/** Writes hidden characters as `<U+202E>`. */
export const visible = (text) => String(text).replace(HIDDEN, (character) => `<U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);

/** Writes hidden characters in JSON text as escapes. The value stays the same. */
export const visibleJson = (json) => json.replace(HIDDEN, (character) => character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""));

const nodes = (children) => children.flat(Infinity)
  .filter((child) => child !== undefined && child !== null && child !== false)
  .map((child) => (child instanceof Node ? child : visible(child)));

/**
 * Creates an element. `properties`: attributes; `on…` are listeners. `true` and `false` of `aria-…` and `data-…` are written as words,
 * those of other attributes as present and absent. Children are text or nodes. Text has no hidden characters.
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    const hasWords = name.startsWith("aria-") || name.startsWith("data-");
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else if (typeof value === "boolean" && !hasWords) element.toggleAttribute(name, value);
    else element.setAttribute(name, name === "title" || name === "aria-label" ? visible(value) : String(value));
  }
  element.append(...nodes(children));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Replaces the content of an element. */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
}

const ANSWERS = { no_opinion: "no opinion", allow: "allow", ask: "ask", defer: "defer", deny: "deny", halt: "halt" };

/** Text and style of an answer. The text is there for readers without colours. */
export function answer(name, extra = "") {
  return el("span", { class: `answer answer-${name} ${extra}` }, ANSWERS[name] ?? name);
}

/** Event names in words. */
export const words = (name) => String(name ?? "").replaceAll("_", " ");

const pad = (number, width = 2) => String(number).padStart(width, "0");

/** Time of the day; with the date if it is another day. */
export function clock(time, withMillis = false) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return String(time);
  let text = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  if (withMillis) text += `.${pad(date.getMilliseconds(), 3)}`;
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? text : `${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${text}`;
}

/** Age in one unit. */
export function age(time) {
  const seconds = Math.max(0, Math.round((Date.now() - new Date(time).getTime()) / 1000));
  if (Number.isNaN(seconds)) return "";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

/** Remaining time as minutes and seconds. */
export function left(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  return `${Math.floor(seconds / 60)}:${pad(seconds % 60)}`;
}

/** Duration in milliseconds, from microseconds. */
export function millis(us) {
  const ms = us / 1000;
  return ms < 10 ? ms.toFixed(1) : Math.round(ms).toLocaleString("en");
}

/** Last part of a path. */
export const base = (path) => String(path ?? "").replace(/\/+$/, "").split(/[\\/]/).pop() || String(path ?? "");

export const short = (id, length = 8) => (String(id).length > length + 2 ? `${String(id).slice(0, length)}…` : String(id));

/** Reports something new to screen readers. */
export function announce(text) {
  byId("announce").textContent = visible(text);
}

/** Number with its noun, which gets an `s` for all numbers but one. */
export const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

const KEY = "checkrein-";

export const keep = {
  get: (name) => {
    try { return localStorage.getItem(KEY + name); } catch { return null; }
  },
  set: (name, value) => {
    try { value === null ? localStorage.removeItem(KEY + name) : localStorage.setItem(KEY + name, value); } catch { /* full, or off */ }
  },
};

const MAX_LINES = 600;

/** Lines of two texts with their marks. Large texts are shown as removed and added in full. */
export function diff(before, after) {
  const [a, b] = [String(before).split("\n"), String(after).split("\n")];
  const lines = [];
  const add = (mark, text) => lines.push(el("span", { class: `line line-${mark === "-" ? "old" : mark === "+" ? "new" : "same"}` }, `${mark} ${text}\n`));
  if (a.length > MAX_LINES || b.length > MAX_LINES) {
    a.forEach((text) => add("-", text));
    b.forEach((text) => add("+", text));
    return el("pre", { class: "diff", tabindex: "0" }, lines);
  }
  // Lengths of the longest common parts from each position to the end.
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { add(" ", a[i]); i++; j++; }
    else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) add("-", a[i++]);
    else add("+", b[j++]);
  }
  return el("pre", { class: "diff", tabindex: "0" }, lines);
}
