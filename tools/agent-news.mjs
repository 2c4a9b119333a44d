#!/usr/bin/env node
// Prints what changed in released agents, compared with the dialect tables.
//
//   node tools/agent-news.mjs                        all agents below, newest versions
//   node tools/agent-news.mjs @openai/codex@0.169.0  one package
//   node tools/agent-news.mjs --schemas DIR …        also writes the schemas of Codex to DIR
//
// The script installs packages from npm into a temporary directory, without their install scripts, and starts no agent. It reads
// what can be read mechanically: the schemas in the program of Codex, and names of events in type files, programs and the
// documentation inside of them. A name that is only in a package is a candidate for a new row. A name that is only in the table
// may be gone, or not be readable in this way.
//
// The tables come from `checkrein events --as AGENT --json`. `CHECKREIN` names the program (default: target/debug/checkrein).
// Exit code: 0 without differences, 1 with differences, 2 if a package could not be read.

import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { brotliDecompressSync } from "node:zlib"

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..")
const PROGRAM = process.env.CHECKREIN ?? join(ROOT, "target/debug/checkrein")
const SCHEMAS = join(ROOT, "crates/checkrein-tools/tests/data")

/** Packages, their dialects, and functions that return the names of events in the installed files. */
const AGENTS = {
  "@openai/codex": { dialect: "codex", events: codexEvents },
  "@anthropic-ai/claude-code": { dialect: "claude", events: literals(/hook_event_name:\s*(?:\w+\.literal\()?"([A-Z]\w+)"/g) },
  "@google/gemini-cli": { dialect: "gemini", events: literals(/HookEventName\d*\["\w+"\]\s*=\s*"(\w+)"/g) },
  "@qwen-code/qwen-code": { dialect: "qwen", events: literals(/HookEventName\d*\["\w+"\]\s*=\s*"(\w+)"/g) },
  "@xai-official/grok": { dialect: "grok", events: grokEvents },
  "@opencode-ai/plugin": { dialect: "opencode", events: opencodeEvents },
}

function* files(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) yield* files(path)
    else if (entry.isFile()) yield path
  }
}

/** Texts of an installed package that may contain names: code, types and programs. */
function* texts(directory) {
  for (const path of files(directory)) {
    const size = statSync(path).size
    if (path.endsWith(".br")) yield brotliDecompressSync(readFileSync(path), { maxOutputLength: 2 ** 31 - 1 }).toString("latin1")
    else if (/\.(m?[jt]s|cjs)$/.test(path) || (size > 1 << 20 && !/\.(map|json|wasm|node)$/.test(path))) {
      yield readFileSync(path).toString("latin1")
    }
  }
}

function literals(pattern) {
  return (directory) => {
    const found = new Set()
    for (const text of texts(directory)) for (const match of text.matchAll(pattern)) found.add(match[1])
    return found
  }
}

/** The JSON object that starts at a position of a text. `null`: none. */
function objectAt(text, start) {
  let depth = 0
  let inString = false
  for (let at = start; at < text.length && at < start + 200_000; at++) {
    const c = text[at]
    if (inString) {
      if (c === "\\") at++
      else if (c === '"') inString = false
    } else if (c === '"') inString = true
    else if (c === "{") depth++
    else if (c === "}" && --depth === 0) {
      try {
        return JSON.parse(text.slice(start, at + 1))
      } catch {
        return null
      }
    }
  }
  return null
}

/** Schemas of hooks in the program of Codex, by title. */
function codexSchemas(directory) {
  const schemas = new Map()
  for (const text of texts(directory)) {
    for (const match of text.matchAll(/\{\s*"\$schema": "http:\/\/json-schema\.org\/draft-07\/schema#"/g)) {
      const schema = objectAt(text, match.index)
      if (/\.command\.(input|output)$/.test(schema?.title ?? "")) schemas.set(schema.title, schema)
    }
  }
  return schemas
}

const pascal = (name) => name.replace(/(^|[-_])(\w)/g, (_, __, c) => c.toUpperCase())

/** Names with schemas, and those in the list of names that the program has for its settings. */
function codexEvents(directory, options) {
  const schemas = codexSchemas(directory)
  if (options.schemas) {
    mkdirSync(options.schemas, { recursive: true })
    for (const [title, schema] of schemas) {
      writeFileSync(join(options.schemas, `${title}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`)
    }
  }
  compareSchemas(schemas, options)
  const found = new Set([...schemas.keys()].map((title) => pascal(title.split(".")[0])))
  for (const text of texts(directory)) {
    for (const match of text.matchAll(/(?:pre|post)[-_]model[-_]request/g)) found.add(pascal(match[0]))
  }
  return found
}

/** Compares schemas with the newest ones in the test data. */
function compareSchemas(schemas, { report }) {
  const kept = readdirSync(SCHEMAS).filter((name) => name.startsWith("codex-")).sort().at(-1)
  if (!kept) return
  const names = readdirSync(join(SCHEMAS, kept)).filter((name) => name.endsWith(".schema.json"))
  const old = new Map(names.map((name) => [name.replace(".schema.json", ""), readFileSync(join(SCHEMAS, kept, name), "utf8")]))
  for (const [title, schema] of schemas) {
    if (!old.has(title)) report(`new schema ${title}`)
    else if (JSON.stringify(JSON.parse(old.get(title))) !== JSON.stringify(schema)) report(`changed schema ${title} (compared with ${kept})`)
  }
  for (const title of old.keys()) if (!schemas.has(title)) report(`schema ${title} is gone`)
}

/** Names in the table of events in the documentation inside of the program. */
function grokEvents(directory) {
  const found = new Set()
  for (const text of texts(directory)) {
    const start = text.indexOf("## Hook Events")
    if (start < 0) continue
    const table = text.slice(start, start + 8000).split("`SubagentEnd` is accepted")[0]
    for (const match of table.matchAll(/^\| `([A-Z]\w+)` \|/gm)) found.add(match[1])
  }
  return found
}

/** Members of the interface of a plugin, and types of bus events about sessions and permissions. */
function opencodeEvents(directory) {
  const found = new Set()
  for (const path of files(directory)) {
    if (path.endsWith("plugin/dist/index.d.ts")) {
      const body = readFileSync(path, "utf8").split("export interface Hooks {")[1] ?? ""
      for (const match of body.matchAll(/^ {4}"([\w.]+)"\?:/gm)) found.add(match[1])
    } else if (path.endsWith("sdk/dist/gen/types.gen.d.ts")) {
      for (const match of readFileSync(path, "utf8").matchAll(/type: "((?:session|permission|file|tui)\.[\w.]+)"/g)) found.add(match[1])
    }
  }
  return found
}

function ownEvents(dialect) {
  const rows = JSON.parse(execFileSync(PROGRAM, ["events", "--as", dialect, "--json"], { encoding: "utf8", maxBuffer: 1 << 26 }))
  return { names: new Set(rows.map((row) => row.name)), versions: [...new Set(rows.map((row) => row.evidence?.version).filter(Boolean))] }
}

function check(name, options) {
  const [, id, version] = /^(@?[^@]+)(?:@(.+))?$/.exec(name)
  const agent = AGENTS[id]
  if (!agent) throw new Error(`unknown package \`${id}\`; known: ${Object.keys(AGENTS).join(", ")}`)
  const directory = mkdtempSync(join(tmpdir(), "agent-news-"))
  try {
    writeFileSync(join(directory, "package.json"), "{}")
    const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", `${id}@${version ?? "latest"}`]
    execFileSync("npm", words, { cwd: directory, stdio: ["ignore", "ignore", "inherit"] })
    const installed = JSON.parse(readFileSync(join(directory, "node_modules", id, "package.json"), "utf8")).version
    const own = ownEvents(agent.dialect)
    console.log(`${id} ${installed} (table \`${agent.dialect}\`: ${own.versions.join(", ") || "no version"})`)
    let differences = 0
    const report = (text) => {
      differences++
      console.log(`  ${text}`)
    }
    const found = agent.events(join(directory, "node_modules"), { ...options, report })
    if (found.size === 0) throw new Error(`no names of events found in ${id} ${installed}: the pattern in this script is outdated`)
    for (const event of [...found].sort()) if (!own.names.has(event)) report(`only in the package: ${event}`)
    for (const event of [...own.names].sort()) if (!found.has(event)) report(`only in the table: ${event}`)
    if (differences === 0) console.log(`  no difference in ${found.size} events`)
    return differences
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function main(words) {
  const options = {}
  const packages = []
  while (words.length > 0) {
    const word = words.shift()
    if (word === "--schemas") options.schemas = words.shift()
    else if (word.startsWith("--")) throw new Error(`unknown option \`${word}\`; see the head of this script`)
    else packages.push(word)
  }
  if (!existsSync(PROGRAM)) throw new Error(`\`${PROGRAM}\` does not exist; run \`cargo build\`, or set CHECKREIN`)
  let exit = 0
  for (const name of packages.length > 0 ? packages : Object.keys(AGENTS)) {
    try {
      if (check(name, options) > 0 && exit === 0) exit = 1
    } catch (error) {
      console.error(`${name}: ${error.message}`)
      exit = 2
    }
  }
  return exit
}

try {
  process.exitCode = main(process.argv.slice(2))
} catch (error) {
  console.error(error.message)
  process.exitCode = 2
}
