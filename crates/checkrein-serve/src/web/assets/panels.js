// Sessions, hooks, coverage, trust and "what if".

import { age, answer, base, byId, clock, counted, el, fill, short, words } from "./dom.js";
import { Refused, call } from "./link.js";

const STATES = {
  waiting: "waits for an answer",
  working: "working",
  idle: "idle: the turn has ended",
  quiet: "no event for 10 minutes or more: a long tool call, or the agent has gone",
  ended: "ended",
};

/** Shows the sessions. `choose(session)` selects one; null is all of them. */
export function sessions(all, chosen, choose) {
  const hadFocus = byId("sessions").contains(document.activeElement) ? document.activeElement.dataset.session : null;
  const item = (session, ...content) => {
    const key = session ? `${session.agent} ${session.session}` : "";
    const isChosen = session ? chosen?.session === session.session && chosen?.agent === session.agent : !chosen;
    const button = el("button", { type: "button", "data-session": key, "aria-current": isChosen ? "true" : null, onclick: () => choose(session) }, content);
    return el("li", {}, button);
  };
  const shown = all.slice(0, 200);
  fill(byId("sessions"),
    item(null, el("span", { class: "line-one" }, "All sessions"), el("span", { class: "muted" }, `${all.length} known`)),
    shown.map((session) => item(session,
      el("span", { class: "line-one" },
        el("span", { class: `state state-${session.state}`, title: STATES[session.state] }),
        el("span", { class: "name", title: session.project ?? "" }, base(session.project) || session.agent),
        el("span", { class: "muted age" }, age(session.last))),
      el("span", { class: "line-two muted" },
        el("span", {}, session.agent),
        session.branch && el("span", { class: "branch", title: session.branch }, session.branch),
        el("span", { title: session.session }, short(session.session, 6)),
        session.subagents > 0 && el("span", {}, `${session.subagents} sub`),
        session.pending > 0 && el("span", { class: "count" }, session.pending)),
      el("span", { class: "line-two muted" },
        el("span", {}, session.state),
        el("span", {}, counted(session.events, "event")),
        session.denials > 0 && el("span", { class: "denials" }, `${session.denials} denied`),
        answer(session.last_verdict, "small")))));
  if (hadFocus !== null) [...byId("sessions").querySelectorAll("button")].find((button) => button.dataset.session === hadFocus)?.focus();
}

const table = (caption, columns, rows) => el("div", { class: "table" }, el("table", {},
  el("caption", { class: "hidden" }, caption),
  el("thead", {}, el("tr", {}, columns.map(([name, kind]) => el("th", { scope: "col", class: kind }, name)))),
  el("tbody", {}, rows)));

const number = (value) => el("td", { class: "number" }, value === null || value === undefined ? "–" : value.toLocaleString("en"));

/** Shows the statistics of hooks. `choose(id)` shows the events of one. */
export function hooks(all, status, choose) {
  const sorted = [...all].sort((a, b) => b.runs - a.runs || b.only_logged - a.only_logged || a.id.localeCompare(b.id));
  const rows = sorted.map((hook) => el("tr", {},
    el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => choose(hook.id) }, hook.id), el("span", { class: "muted source" }, hook.source || "source unknown")),
    el("td", {}, hook.handler || "–"),
    number(hook.runs), number(hook.p50_ms), number(hook.p95_ms),
    el("td", { class: `number ${hook.failures ? "bad" : ""}` }, hook.failures.toLocaleString("en")),
    number(hook.denials), number(hook.asks), number(hook.only_logged),
    el("td", { class: "error", title: hook.last_error_time ?? "" }, hook.last_error ? `${clock(hook.last_error_time)} ${hook.last_error}` : "")));
  fill(byId("view-hooks"),
    el("h2", {}, "Hooks"),
    el("p", { class: "muted" }, "Numbers are from the kept records. “Logged only”: events that the process did not receive, so their results and times are unknown. Times are those of the last 1,000 runs."),
    status?.lost_records ? el("p", { class: "note" }, `${counted(status.lost_records, "record")} could not be kept: ${status.record_error}`) : null,
    status?.log_error ? el("p", { class: "problem" }, `The decision log cannot be read: ${status.log_error}`) : null,
    rows.length ? table("Hooks", [["hook"], ["type"], ["runs", "number"], ["p50 ms", "number"], ["p95 ms", "number"], ["failures", "number"], ["denials", "number"], ["asks", "number"], ["logged only", "number"], ["last error"]], rows)
      : el("p", { class: "empty" }, "No hook has run yet."));
}

const COVERAGE = [
  ["judged", "judged", "checkrein answered, and the agent obeyed."],
  ["judged_twice", "judged twice", "Delivered more than once, with the same answer."],
  ["not_obeyed", "not obeyed", "Denied, and ran anyway; or ran without the question."],
  ["not_judged", "not judged", "There is no record of a verdict."],
  ["rejected", "rejected", "The agent rejected the call, so it never ran."],
  ["cannot_tell", "cannot tell", "The files or logs are not enough to tell."],
];

export async function coverage(fresh = false) {
  const view = byId("view-coverage");
  const button = el("button", { type: "button", class: "quiet", onclick: () => coverage(true) }, "Refresh");
  const head = [el("div", { class: "section-head" }, el("h2", {}, "Coverage of the last day"), button)];
  fill(view, head, el("p", { class: "muted", role: "status" }, "reading the session files of agents"));
  button.disabled = true;
  let found;
  try {
    found = await call(`/api/coverage?fresh=${fresh}`);
  } catch (error) {
    fill(view, head, el("p", { class: "problem", role: "alert" }, `The coverage is not available: ${error.message}`));
    return;
  } finally {
    button.disabled = false;
  }
  const { report, time, hidden } = found;
  const counts = report.counts;
  const calls = [...report.calls].reverse();
  fill(view, head,
    el("p", { class: "summary" }, counts.calls || report.unclear_sessions ? report.summary : "Cannot tell: no tool call was found in the session files of known agents."),
    el("dl", { class: "tiles" }, COVERAGE.map(([key, name, text]) => el("div", { class: `tile tile-${key}`, "data-zero": counts[key] === 0, title: text }, el("dt", {}, name), el("dd", {}, counts[key].toLocaleString("en"))))),
    el("p", { class: "muted" }, `Updated at ${clock(time)}. Session files of agents are compared with the logs of checkrein.`),
    report.problems?.length ? el("ul", { class: "notes" }, report.problems.map((text) => el("li", {}, text))) : null,
    report.sessions.length ? table("Sessions", [["agent"], ["session"], ["project"], ["calls", "number"], ...COVERAGE.map(([, name]) => [name, "number"]), ["problem"]],
      report.sessions.slice().reverse().map((session) => el("tr", {},
        el("th", { scope: "row" }, session.title), el("td", { title: session.session }, short(session.session)), el("td", { title: session.project ?? "" }, base(session.project)),
        number(session.calls), COVERAGE.map(([key]) => el("td", { class: `number cov-${session[key] ? key : "zero"}` }, session[key].toLocaleString("en"))),
        el("td", { class: "error" }, (session.problems ?? []).join("; "))))) : null,
    calls.length ? [el("h3", {}, "Other calls"), hidden ? el("p", { class: "muted" }, `${counted(hidden, "older call")} not shown.`) : null,
      table("Calls", [["time"], ["state"], ["agent"], ["tool"], ["input"], ["reason"]], calls.map((one) => el("tr", {},
        el("td", {}, one.time ? clock(one.time) : "–"),
        el("td", {}, el("span", { class: `answer cov-${one.state.replaceAll("-", "_")}` }, one.state.replaceAll("-", " "))),
        el("td", {}, one.agent), el("td", {}, one.tool), el("td", { class: "input" }, one.command ?? ""), el("td", {}, one.reason?.text ?? ""))))] : null);
}

export async function trust() {
  const view = byId("view-trust");
  const head = el("h2", {}, "Trust");
  let found;
  try {
    found = await call("/api/trust");
  } catch (error) {
    fill(view, head, el("p", { class: "problem", role: "alert" }, error.message));
    return;
  }
  fill(view, head,
    el("p", { class: "muted" }, "Hooks of the projects with the newest events. A hook that is new or changed does not run until you approve it in a terminal: ", el("code", {}, "checkrein trust")),
    found.projects.length ? null : el("p", { class: "empty" }, "No project is known yet."),
    found.projects.map((project) => el("section", { class: "project" },
      el("h3", {}, project.project),
      project.problem ? el("p", { class: "note" }, project.problem) : el("p", {}, `${project.approved} approved, `, el("span", { class: project.awaiting.length ? "warn" : "" }, `${project.awaiting.length} waiting`)),
      project.problems?.map((text) => el("p", { class: "problem" }, text)),
      project.awaiting?.map((hook) => el("article", { class: "hook" },
        el("header", {}, el("span", { class: `answer trust-${hook.status}` }, hook.status), el("strong", {}, hook.id), el("span", { class: "muted" }, hook.line ? `${hook.file}:${hook.line}` : hook.file), el("span", { class: "muted" }, hook.events.map(words).join(", "))),
        el("p", {}, hook.why),
        el("dl", { class: "facts" }, hook.facts.map((fact) => [el("dt", {}, fact.name), el("dd", {}, el("code", {}, fact.value))])))))));
}

const EXAMPLE = `hooks:
  - id: ask-before-push
    event: PreToolUse
    when: 'commands.exists(c, c.program == "git" && c.subcommand == "push")'
    ask: Push to the remote?
`;

export function whatIf(open) {
  const [text, result] = [byId("rules"), byId("rules-result")];
  if (!text.value) text.value = EXAMPLE;
  const form = byId("rules-form");
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button[type=submit]");
    button.disabled = true;
    fill(result, el("p", { class: "muted" }, "evaluating"));
    try {
      const report = await call("/api/what-if", { rules: text.value, last: Number(byId("rules-last").value) || 1000 });
      fill(result,
        el("p", { class: "summary" }, `${report.changed} of ${counted(report.evaluated, "evaluated call")} ${report.changed === 1 ? "changes" : "change"}.`,
          report.unknown ? ` ${report.unknown} of ${report.calls} calls could not be evaluated, because only the decision log has them.` : ""),
        report.redacted ? el("p", { class: "note" }, `${counted(report.redacted, "input")} with redacted secrets: rules that look for secrets find none there.`) : null,
        report.notes.map((note) => el("p", { class: "note" }, note)),
        report.decisions.length ? el("ul", { class: "transitions" }, report.decisions.map((change) => el("li", {}, `${change.count} × `, answer(change.then), " → ", answer(change.now)))) : null,
        report.changes.length ? table("Changed calls", [["time"], ["tool"], ["input"], ["then"], ["now"], ["by"]], report.changes.map((change) => el("tr", {},
          el("td", {}, el("button", { type: "button", class: "link", onclick: () => open(change.id) }, clock(change.time))),
          el("td", {}, change.tool ?? words(change.event)), el("td", { class: "input" }, change.command ?? ""),
          el("td", {}, answer(change.then)), el("td", {}, answer(change.now)),
          el("td", {}, change.hooks.join(", "), change.other.map(([name, value]) => el("span", { class: "muted source" }, ` ${name}: ${value}`)))))) : null,
        report.changed > report.changes.length ? el("p", { class: "muted" }, `The newest ${report.changes.length} are shown.`) : null);
    } catch (error) {
      const problems = error instanceof Refused && error.body?.problems ? error.body.problems : [error.message];
      fill(result, el("ul", { class: "problems", role: "alert" }, problems.map((problem) => el("li", { class: "problem" }, problem))));
    } finally {
      button.disabled = false;
    }
  });
}
