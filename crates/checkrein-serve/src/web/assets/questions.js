// Questions that wait for an answer.

import { announce, base, byId, clock, diff, el, fill, left, short } from "./dom.js";
import { Refused, call } from "./link.js";

/** Time for which an answered question stays visible. */
const LINGER = 15_000;

const cards = new Map();
/** Difference between the clock of the process and that of the browser. */
let skew = 0;
let ready = false;

const pending = () => [...cards.values()].filter((card) => card.isOpen);

/** Shows the questions of the process. */
export function show(data) {
  if (data.now) skew = data.now - Date.now();
  byId("questions-note").textContent = data.error ? `cannot read the questions: ${data.error}` : data.hidden ? `${data.hidden} more wait; \`checkrein approvals\` lists them` : "";
  for (const question of data.approvals ?? []) {
    const id = question.approval.id;
    const known = cards.get(id);
    if (known) {
      known.update(question);
    } else if (question.approval.state === "pending") {
      const card = new Card(question);
      cards.set(id, card);
      // The oldest question is first, so that cards do not move under the pointer.
      byId("cards").append(card.element);
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

function count() {
  const number = pending().length;
  byId("questions-count").textContent = number;
  byId("questions").dataset.empty = cards.size === 0;
  document.title = number ? `(${number}) checkrein live` : "checkrein live";
}

/** Updates the remaining times. */
export function tick() {
  for (const card of cards.values()) card.tick();
}

/** Moves the focus to the first question, or to the next one. */
export function focusNext(step = 1) {
  const open = pending();
  if (!open.length) return false;
  const at = open.findIndex((card) => card.element.contains(document.activeElement));
  const next = at < 0 ? open[0] : open[(at + step + open.length) % open.length];
  next.element.focus();
  next.element.scrollIntoView({ block: "nearest" });
  return true;
}

/** Handles a key for the question that has the focus. Returns `true` if it is one of its keys. */
export function key(name) {
  const card = pending().find((card) => card.element === document.activeElement);
  if (!card) return false;
  if (name === "a") card.approve();
  else if (name === "d") card.deny();
  else if (name === "e") card.edit();
  else if (name === "s") card.toggleScope();
  else return false;
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
    this.result = el("p", { class: "result", role: "status" });
    this.problem = el("p", { class: "problem", role: "alert" });
    this.scope = el("input", { type: "checkbox", id: `scope-${approval.id}`, disabled: !approval.session });
    this.reason = el("input", { type: "text", id: `reason-${approval.id}`, placeholder: "reason (optional)", maxlength: "500", autocomplete: "off" });
    this.buttons = [
      el("button", { type: "button", class: "approve", "data-answer": "approve", onclick: () => this.approve() }, "Approve ", el("kbd", {}, "a")),
      el("button", { type: "button", class: "deny", "data-answer": "deny", onclick: () => this.deny() }, "Deny ", el("kbd", {}, "d")),
      el("button", {
        type: "button", class: "quiet", "data-answer": "edit", disabled: !this.editable, onclick: () => this.edit(),
        title: !this.editable ? "The input is cut or has a redacted secret; edit it with `checkrein approve --edit`" : null,
      }, "Edit ", el("kbd", {}, "e")),
    ];
    this.actions = el("div", { class: "actions" }, this.buttons,
      el("span", { class: "check" }, this.scope, el("label", { for: this.scope.id }, "for this session ", el("kbd", {}, "s"))),
      el("label", { class: "hidden", for: this.reason.id }, "Reason of a denial"), this.reason);
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
        this.time),
      fields(approval.shown),
      commands(approval.shown.commands),
      approval.rewritten && el("section", {}, el("h3", {}, "A hook rewrites the input"), rewrite(approval.shown, approval.rewritten)),
      el("ul", { class: "reasons" }, approval.reasons.map((reason) => el("li", {},
        el("span", { class: "reason-text" }, reason.text || "asks without a reason"), " ",
        el("span", { class: "muted" }, `${reason.hook} · ${reason.source}`)))),
      approval.shown.is_partial && el("p", { class: "note" }, "Parts of the input are cut or redacted here."),
      this.actions, this.editor, this.problem, this.result);
  }

  update(question) {
    const { approval } = question;
    this.approval = approval;
    if (approval.state === "pending") return this.tick();
    if (!this.isOpen) return;
    const by = approval.answers[0];
    const name = by ? ` by ${by.by} (${by.via})` : "";
    const words = { approved: `approved${name}`, consumed: `approved${name}; the call has passed`, denied: `denied${name}`, expired: "expired without an answer", cancelled: "cancelled" };
    this.end(words[approval.state] ?? approval.state, approval.state);
  }

  /** Closes the question: no button works any longer. */
  end(text, state) {
    const hadFocus = this.element.contains(document.activeElement);
    this.isOpen = false;
    this.element.dataset.state = state;
    this.actions.remove();
    this.editor.remove();
    this.time.remove();
    this.problem.textContent = "";
    this.result.textContent = `${clock(new Date())} ${text}`;
    announce(`Question ${this.approval.shown.tool}: ${text}`);
    if (hadFocus) focusNext() || byId("main").focus({ preventScroll: true });
    count();
    setTimeout(() => { this.element.remove(); cards.delete(this.approval.id); count(); }, LINGER);
  }

  tick() {
    if (!this.isOpen) return;
    const rest = this.approval.expires - (Date.now() + skew);
    this.time.textContent = rest > 0 ? `${left(rest)} left` : "time is up";
    this.time.classList.toggle("soon", rest < 60_000);
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

  toggleScope() {
    if (!this.scope.disabled) this.scope.checked = !this.scope.checked;
  }

  async edit() {
    if (!this.editable || !this.isOpen || !this.editor.hidden) return;
    let known;
    try {
      known = await call(`/api/approvals/${encodeURIComponent(this.approval.id)}/input`);
    } catch (error) {
      this.problem.textContent = error instanceof Refused ? error.message : "The process cannot be reached; try again.";
      return;
    }
    if (!this.isOpen) return;
    const text = el("textarea", { rows: "6", spellcheck: "false", id: `edit-${this.approval.id}`, value: JSON.stringify(known.input, null, 2) });
    const cancel = () => { this.editor.hidden = true; this.element.focus(); };
    text.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { event.stopPropagation(); cancel(); }
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
    });
    const send = () => {
      let input;
      try { input = JSON.parse(text.value); } catch (error) { this.problem.textContent = `The input is not valid JSON: ${error.message}`; return; }
      this.approve(input);
    };
    fill(this.editor,
      el("label", { for: text.id }, "Input as JSON. The hooks judge it again."), text,
      el("div", { class: "actions" },
        el("button", { type: "button", class: "approve", "data-answer": "approve-edited", onclick: send }, "Approve this input ", el("kbd", {}, "Ctrl Enter")),
        el("button", { type: "button", class: "quiet", onclick: cancel }, "Cancel")));
    this.editor.hidden = false;
    text.focus();
  }

  async send(body) {
    if (!this.isOpen || this.isBusy) return;
    this.isBusy = true;
    this.problem.textContent = "";
    this.tick();
    try {
      const settled = await call(`/api/approvals/${encodeURIComponent(this.approval.id)}`, { shown_digest: this.approval.shown_digest, ...body });
      this.update(settled);
    } catch (error) {
      if (error instanceof Refused && error.body?.approval) this.update(error.body);
      // A lost answer leaves the question usable: a second try of a given answer is refused by the process.
      this.problem.textContent = this.isOpen ? (error instanceof Refused ? error.message : "The process cannot be reached; try again.") : "";
      if (!this.isOpen) this.result.textContent = `Too late: ${this.result.textContent}`;
    } finally {
      this.isBusy = false;
      this.tick();
    }
  }
}

/** Fields of a tool input. With a difference, the texts of the change are left out. */
export function fields(shown) {
  const changes = ["old_string", "new_string", "old_str", "new_str", "content", "edits"];
  const rest = shown.diff ? shown.fields.filter((field) => !changes.includes(field.name)) : shown.fields;
  return el("dl", { class: "fields" },
    rest.map((field) => [el("dt", {}, field.name), el("dd", {}, el("pre", { tabindex: field.text.length > 400 ? "0" : null }, field.text))]),
    shown.diff && [el("dt", {}, "change"), el("dd", {}, unified(shown.diff))]);
}

/** A unified diff, without its header. */
function unified(text) {
  const lines = text.replace(/\n$/, "").split("\n").filter((line) => !line.startsWith("--- ") && !line.startsWith("+++ "));
  const kind = (line) => (line.startsWith("@@") ? "place" : line.startsWith("-") ? "old" : line.startsWith("+") ? "new" : "same");
  return el("pre", { class: "diff", tabindex: "0" }, lines.map((line) => el("span", { class: `line line-${kind(line)}` }, `${line}\n`)));
}

/** Programs that a shell command runs. */
function commands(found) {
  if (!found?.length) return null;
  return el("div", { class: "commands" }, el("span", { class: "muted" }, "runs"),
    found.map((command) => el("code", { class: "words" },
      command.wrappers?.length ? el("span", { class: "muted" }, `${command.wrappers.join(" ")} `) : null,
      command.words.map((word, index) => el("span", { class: index ? "word" : "word program" }, word)),
      command.pipes_to?.length ? el("span", { class: "muted" }, ` | ${command.pipes_to.join(" | ")}`) : null,
      command.is_known ? null : el("span", { class: "note" }, " a word is only known when it runs"))));
}

function rewrite(before, after) {
  const text = (shown) => shown.fields.map((field) => (shown.fields.length > 1 ? `${field.name}: ${field.text}` : field.text)).join("\n");
  return diff(text(before), text(after));
}
