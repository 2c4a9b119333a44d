// The list of events. Only the visible rows are elements, so 100,000 events stay smooth.

import { answer, base, byId, clock, counted, el, fill, millis, short, visible, words } from "./dom.js";
import { call } from "./link.js";

const CHUNK = 200;

/** Number of new events after which the list is read again from the newest one. */
const MAX_FRESH = 2000;

const LANES = 6;

/** Number of rows above and below the visible part. */
const EXTRA = 12;

export class Timeline {
  constructor({ open }) {
    this.open = open;
    this.list = byId("rows");
    this.space = byId("rows-space");
    this.filter = { session: null, agent: null, subagent: null, hook: null, answer: "", text: "" };
    this.pool = new Map();
    this.selected = null;
    this.run = 0;
    this.lanes = new Map();
    this.clear();
    this.list.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => {
      // The scrollbar takes room from the rows, but not from their head.
      byId("row-head").style.marginRight = `${this.list.offsetWidth - this.list.clientWidth}px`;
      this.draw(true);
    }).observe(this.list);
    this.list.addEventListener("keydown", (event) => this.key(event));
    byId("newer").addEventListener("click", () => { this.list.scrollTop = 0; this.draw(); });
    let typing;
    byId("filter-text").addEventListener("input", (event) => {
      clearTimeout(typing);
      typing = setTimeout(() => this.set({ text: event.target.value.trim() }), 150);
    });
    byId("filter-answer").addEventListener("change", (event) => this.set({ answer: event.target.value }));
    byId("filter-hook").addEventListener("click", () => { this.set({ hook: null }); this.list.focus(); });
  }

  clear() {
    this.fresh = [];
    this.chunks = new Map();
    this.wanted = new Set();
    this.until = null;
    this.total = 0;
    this.seen = 0;
    this.last = -1;
  }

  get height() {
    return matchMedia("(max-width: 760px)").matches ? 52 : 28;
  }

  get count() {
    return this.fresh.length + this.total;
  }

  /** Changes the selection of events. */
  set(changes) {
    Object.assign(this.filter, changes);
    // The lanes of a session stay while one of them is chosen.
    if ("session" in changes) this.lanes = new Map();
    this.lanesChanged = true;
    const { hook } = this.filter;
    const chip = byId("filter-hook");
    chip.hidden = !hook;
    fill(chip, `hook: ${hook} ✕`);
    chip.setAttribute("aria-label", visible(`Clear the filter: events of the hook ${hook}`));
    return this.reload();
  }

  /** Reads everything again. */
  async reload() {
    const run = ++this.run;
    try {
      const page = await this.read(0, null);
      if (run !== this.run) return;
      this.clear();
      this.until = page.until;
      this.total = page.total;
      this.put(0, page.events);
      this.list.scrollTop = 0;
      this.draw(true);
    } catch { /* the connection shows it */ }
  }

  read(chunk, until) {
    const parameters = new URLSearchParams({ skip: chunk * CHUNK, limit: CHUNK });
    if (until !== null) parameters.set("until", until);
    for (const [name, value] of Object.entries(this.filter)) if (value) parameters.set(name, value);
    return call(`/api/events?${parameters}`);
  }

  put(chunk, events) {
    this.chunks.set(chunk, events);
    for (const event of events) this.lane(event);
  }

  /** Returns the row at an index, the newest first. Requests it if it is not there. */
  row(index) {
    if (index < this.fresh.length) return this.fresh[this.fresh.length - 1 - index];
    const at = index - this.fresh.length;
    const chunk = Math.floor(at / CHUNK);
    const events = this.chunks.get(chunk);
    if (events) return events[at % CHUNK] ?? null;
    if (!this.wanted.has(chunk)) {
      this.wanted.add(chunk);
      const run = this.run;
      this.read(chunk, this.until).then((page) => {
        if (run !== this.run) return;
        this.total = page.total;
        this.put(chunk, page.events);
        this.draw(true);
      }).catch(() => {}).finally(() => this.wanted.delete(chunk));
    }
    return null;
  }

  takes(row) {
    const { session, agent, subagent, hook, answer: wanted, text } = this.filter;
    if (session && row.session !== session) return false;
    if (agent && row.agent !== agent) return false;
    if (subagent && row.subagent !== subagent) return false;
    if (hook && !row.hooks?.includes(hook)) return false;
    if (wanted && (row.told ?? row.verdict) !== wanted) return false;
    if (!text) return true;
    const low = text.toLowerCase();
    return [row.tool, row.project, row.by, row.session, row.command, row.reason].some((part) => part?.toLowerCase().includes(low));
  }

  /** Adds events that just happened. */
  add(rows) {
    const found = rows.filter((row) => (this.until === null || row.position > this.until) && this.takes(row));
    if (!found.length || this.until === null) return;
    const last = this.fresh.at(-1)?.position ?? this.until;
    const added = found.filter((row) => row.position > last);
    this.fresh.push(...added);
    if (this.last >= 0) this.last += added.length;
    added.forEach((row) => this.lane(row));
    const atTop = this.list.scrollTop < this.height;
    if (this.fresh.length > MAX_FRESH && atTop) { this.reload(); return; }
    // The reader keeps the place.
    if (!atTop) this.list.scrollTop += added.length * this.height;
    this.draw(true);
  }

  lane(row) {
    if (!row.subagent || this.lanes.has(row.subagent)) return;
    this.lanes.set(row.subagent, this.lanes.size + 1);
    this.lanesChanged = true;
  }

  draw(again = false) {
    const height = this.height;
    this.space.style.height = `${this.count * height}px`;
    const first = Math.max(0, Math.floor(this.list.scrollTop / height) - EXTRA);
    const end = Math.min(this.count, Math.ceil((this.list.scrollTop + this.list.clientHeight) / height) + EXTRA);
    const visible = new Map();
    for (let index = first; index < end; index++) visible.set(index, this.row(index));
    // Elements are keyed by index; all are new if the rows have moved.
    if (again) { for (const element of this.pool.values()) element.remove(); this.pool.clear(); }
    for (const [index, element] of this.pool) {
      if (!visible.has(index)) { element.remove(); this.pool.delete(index); }
    }
    const added = document.createDocumentFragment();
    for (const [index, row] of visible) {
      if (this.pool.has(index)) continue;
      const element = this.element(row, index);
      element.style.top = `${index * height}px`;
      this.pool.set(index, element);
      added.append(element);
    }
    this.space.append(added);
    const index = this.index;
    if (this.pool.has(index)) this.list.setAttribute("aria-activedescendant", `row-${index}`);
    else this.list.removeAttribute("aria-activedescendant");
    this.note();
    if (this.lanesChanged) { this.lanesChanged = false; this.legend(); }
  }

  note() {
    const count = this.count;
    const text = count === 0 ? "no events" : counted(count, "event");
    const note = byId("filter-note");
    if (note.textContent !== text) note.textContent = text;
    const above = this.list.scrollTop < this.height ? 0 : Math.max(0, this.fresh.length - this.seen);
    if (this.list.scrollTop < this.height) this.seen = this.fresh.length;
    byId("newer").hidden = above === 0;
    byId("newer").textContent = `${above} new`;
    if (count === 0 && !this.empty) {
      this.empty = el("p", { class: "empty" }, this.isFiltered ? "No event matches." : "No events yet. An event appears here as soon as an agent calls checkrein.");
      this.list.append(this.empty);
    } else if (count > 0 && this.empty) {
      this.empty.remove();
      this.empty = null;
    }
  }

  get isFiltered() {
    return Object.values(this.filter).some(Boolean);
  }

  element(row, index) {
    const common = { class: "row", role: "option", id: `row-${index}`, "aria-posinset": index + 1, "aria-setsize": this.count };
    if (!row) return el("div", { ...common, class: "row waiting", "aria-selected": "false" }, el("span", { class: "muted" }, "…"));
    const told = row.told ?? row.verdict;
    const lane = row.subagent ? this.lanes.get(row.subagent) ?? 1 : 0;
    const isSelected = this.selected === row.id;
    const element = el("div", {
      ...common, "aria-selected": isSelected, "data-event-id": row.id, "data-answer": told,
      onclick: () => { this.select(index); this.open(row.id); },
    },
      el("span", { class: "time", title: row.time }, clock(row.time)),
      lanes(lane, row.subagent),
      el("span", { class: "event" }, words(row.event)),
      el("span", { class: "tool", title: row.tool }, row.tool ?? ""),
      el("span", { class: "input", title: row.reason ?? "" },
        row.command ?? "", row.reason && told !== "no_opinion" && el("span", { class: "why" }, ` ${row.reason}`)),
      el("span", { class: "cell-answer" }, answer(told), row.rewritten && el("span", { class: "mark", title: "a hook rewrote the input" }, "✎"), row.repeat && el("span", { class: "mark", title: "delivered again: no hook ran" }, "↻")),
      el("span", { class: "by", title: row.by }, row.by ?? (row.hooks?.length ? counted(row.hooks.length, "hook") : "")),
      el("span", { class: "number ms" }, millis(row.us)));
    if (!this.filter.session) element.append(el("span", { class: "where" }, `${row.agent} · ${base(row.project)}`));
    return element;
  }

  legend() {
    const element = byId("lanes");
    const isOne = Boolean(this.filter.session) && this.lanes.size > 0;
    element.hidden = !isOne;
    if (!isOne) return;
    const chip = (subagent, lane) => el("button", {
      type: "button", class: "chip", "aria-pressed": this.filter.subagent === subagent,
      onclick: () => this.set({ subagent: this.filter.subagent === subagent ? null : subagent }),
    }, el("span", { class: `dot lane-${lane % LANES}` }), subagent ? short(subagent, 14) : "all lanes");
    fill(element, chip(null, 0), [...this.lanes].slice(0, 40).map(([subagent, lane]) => chip(subagent, lane)));
  }

  /** Index of the selected row, or -1. */
  get index() {
    if (this.selected === null) return -1;
    for (const [index, element] of this.pool) if (element.dataset.eventId === this.selected) return index;
    return this.last;
  }

  select(index) {
    const row = this.row(index);
    this.last = index;
    this.selected = row?.id ?? null;
    const [top, height] = [index * this.height, this.height];
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    else if (top + height > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = top + height - this.list.clientHeight;
    this.draw();
    for (const element of this.pool.values()) element.setAttribute("aria-selected", element.dataset.eventId === this.selected && row !== null);
  }

  move(step) {
    if (!this.count) return;
    const index = this.index;
    this.select(Math.max(0, Math.min(this.count - 1, index < 0 ? 0 : index + step)));
  }

  openSelected() {
    if (this.selected) this.open(this.selected);
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.list.clientHeight / this.height) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    const places = { Home: 0, End: this.count - 1 };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) this.move(steps[event.key]);
    else if (event.key in places) { if (this.count) this.select(places[event.key]); }
    else if (event.key === "Enter") this.openSelected();
    else return;
    event.preventDefault();
  }
}

/** Column with one line per lane. Lanes beyond the last one share it. */
function lanes(lane, subagent) {
  const shown = lane === 0 ? 0 : ((lane - 1) % (LANES - 1)) + 1;
  return el("span", { class: "lane", title: subagent ? `sub-agent ${subagent}` : "main agent" },
    el("span", { class: `dot lane-${shown}`, "data-lane": shown }), subagent && el("span", { class: "hidden" }, `sub-agent ${subagent}`));
}
