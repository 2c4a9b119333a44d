// One event in full, and why it got its answer.

import { answer, byId, clock, diff, el, fill, millis, words } from "./dom.js";
import { call } from "./link.js";

let shownId = null;

const section = (title, ...children) => el("section", {}, el("h3", {}, title), children);

const pair = (name, value) => (value === undefined || value === null || value === "" ? null : [el("dt", {}, name), el("dd", {}, value)]);

/** Formats JSON text or a value for people. */
function pretty(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

export async function open(id) {
  shownId = id;
  const dialog = byId("detail");
  fill(dialog, head("Event"), el("p", { class: "muted" }, "reading"));
  if (!dialog.open) dialog.showModal();
  let full;
  try {
    full = await call(`/api/events/${encodeURIComponent(id)}`);
  } catch (error) {
    if (shownId === id) fill(dialog, head("Event"), el("p", { class: "problem", role: "alert" }, error.message));
    return;
  }
  if (shownId === id) show(dialog, id, full);
}

export function isOpen() {
  return byId("detail").open;
}

export function shown() {
  return isOpen() ? shownId : null;
}

function head(title) {
  return el("header", { class: "drawer-head" },
    el("h2", { id: "detail-title" }, title),
    el("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => byId("detail").close() }, "✕"));
}

function show(dialog, id, { row, record: recorded }) {
  const record = recorded?.record;
  const told = row?.told ?? row?.verdict ?? record?.told?.decision ?? record?.verdict.decision;
  const verdict = record?.verdict;
  const title = row?.tool ?? record?.subject ?? words(row?.event ?? record?.event);
  fill(dialog,
    head([title, " ", answer(told)]),
    el("dl", { class: "facts" },
      pair("time", clock(row?.time ?? recorded.time, true)),
      pair("agent", row?.agent ?? recorded?.agent),
      pair("event", words(row?.event ?? record?.event)),
      pair("session", row?.session ?? record?.session_id),
      pair("sub-agent", row?.subagent),
      pair("project", row?.project ?? recorded?.project),
      pair("duration", row && `${millis(row.us)} ms from the arrival to the answer`),
      pair("decided by", row?.by),
      pair("answer", row?.told && row.told !== row.verdict ? `${words(row.told)}; answer of the hooks: ${words(row.verdict)}` : null),
      pair("repeated", row?.repeat ? "delivered before: no hook ran, and the answer is the first one" : null)),
    record ? why(record, verdict, told) : section("Why",
      row?.reason && el("p", {}, row.reason),
      row?.hooks && el("p", {}, `Selected hooks: ${row.hooks.join(", ")}`),
      el("p", { class: "note" }, "Only the line of the decision log is known: the process did not receive the record, or it is too old or too large.")),
    record && inputs(verdict),
    record && el("div", {}, section("Hooks", record.hooks.length ? record.hooks.map(hook) : el("p", { class: "muted" }, "No hook was selected."),
      record.silent_rules ? el("p", { class: "muted" }, record.silent_rules > 1 ? `${record.silent_rules} rules were evaluated and do not apply.` : "1 rule was evaluated and does not apply.") : null)),
    record && plan(id),
    el("details", { class: "raw" }, el("summary", {}, "Record as JSON"), el("pre", { tabindex: "0" }, JSON.stringify(recorded ?? row, null, 2))));
  dialog.scrollTop = 0;
}

/** How the replies of the hooks became one answer. */
function why(record, verdict, told) {
  const reasons = verdict.reasons ?? [];
  const strongest = reasons.filter((reason) => reason.decision === verdict.decision);
  let text;
  if (record.repeat) text = "The agent delivered this event before. It got the same answer, and no hook ran.";
  else if (!record.hooks.length && !reasons.length) text = "No hook was selected, so checkrein has no opinion.";
  else if (!reasons.length) text = verdict.decision === "no_opinion" ? "No hook has an opinion." : `The answer is ${words(verdict.decision)}.`;
  else if (reasons.length === 1) text = `One hook has an opinion: ${reasons[0].hook}.`;
  else text = `${reasons.length} opinions. The strongest is ${words(verdict.decision)}, from ${strongest.map((reason) => reason.hook).join(", ") || "the failure policy"}.`;
  const { approval } = record;
  const other = approval ? `The user answered the questions of the hooks: approved by ${approval.by || "unknown"}${approval.via ? ` (${approval.via})` : ""}, ${approval.id}.`
    : told && told !== verdict.decision ? `The agent cannot express ${words(verdict.decision)} here, or the answer was changed after the hooks: it got ${words(told)}.` : null;
  return section("Why",
    el("p", {}, text), other && el("p", {}, other),
    el("ol", { class: "settling" }, reasons.map((reason) => el("li", {}, answer(reason.decision), " ", el("strong", {}, reason.hook), reason.text && `: ${reason.text}`))),
    verdict.context?.length ? [el("h4", {}, "Context for the model"), verdict.context.map((text) => el("pre", {}, text))] : null,
    verdict.system_messages?.length ? [el("h4", {}, "Messages for the user"), verdict.system_messages.map((text) => el("pre", {}, text))] : null,
    verdict.stop_reason && el("p", {}, `Stop: ${verdict.stop_reason}`),
    verdict.warnings?.length ? el("ul", { class: "notes" }, verdict.warnings.map((text) => el("li", {}, text))) : null,
    verdict.cancelled && el("p", { class: "note" }, "The host cancelled the event."));
}

function inputs(verdict) {
  const parts = [];
  const part = (title, before, after) => {
    if (before === undefined || before === null) { if (after !== undefined && after !== null) parts.push(section(title, el("pre", { tabindex: "0" }, pretty(after)))); return; }
    const [one, two] = [pretty(before), after === undefined || after === null ? null : pretty(after)];
    if (two !== null && two !== one) parts.push(section(`${title}, rewritten`, diff(one, two)));
    else parts.push(section(title, el("pre", { tabindex: "0" }, one)));
  };
  part("Input", verdict.original_input, verdict.effective_input);
  part("Prompt", verdict.original_prompt, verdict.effective_prompt);
  part("Output", verdict.original_output, verdict.effective_output);
  return parts;
}

function hook(hook) {
  const source = hook.source.file ? `${hook.source.file}${hook.source.line ? `:${hook.source.line}` : ""}` : hook.source.scope;
  const outcome = hook.outcome === "opinion" ? answer(hook.decision ?? "no_opinion") : el("span", { class: `answer outcome-${hook.outcome}` }, hook.outcome === "failure" ? `failed: ${words(hook.failure)}` : words(hook.outcome));
  const output = [["stdout", hook.stdout], ["stderr", hook.stderr]].filter(([, text]) => text);
  return el("article", { class: "hook" },
    el("header", {}, outcome, el("strong", {}, hook.id), el("span", { class: "muted" }, hook.handler),
      hook.dry_run && el("span", { class: "tag" }, "dry run"),
      el("span", { class: "muted number" }, hook.duration_ms === null || hook.duration_ms === undefined ? "" : `${hook.duration_ms} ms`)),
    el("p", { class: "muted source" }, source),
    hook.reason && el("p", {}, hook.reason),
    hook.detail && el("p", {}, hook.detail),
    hook.would && el("p", {}, `In force it would answer ${words(hook.would.decision)}${hook.would.differs ? ", and change the result" : ""}.`),
    hook.rewrote?.length ? el("p", {}, `Rewrote: ${hook.rewrote.join(", ")}`) : null,
    hook.exit_code !== null && hook.exit_code !== undefined && hook.exit_code !== 0 ? el("p", {}, `Exit status ${hook.exit_code}`) : null,
    hook.status ? el("p", {}, `HTTP status ${hook.status}`) : null,
    output.map(([name, text]) => el("details", {}, el("summary", {}, name), el("pre", { tabindex: "0" }, text))),
    hook.truncated && el("p", { class: "note" }, "Not all output was kept."),
    hook.left_running?.length ? el("p", { class: "note" }, `Left running: ${hook.left_running.join(", ")}`) : null);
}

/** The plan with the current hooks, read on demand. */
function plan(id) {
  const result = el("div", {});
  const button = el("button", { type: "button", class: "quiet", onclick: async () => {
    button.disabled = true;
    try {
      const { hooks } = await call(`/api/events/${encodeURIComponent(id)}/plan`);
      fill(result, hooks.length ? el("ul", { class: "plan" }, hooks.map((hook) => el("li", { class: hook.runs ? "runs" : "muted" },
        el("strong", {}, hook.id), " ", hook.runs ? (hook.fails ? `would fail: ${hook.fails}` : hook.undecided ? `runs, because its condition is unknown: ${hook.undecided}` : "runs") : hook.why_not,
        el("span", { class: "muted source" }, ` ${hook.source}`)))) : el("p", { class: "muted" }, "No hook is configured for the project."));
    } catch (error) {
      fill(result, el("p", { class: "problem" }, error.message));
    }
    button.disabled = false;
  } }, "Plan with the current hooks");
  return section("Plan", button, result);
}
