// Questions that wait for an answer.

import { announce, base, byId, clock, counted, diff, el, fill, left, short, visible, visibleJson } from "./dom.js";
import { Refused, call } from "./link.js";

/** Time for which an answered question stays visible. */
const LINGER = 15_000;

/** Time after a change of places in which clicks are ignored: they were meant for the place before. */
const SETTLE = 500;

/** Time after which a pointer that does not move no longer keeps answered questions in their places. */
const PARKED = 60_000;

/** Time in which a waiting agent uses an approval. */
const USE = 2500;

/** Time in which the process answers. */
const PATIENCE = 10_000;

const cards = new Map();
/** Difference between the clock of the process and that of the browser. */
let skew = 0;
let ready = false;
/** Number of questions that the process does not list. */
let unlisted = 0;
let note = "";
let isConnected = false;
let pointerMoved = -PARKED;

const pending = () => [...cards.values()].filter((card) => card.isOpen);

/** Shows the questions of the process. */
export function show(data) {
  if (data.now) skew = data.now - Date.now();
  unlisted = data.hidden ?? 0;
  note = data.error ? `cannot read the questions: ${data.error}` : unlisted ? `${unlisted.toLocaleString("en")} of them are not shown here; \`checkrein approvals\` lists all` : "";
  for (const question of data.approvals ?? []) {
    const id = question.approval.id;
    const known = cards.get(id);
    if (known) {
      known.update(question);
    } else if (question.approval.state === "pending") {
      const card = new Card(question);
      cards.set(id, card);
      // Questions with a waiting agent are first, then the oldest. Most new cards are last, so that no card moves under the pointer.
      const next = card.waits ? pending().find((other) => other !== card && !other.waits) : undefined;
      byId("cards").insertBefore(card.element, next?.element ?? null);
      // The card itself may appear under the pointer.
      if (next) moved();
      card.settle();
      if (ready) announce(`New question: ${question.approval.agent} wants ${question.approval.shown.tool}: ${card.gist}`);
    }
  }
  // A question that the process no longer lists has ended.
  const listed = new Set((data.approvals ?? []).map((question) => question.approval.id));
  if (!data.error) {
    for (const [id, card] of cards) if (!listed.has(id) && card.isOpen) card.end("has ended", "cancelled");
  }
  ready = true;
  count();
}

/** Shows whether the list is current. */
export function connected(state) {
  isConnected = state === "on";
  count();
}

function count() {
  const number = pending().length + unlisted;
  byId("questions-count").textContent = number.toLocaleString("en");
  byId("questions").dataset.empty = cards.size === 0;
  const text = note || (cards.size > 0 ? "" : isConnected && ready ? "nothing waits for an answer" : "not connected");
  if (byId("questions-note").textContent !== text) {
    byId("questions-note").textContent = text;
    moved();
  }
  document.title = number ? `(${number}) checkrein live` : "checkrein live";
}

/** Ignores clicks for a moment, because the cards have changed their places. */
function moved() {
  for (const card of pending()) card.settle();
}

addEventListener("resize", moved);
byId("cards").addEventListener("pointermove", () => { pointerMoved = performance.now(); });

/** Updates the remaining times. Removes old answered questions, unless that would move buttons below the pointer. */
export function tick() {
  for (const card of cards.values()) card.tick();
  const hasPointer = byId("cards").matches(":hover") && performance.now() - pointerMoved < PARKED;
  if (hasPointer) return;
  const old = [...cards.values()].filter((card) => !card.isOpen && performance.now() - card.ended > LINGER);
  if (!old.length) return;
  for (const card of old) {
    if (card.element.contains(document.activeElement)) byId("main").focus({ preventScroll: true });
    card.element.remove();
    cards.delete(card.approval.id);
  }
  moved();
  count();
}

/** Moves the focus to the first question, or to the next one. */
export function focusNext(step = 1) {
  const all = [...cards.values()];
  const at = all.findIndex((card) => card.element.contains(document.activeElement));
  const from = at < 0 ? 0 : at + step;
  const next = [...all.slice(from), ...all.slice(0, from)].find((card) => card.isOpen);
  if (!next) return false;
  next.element.focus();
  next.element.scrollIntoView({ block: "nearest" });
  return true;
}

/** Handles a key for the question that has the focus. Returns `true` if it is one of its keys. A held key has no effect. */
export function key(name, isHeld) {
  const card = pending().find((card) => card.element === document.activeElement);
  const action = { a: () => card.approve(), d: () => card.deny(), e: () => card.edit(), r: () => card.openReason(), s: () => card.toggleScope() }[name];
  if (!card || !action) return false;
  if (!isHeld) action();
  return true;
}

/** One question. */
class Card {
  constructor(question) {
    this.isOpen = true;
    this.isBusy = false;
    this.build(question);
    this.update(question);
  }

  build(question) {
    const { approval } = question;
    this.approval = approval;
    this.editable = question.editable;
    this.gist = approval.shown.fields[0]?.text ?? "";
    const project = approval.cwd ?? approval.project;
    this.time = el("span", { class: "left" });
    this.wait = el("span", { class: "tag waits", title: "The agent holds the call for your answer", hidden: true });
    this.result = el("p", { class: "result", role: "status" });
    this.problem = el("p", { class: "problem", role: "alert" });
    this.scope = el("input", { type: "checkbox", id: `scope-${approval.id}`, disabled: !approval.session });
    this.reason = el("input", { type: "text", id: `reason-${approval.id}`, maxlength: "500", autocomplete: "off", onkeydown: (event) => this.reasonKey(event) });
    this.buttons = [
      el("button", { type: "button", class: "approve", "data-answer": "approve", onclick: (event) => this.click(event, () => this.approve()) }, "Approve ", el("kbd", {}, "a")),
      el("button", { type: "button", class: "deny", "data-answer": "deny", onclick: (event) => this.click(event, () => this.deny()) }, "Deny ", el("kbd", {}, "d")),
      el("button", { type: "button", class: "quiet", "data-answer": "reason", onclick: (event) => this.click(event, () => this.openReason()) }, "Deny with a reason ", el("kbd", {}, "r")),
      el("button", {
        type: "button", class: "quiet", "data-answer": "edit", disabled: !this.editable, onclick: (event) => this.click(event, () => this.edit()),
        title: !this.editable ? "The input is truncated or contains a redacted secret; edit it with `checkrein approve --edit`" : null,
      }, "Edit ", el("kbd", {}, "e")),
    ];
    this.actions = el("div", { class: "actions" }, this.buttons,
      el("span", { class: "check" }, this.scope, el("label", { for: this.scope.id }, "for this session ", el("kbd", {}, "s"))));
    this.reasonRow = el("div", { class: "reason-row", hidden: true },
      el("label", { for: this.reason.id }, "Reason, which the model reads"), this.reason,
      el("button", { type: "button", class: "deny", "data-answer": "deny-with-reason", onclick: (event) => this.click(event, () => this.deny()) }, "Deny with this reason ", el("kbd", {}, "Enter")));
    this.editor = el("div", { class: "editor", hidden: true });
    this.element = el("article", { class: "card", tabindex: "0", "data-id": approval.id, "aria-label": `Question: ${approval.agent}, ${approval.shown.tool}` },
      el("header", {},
        el("strong", {}, approval.shown.tool),
        el("span", { class: "tag" }, approval.agent),
        el("span", { title: project }, base(project)),
        question.branch && el("span", { class: "muted" }, question.branch),
        approval.subagent && el("span", { class: "tag" }, `sub-agent ${short(approval.subagent)}`),
        approval.session && el("span", { class: "muted", title: approval.session }, short(approval.session)),
        el("code", { class: "muted id" }, approval.id),
        this.wait,
        this.time),
      fields(approval.shown),
      commands(approval.shown.commands),
      approval.rewritten && el("section", {}, el("h3", {}, "A hook rewrites the input"), rewrite(approval.shown, approval.rewritten)),
      bounded(el("ul", { class: "reasons" }, approval.reasons.map((reason) => el("li", {},
        el("span", { class: "reason-text" }, reason.text || "asks without a reason"), " ",
        el("span", { class: "muted" }, `${reason.hook} · ${reason.source}`))))),
      partial(approval.shown),
      this.actions, this.reasonRow, this.editor, this.problem, this.result);
  }

  update(question) {
    const { approval } = question;
    this.approval = approval;
    if (approval.state === "pending") return this.tick();
    const by = approval.answers[0];
    const name = by ? ` by ${by.by} (${by.via})` : "";
    const hasPassed = approval.state === "consumed" || approval.uses > 0;
    const words = {
      approved: hasPassed ? `approved${name}; the call has passed` : `approved${name}`, consumed: `approved${name}; the call has passed`,
      denied: `denied${name}`, expired: "expired without an answer", cancelled: "cancelled",
    };
    let text = words[approval.state] ?? approval.state;
    if (approval.edited_outcome) text = `approved${name} with an edited input; ${approval.edited_outcome.text}`;
    if (this.isOpen) this.end(text, approval.state);
    else this.describe(text, approval.state);
    if (approval.state === "approved" && !hasPassed && !approval.edited_outcome) {
      this.unused ??= setTimeout(() => {
        if (this.approval.state === "approved" && !this.approval.uses && !this.approval.edited_outcome) this.describe(`${text}. The agent does not wait: tell it to repeat the call`, "approved");
      }, USE);
    }
  }

  /** Closes the question: no button works any longer. The card keeps its place and its height, so that no other card moves. */
  end(text, state) {
    const hadFocus = this.element.contains(document.activeElement) || (this.hadFocus && document.activeElement === document.body);
    this.element.style.minHeight = `${this.height}px`;
    this.isOpen = false;
    this.ended = performance.now();
    this.problem.textContent = "";
    this.resize(() => {
      for (const part of [this.actions, this.reasonRow, this.editor, this.time, this.wait]) part.remove();
    });
    this.describe(text, state);
    announce(`Question ${this.approval.shown.tool}: ${text}`);
    // The focus stays here: a key that is held or pressed again must not answer the next question.
    if (hadFocus) this.element.focus({ preventScroll: true });
    count();
  }

  /** Shows the outcome. */
  describe(text, state) {
    const line = `${clock(new Date())} ${visible(text)}`;
    if (this.outcome === text) return;
    this.outcome = text;
    this.element.dataset.state = state;
    this.resize(() => { this.result.textContent = line; });
  }

  /** Milliseconds for which the agent holds the call. 0: it does not wait. */
  get waits() {
    return Math.max(0, (this.approval.waits_until ?? 0) - (Date.now() + skew));
  }

  get height() {
    return this.element.getBoundingClientRect().height;
  }

  /** Makes a change that may move the cards below. */
  resize(change) {
    const before = this.height;
    change();
    if (this.height !== before) moved();
  }

  complain(text) {
    if (this.problem.textContent !== text) this.resize(() => { this.problem.textContent = visible(text); });
  }

  /** Ignores clicks for a moment. */
  settle() {
    this.element.classList.add("moving");
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.element.classList.remove("moving"), SETTLE);
  }

  /** Acts on a click, unless the button has just come to this place. The click of a key has no place. */
  click(event, act) {
    if (event.detail > 0 && this.element.classList.contains("moving")) return;
    act();
  }

  tick() {
    if (!this.isOpen) return;
    const rest = this.approval.expires - (Date.now() + skew);
    this.time.textContent = rest > 0 ? `${left(rest)} left` : "expired";
    this.time.classList.toggle("soon", rest < 60_000);
    if (this.approval.waits_until) {
      const waits = this.waits;
      this.resize(() => {
        this.wait.hidden = false;
        this.wait.textContent = waits ? `agent waits ${left(waits)}` : "agent no longer waits";
      });
      this.wait.classList.toggle("over", !waits);
    }
    // The process decides; the page only stops offering an answer that would be refused.
    for (const button of this.buttons) {
      const off = this.isBusy || rest <= 0 || (button.dataset.answer === "edit" && !this.editable);
      button.disabled = off;
    }
  }

  approve(input) {
    this.send({ decision: "approve", scope: this.scope.checked ? "session" : "once", input });
  }

  deny() {
    this.send({ decision: "deny", reason: this.reason.value.trim() || undefined });
  }

  openReason() {
    this.resize(() => { this.reasonRow.hidden = false; });
    this.reason.focus();
  }

  reasonKey(event) {
    if (event.key === "Escape") {
      event.stopPropagation();
      this.reason.value = "";
      this.resize(() => { this.reasonRow.hidden = true; });
      this.element.focus();
    } else if (event.key === "Enter" && !event.repeat) {
      event.preventDefault();
      this.deny();
    }
  }

  toggleScope() {
    if (!this.scope.disabled) this.scope.checked = !this.scope.checked;
  }

  async edit() {
    if (!this.editable || !this.isOpen || !this.editor.hidden) return;
    let known;
    try {
      known = await call(`/api/approvals/${encodeURIComponent(this.approval.id)}/input`);
    } catch (error) {
      this.complain(failure(error));
      return;
    }
    if (!this.isOpen) return;
    const text = el("textarea", { rows: "6", spellcheck: "false", id: `edit-${this.approval.id}`, value: visibleJson(JSON.stringify(known.input, null, 2)) });
    const cancel = () => { this.resize(() => { this.editor.hidden = true; }); this.element.focus(); };
    text.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { event.stopPropagation(); cancel(); }
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) send();
    });
    const send = () => {
      let input;
      try { input = JSON.parse(text.value); } catch (error) { this.complain(`The input is not valid JSON: ${error.message}`); return; }
      this.approve(input);
    };
    fill(this.editor,
      el("label", { for: text.id }, "Input as JSON. The hooks judge it again."), text,
      el("div", { class: "actions" },
        el("button", { type: "button", class: "approve", "data-answer": "approve-edited", onclick: (event) => this.click(event, send) }, "Approve this input ", el("kbd", {}, "Ctrl Enter")),
        el("button", { type: "button", class: "quiet", onclick: cancel }, "Cancel")));
    this.resize(() => { this.editor.hidden = false; });
    text.focus();
  }

  async send(body) {
    if (!this.isOpen || this.isBusy) return;
    this.isBusy = true;
    this.hadFocus = this.element.contains(document.activeElement);
    this.tick();
    try {
      const settled = await call(`/api/approvals/${encodeURIComponent(this.approval.id)}`, { shown_digest: this.approval.shown_digest, ...body }, PATIENCE);
      this.update(settled);
    } catch (error) {
      if (error instanceof Refused && error.body?.approval) this.update(error.body);
      // A lost answer leaves the question usable: a second try of a given answer is refused by the process.
      if (this.isOpen) this.complain(`The answer was not accepted: ${failure(error)}`);
      else this.result.textContent = `Too late: ${this.result.textContent}`;
    } finally {
      this.isBusy = false;
      this.tick();
    }
  }
}

/** Error of a request, for the user. */
const failure = (error) => (error instanceof Refused ? error.message : "the process does not answer. Try again.");

/** Note about the parts of a call that the card does not show. */
function partial(shown) {
  if (!shown.is_partial && !shown.more_commands) return null;
  return el("p", { class: "note partial" }, "This call is not shown in full: parts are truncated or redacted.",
    shown.more_commands > 0 && ` … and ${counted(shown.more_commands, "more program")}: read the whole command.`);
}

/** Limits the height of an element. A mark shows that there is more, and shows it in full. */
function bounded(part) {
  let isWhole = false;
  const more = el("button", { type: "button", class: "more", hidden: true, onclick: () => { isWhole = !isWhole; part.classList.toggle("whole", isWhole); look(); moved(); } });
  const look = () => {
    const below = part.scrollHeight - part.clientHeight - part.scrollTop;
    const lines = Math.ceil(below / 17);
    more.hidden = !isWhole && part.scrollHeight - part.clientHeight < 3;
    more.textContent = isWhole ? "show less" : below < 3 ? "show all" : `▼ ${counted(lines, "more line")} below: show all`;
    more.dataset.below = !isWhole && below >= 3;
  };
  part.classList.add("bounded");
  part.tabIndex = 0;
  part.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(part);
  return [part, more];
}

/** Fields of a tool input. With a difference, the texts of the change are left out. */
function fields(shown) {
  const changes = ["old_string", "new_string", "old_str", "new_str", "content", "edits"];
  const rest = shown.diff ? shown.fields.filter((field) => !changes.includes(field.name)) : shown.fields;
  return el("dl", { class: "fields" },
    rest.map((field) => [el("dt", { class: rest.length === 1 && field.name === "command" ? "hidden" : null }, field.name), el("dd", {}, bounded(el("pre", {}, field.text)))]),
    shown.diff && [el("dt", {}, "change"), el("dd", {}, bounded(unified(shown.diff)))]);
}

/** A unified diff, without its header. */
function unified(text) {
  const lines = text.replace(/\n$/, "").split("\n").filter((line) => !line.startsWith("--- ") && !line.startsWith("+++ "));
  const kind = (line) => (line.startsWith("@@") ? "place" : line.startsWith("-") ? "old" : line.startsWith("+") ? "new" : "same");
  return el("pre", { class: "diff" }, lines.map((line) => el("span", { class: `line line-${kind(line)}` }, `${line}\n`)));
}

/** Programs that a shell command runs. */
function commands(found) {
  if (!found?.length) return null;
  return bounded(el("div", { class: "commands" }, el("span", { class: "muted" }, "runs"),
    found.map((command) => el("code", { class: "words" },
      command.wrappers?.length ? el("span", { class: "muted" }, `${command.wrappers.join(" ")} `) : null,
      command.words.map((word, index) => el("span", { class: index ? "word" : "word program" }, word)),
      command.pipes_to?.length ? el("span", { class: "muted" }, ` | ${command.pipes_to.join(" | ")}`) : null,
      command.is_known ? null : el("span", { class: "note" }, " contains a value that only the shell knows")))));
}

function rewrite(before, after) {
  const text = (shown) => shown.fields.map((field) => (shown.fields.length > 1 ? `${field.name}: ${field.text}` : field.text)).join("\n");
  return diff(text(before), text(after));
}
