// Calls checkrein for the events of opencode. At a gate, a call that fails blocks the action.

import { spawn } from "node:child_process"

const COMMAND = "@COMMAND@"
const FAIL_OPEN = "@FAIL_OPEN@"

/** Runs checkrein with an event. Never rejects. */
function run(event) {
  return new Promise((resolve) => {
    let input
    try {
      input = JSON.stringify(event)
    } catch (error) {
      resolve({ error: `the event is not JSON: ${error.message}` })
      return
    }
    let child
    try {
      child = spawn(COMMAND[0], COMMAND.slice(1), { cwd: event.cwd, stdio: "pipe", windowsHide: true })
    } catch (error) {
      resolve({ error: error.message })
      return
    }
    const streams = { stdout: "", stderr: "" }
    for (const name of Object.keys(streams)) {
      child[name].setEncoding("utf8")
      child[name].on("data", (text) => (streams[name] += text))
    }
    child.on("error", (error) => resolve({ error: error.message }))
    child.on("close", (code, signal) => resolve(code === null ? { error: `ended by ${signal}` } : { code, ...streams }))
    // A program that ended early has an exit code, which decides.
    child.stdin.on("error", () => {})
    child.stdin.end(input)
  })
}

/** Returns the answer of checkrein. A failure is a denial, unless the user chose `--fail-open`. */
async function ask(event) {
  const failed = (why) => (FAIL_OPEN ? {} : { decision: "deny", reason: `${why}; ask the user to run \`checkrein status opencode\`` })
  const ran = await run(event)
  if (ran.error !== undefined) return failed(`checkrein could not run: ${ran.error}`)
  if (ran.code === 2) return { decision: "deny", reason: ran.stderr.trim() }
  if (ran.code !== 0) return failed(`checkrein failed with exit code ${ran.code}: ${ran.stderr.trim()}`)
  if (ran.stdout.trim() === "") return {}
  try {
    const answer = JSON.parse(ran.stdout)
    if (answer !== null && typeof answer === "object" && !Array.isArray(answer)) return answer
  } catch {
    // Reported below.
  }
  return failed("the answer of checkrein is not a JSON object")
}

/** Throws if the answer is not a permission to continue. opencode shows the message to the model. */
function refuse(answer) {
  if (answer.decision === undefined || answer.decision === "allow") return
  throw new Error(`Denied by checkrein: ${answer.reason || "no reason"}`)
}

/** Replaces the members of an object. opencode ignores a new object. */
function replace(target, source) {
  if (target === null || typeof target !== "object" || source === null || typeof source !== "object") {
    throw new Error("Denied by checkrein: a hook changed the input, which is not an object")
  }
  for (const key of Object.keys(target)) delete target[key]
  Object.assign(target, source)
}

const append = (text, more) => [text, more].filter((part) => part).join("\n\n")

/** Session of a bus event. */
const sessionOf = (properties) => properties?.sessionID ?? properties?.info?.sessionID ?? properties?.info?.id

/** Further fields of bus events. Hooks can only observe them. */
const OBSERVED = {
  "session.created": () => ({ source: "startup" }),
  "session.deleted": () => ({ reason: "deleted" }),
  "session.idle": () => ({}),
  "session.compacted": () => ({}),
  "session.error": (properties) => ({ error: JSON.stringify(properties?.error ?? null) }),
}

/** Plugin for version 1 of opencode. */
export const Checkrein = async ({ directory, client }) => {
  const tell = (answer) => {
    const log = client?.app?.log
    if (!answer.message || !log) return
    const body = { service: "checkrein", level: "warn", message: answer.message }
    Promise.resolve(log.call(client.app, { body })).catch(() => {})
  }
  const call = async (name, sessionID, fields) => {
    const answer = await ask({ hook_event_name: name, session_id: sessionID, cwd: directory, ...fields })
    tell(answer)
    return answer
  }
  return {
    "tool.execute.before": async (input, output) => {
      const fields = { tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args ?? {} }
      const answer = await call("tool.execute.before", input.sessionID, fields)
      refuse(answer)
      if (answer.args !== undefined) replace(output.args, answer.args)
    },
    "tool.execute.after": async (input, output) => {
      const fields = {
        tool_name: input.tool,
        tool_use_id: input.callID,
        tool_input: input.args ?? {},
        tool_response: output?.output ?? "",
      }
      const answer = await call("tool.execute.after", input.sessionID, fields)
      if (!output) return
      if (answer.output !== undefined) output.output = answer.output
      if (answer.decision === "deny") output.output = append(output.output, `checkrein: ${answer.reason}`)
      output.output = append(output.output, answer.context)
    },
    "permission.ask": async (input, output) => {
      const tool_input = { ...input.metadata, pattern: input.pattern }
      const fields = { tool_name: input.type, tool_use_id: input.callID, tool_input }
      const answer = await call("permission.ask", input.sessionID, fields)
      if (answer.decision !== undefined) output.status = ["allow", "ask"].includes(answer.decision) ? answer.decision : "deny"
    },
    "chat.message": async (input, output) => {
      const texts = (output.parts ?? []).filter((part) => part.type === "text" && !part.synthetic)
      const prompt = texts.map((part) => part.text).join("\n")
      const answer = await call("chat.message", input.sessionID, { prompt })
      refuse(answer)
      const last = texts.at(-1)
      if (answer.context && last) last.text = append(last.text, answer.context)
    },
    "experimental.session.compacting": async (input, output) => {
      const answer = await call("experimental.session.compacting", input.sessionID, { trigger: "auto" })
      if (answer.context) output.context?.push(answer.context)
    },
    event: async ({ event }) => {
      const fields = OBSERVED[event?.type]
      if (fields) await call(event.type, sessionOf(event.properties), fields(event.properties))
    },
  }
}
