//! ub: programs at four events, one of which can block.
//!
//! Only exit codes apply: the output of a hook has no effect. A hook that fails (exit code, signal, timeout or failed start)
//! blocks the tool with `on_failure: block`, and is only reported otherwise.
//!
//! Differences between checkrein and the agent:
//! - A hook that cannot be loaded is an error with its position. It blocks the tool if it has `block`, or if its `on_failure`
//!   is invalid. A hook that could never block does not.
//! - `${NAME}`, `${NAME:-default}` and `$$` are valid only in `command`, not in the whole file. So a value cannot become a part
//!   of the file. Only variables of the hook are allowed: those of `env`, `PATH` and `HOME`. They are expanded when the hook is
//!   loaded into an engine. Unset variables are empty.
//! - Hooks always get `PATH`. The file cannot remove it; hooks that are built in code can set it.
//! - Background processes are no failure, and neither is output above 4,096 bytes.

use std::time::Duration;

use checkrein_core::{
    BlockScope, ChainEnd, DecisionRule, EventKind, FailurePolicy, FailureTable, Grammar, HookOutcome, HookRecord,
    Matcher, RawJson, Record, Rules, RunOrder, Scope, Syntax, closest_match,
};

use crate::config::{
    Attribute, ConfigTable, ConversionLoss, Decoder, Encoded, FileFormat, FileRow, PathBase, duration, lost_attributes,
    printable, unwritable,
};
use crate::input::McpNames;
use crate::payload::{FieldEncoding, FieldRow, PayloadTable};
use crate::reply::{
    AnswerDetection, EventScope, ExitAction, ExitCodeMatch, ExitRule, MalformedPolicy, ReasonSource, ReplyTable,
    UnknownPolicy,
};
use crate::spec::{CommandLine, CommandSpec, HandlerSpec, HookSpec, escaped, has_variables, plain};
use crate::table::{Cwd, Data, Dialect, Environment, EventRow, HttpTable, ProcessTable, Shell, TimeTable, VariableRow};
use checkrein_document::{Member, Node};

/// Dialect of ub.
pub static DIALECT: Dialect = Dialect {
    name: "ub",
    evidence: crate::agents::evidence::UB,
    events: EVENTS,
    mcp: McpNames::UNKNOWN,
    matcher: Grammar::new(&[], None, Syntax::Exact),
    payload: PayloadTable {
        event: "event",
        ..PayloadTable::fields(&[FieldRow::same("session_id").or("\"\""), FieldRow::same("turn").or("0")])
    },
    reply: ReplyTable {
        malformed: MalformedPolicy::Text,
        unknown_keys: UnknownPolicy::Ignored,
        bad_values: UnknownPolicy::Ignored,
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Nothing),
            ExitRule::new(ExitCodeMatch::NotZero, ExitAction::FailFor(&[ReasonSource::Stderr, ReasonSource::Exit]))
                .at(EventScope::Blocking),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
        ],
        ..ReplyTable::BASE
    },
    process: ProcessTable {
        shell: Shell::None,
        environment: Environment::Only(&["PATH"]),
        variables: &[
            VariableRow::new("UB_HOOK_EVENT", Data::EventName),
            VariableRow::new("UB_HOOK_SESSION_ID", Data::Field("session_id")).or(""),
            VariableRow::new("UB_HOOK_TURN", Data::Field("turn")).or("0"),
            VariableRow::new("UB_HOOK_TOOL_NAME", Data::Field("tool_name")).or(""),
            VariableRow::new("UB_HOOK_TOOL_USE_ID", Data::Field("tool_use_id")).or(""),
        ],
        cwd: Cwd::Host,
        output_cap: 4096,
        leaves_background: true,
        ..ProcessTable::BASE
    },
    http: HttpTable { decides: false, variables: false, ..HttpTable::BASE },
    time: TimeTable { cap: Some(LONGEST), ..TimeTable::seconds(10) },
    rules: Rules::NATIVE
        .settle(DecisionRule::AnyBlock)
        .order(RunOrder::Sequential)
        .chain_end(ChainEnd::Never)
        .blocks(BlockScope::Gates)
        .failures(FailureTable::open()),
    config: ConfigTable {
        files: FILES,
        format: FileFormat::Custom { decode, encode },
        rejects_unknown_keys: true,
        ..ConfigTable::BASE
    },
    ..Dialect::BASE
};

const LONGEST: Duration = Duration::from_secs(60);

const TOOL: [FieldRow; 3] = [
    FieldRow::named("tool.name", "tool_name"),
    FieldRow::named("tool.use_id", "tool_use_id").or("\"\""),
    FieldRow::named("tool.args", "tool_input").or("{}"),
];

const EVENTS: &[EventRow] = &[
    EventRow::new("pre_tool_call", EventKind::PreToolUse).matched().blocks().fields(&TOOL),
    EventRow::new("post_tool_call", EventKind::PostToolUse).matched().fields(&[
        TOOL[0],
        TOOL[1],
        TOOL[2],
        FieldRow::named("result.content", "tool_response").form(FieldEncoding::Text).or("\"\""),
        FieldRow::named("result.is_error", "is_error").or("false"),
    ]),
    EventRow::new("pre_user_turn", EventKind::UserTurnStart),
    EventRow::new("post_user_turn", EventKind::UserTurnEnd),
];

const FILES: &[FileRow] = &[
    FileRow::new(Scope::User, PathBase::Config, "ub/config.yaml"),
    FileRow::new(Scope::Project, PathBase::Upwards { steps: 5, within_repository: false }, ".ub/config.yaml"),
];

const KEYS: &[&str] = &["command", "tools", "timeout", "on_failure", "env"];

const EFFECTS: &[(&str, FailurePolicy)] = &[("warn", FailurePolicy::Open), ("block", FailurePolicy::Closed)];

fn decode(decoder: &mut Decoder<'_>, root: &Node<'_>) {
    if root.get("hooks").is_none() {
        decoder.misplaced(root.as_object().unwrap_or_default(), "hooks");
    }
    let Some(hooks) = root.get("hooks").filter(|hooks| !hooks.is_null()) else {
        if root.as_object().is_none() && !root.is_null() {
            let why = decoder.wrong_type(root, "the file", "an object");
            decoder.broken("file", &EventKind::PreToolUse, None, root.span, &why);
        }
        return;
    };
    let Ok(events) = decoder.object(hooks, "hooks") else {
        let why = "`hooks` is not an object";
        return decoder.broken("hooks", &EventKind::PreToolUse, None, hooks.span, why);
    };
    for event in events {
        let Some(kind) = decoder.event(&event.key, event.key_span) else { continue };
        if event.value.is_null() {
            continue;
        }
        match decoder.array(&event.value, &event.key) {
            Ok(entries) => {
                for (at, entry) in entries.iter().enumerate() {
                    read(decoder, entry, &kind, &format!("{}[{at}]", event.key));
                }
            }
            Err(why) => decoder.broken(event.key.clone(), &kind, None, event.value.span, &why),
        }
    }
}

/// Decodes one entry. If it cannot be loaded, it blocks the tool, unless it could never have blocked.
fn read(decoder: &mut Decoder<'_>, entry: &Node<'_>, kind: &EventKind, id: &str) {
    let members = match decoder.object(entry, id) {
        Ok(members) => members,
        Err(why) => return decoder.broken(id, kind, None, entry.span, &why),
    };
    decoder.check_keys(members, KEYS);
    let on_failure = on_failure(decoder, members);
    let matcher = tools(decoder, entry.get("tools"), kind);
    let spec = spec(decoder, entry, kind, id).and_then(|spec| Ok((spec, on_failure.clone()?, matcher.clone()?)));
    match spec {
        Ok((mut spec, effect, matcher)) => {
            spec.matcher = matcher;
            match effect {
                Some(FailurePolicy::Closed) if !decoder.dialect().is_gate(kind) => {
                    let text = format!("`on_failure: block` has no effect: hooks cannot block `{}`", name(kind));
                    decoder.warning("no-effect", entry.span, text);
                }
                Some(effect) => spec = spec.on_failure(effect),
                None => {}
            }
            decoder.push(spec);
        }
        Err(why) if !matches!(on_failure, Ok(None | Some(FailurePolicy::Open))) => {
            decoder.broken(id, kind, matcher.ok(), entry.span, &why);
        }
        Err(_) => {}
    }
}

fn spec(decoder: &mut Decoder<'_>, entry: &Node<'_>, kind: &EventKind, id: &str) -> Result<HookSpec, String> {
    let Some(command) = entry.get("command") else {
        let why = "this hook has no `command`; add a list of words".to_owned();
        decoder.error("missing-key", entry.span, why.clone());
        return Err(why);
    };
    if let Some(text) = command.as_str() {
        let why = decoder.wrong_type(command, "command", "an array");
        let shell = format!("[sh, -c, {}]", RawJson::string(text));
        let help = format!("to use a shell, write {shell}");
        decoder.warning("no-shell", command.span, "ub runs commands without a shell, as lists of words").help =
            Some(help);
        return Err(why);
    }
    let mut own = CommandSpec::argv(decoder.words(command, "command")?);
    if let Some(env) = entry.get("env").filter(|env| !env.is_null()) {
        for name in decoder.texts(env, "env")? {
            // The agent skips an empty name.
            if !name.is_empty() && !own.env_allow.contains(&name) {
                own.env_allow.push(name);
            }
        }
    }
    decoder.check_command(&own, command.span)?;
    if let CommandLine::Argv(words) = &mut own.run {
        own.expands = words.iter().any(|word| has_variables(word));
        if !own.expands {
            *words = words.iter().map(|word| plain(word)).collect();
        }
    }
    if let CommandLine::Argv(words) = &own.run
        && own.expands
        && let Some(name) = own.foreign_variable(words)
    {
        let why = format!("the command uses `${{{name}}}`, but the hook does not get that variable");
        decoder.error("foreign-variable", command.span, why.clone()).help = Some(format!("add `{name}` to `env`"));
        return Err(why);
    }
    let mut spec = decoder.start(id, kind.clone(), HandlerSpec::Command(own), entry.span);
    spec.timeout = match entry.get("timeout").filter(|timeout| !timeout.is_null()) {
        Some(timeout) => time(decoder, timeout)?,
        None => None,
    };
    Ok(spec)
}

fn time(decoder: &mut Decoder<'_>, node: &Node<'_>) -> Result<Option<Duration>, String> {
    let bad = |decoder: &mut Decoder<'_>, why: String| {
        decoder.error("bad-time", node.span, why.clone()).help =
            Some("write a duration such as 10s, 1m30s or 500ms".to_owned());
        Err(why)
    };
    let text = match (node.as_str(), node.as_number()) {
        (Some(text), _) => text,
        (_, Some("0")) => "0",
        (_, Some(number)) => return bad(decoder, format!("`timeout` has no unit after `{number}`")),
        _ => return Err(decoder.wrong_type(node, "timeout", "a duration such as `10s`")),
    };
    match duration::parse(text) {
        Ok(Some(time)) if time > LONGEST => {
            decoder.warning("cut-time", node.span, format!("`timeout` is above the maximum, so {LONGEST:?} applies"));
            Ok(Some(time))
        }
        Ok(None) if text.starts_with('-') => {
            decoder.warning("bad-time", node.span, "`timeout` is below 0, so the default applies; omit it");
            Ok(None)
        }
        Ok(time) => Ok(time),
        Err(why) => bad(decoder, format!("`timeout` {why}")),
    }
}

fn on_failure(decoder: &mut Decoder<'_>, members: &[Member<'_>]) -> Result<Option<FailurePolicy>, String> {
    let known = members.iter().find(|member| member.key == "on_failure").filter(|member| !member.value.is_null());
    let Some(member) = known else {
        // A misspelt key would silently turn a blocking hook into one that never blocks.
        let misspelt = members.iter().map(|member| &*member.key).filter(|key| !KEYS.contains(key));
        let is_similar = |key: &&str| closest_match(key, KEYS.iter().copied()) == Some("on_failure");
        return match misspelt.into_iter().find(is_similar) {
            Some(key) => Err(format!("unknown key `{key}`; did you mean `on_failure`?")),
            None => Ok(None),
        };
    };
    let word = decoder.text(&member.value, "on_failure")?;
    match EFFECTS.iter().find(|(name, _)| *name == word) {
        Some((_, effect)) => Ok(Some(*effect)),
        None => {
            let words: Vec<_> = EFFECTS.iter().map(|(word, _)| *word).collect();
            decoder.unknown("unknown-value", member.value.span, "value of `on_failure`", &word, &words);
            Err(format!("unknown value `{word}` of `on_failure`"))
        }
    }
}

fn tools(decoder: &mut Decoder<'_>, node: Option<&Node<'_>>, kind: &EventKind) -> Result<Matcher, String> {
    let Some(node) = node.filter(|node| !node.is_null()) else { return Ok(Matcher::everything()) };
    let names = decoder.words(node, "tools")?;
    if !decoder.dialect().is_matched(kind) {
        if !names.is_empty() {
            let text = format!("`{}` ignores `tools`, so this hook always runs; remove `tools`", name(kind));
            decoder.warning("matcher-ignored", node.span, text);
        }
        return Ok(Matcher::everything());
    }
    if let Some(pattern) = names.iter().find(|name| name.contains(['*', '?', '|'])) {
        let text = format!("`{pattern}` matches only a tool with exactly this name: ub has no patterns");
        decoder.warning("no-pattern", node.span, text).help = Some("omit `tools` to match all tools".to_owned());
    }
    Ok(Matcher::names(names))
}

fn name(kind: &EventKind) -> &'static str {
    DIALECT.name_of(kind).unwrap_or_default()
}

fn encode(dialect: &Dialect, hooks: &[&HookSpec]) -> Encoded {
    let mut lost = Vec::new();
    let mut text = String::new();
    for row in dialect.events {
        let mut entries = String::new();
        for (at, spec) in hooks.iter().enumerate().filter(|(_, spec)| spec.kinds.contains(&row.kind)) {
            match entry(at, spec, row, &mut lost) {
                Ok(entry) => entries.push_str(&entry),
                Err(why) => lost.push(ConversionLoss::whole(at, why)),
            }
        }
        if !entries.is_empty() {
            text.push_str(&format!("  {}:\n{entries}", row.name));
        }
    }
    for (at, spec) in hooks.iter().enumerate() {
        let elsewhere = spec.kinds.iter().filter(|kind| dialect.row(kind).is_none());
        lost.extend(
            elsewhere.map(|kind| ConversionLoss::whole(at, format!("{} has no event for `{kind}`", dialect.title()))),
        );
    }
    let text = if text.is_empty() { "hooks: {}\n".to_owned() } else { format!("hooks:\n{text}") };
    Encoded { text, lost }
}

/// One entry, or the reason why the file cannot express it.
fn entry(at: usize, spec: &HookSpec, row: &EventRow, lost: &mut Vec<ConversionLoss>) -> Result<String, String> {
    if let Some(why) = unwritable(spec, |_| false) {
        return Err(why.to_owned());
    }
    let HandlerSpec::Command(command) = &spec.handler else {
        return Err(format!("ub has no `{}` hooks", spec.handler.kind()));
    };
    let words: Vec<String> = match &command.run {
        CommandLine::Argv(words) if command.expands => words.clone(),
        CommandLine::Argv(words) => words.iter().map(|word| escaped(word)).collect(),
        CommandLine::Shell { text, shell } => {
            let default = || vec!["sh".to_owned(), "-c".to_owned()];
            shell.clone().unwrap_or_else(default).into_iter().chain([escaped(text)]).collect()
        }
    };
    let matcher = &spec.matcher;
    let tools = match matcher.as_names() {
        _ if matcher.is_everything() => &[],
        Some(_) if !row.matched => {
            lost.push(ConversionLoss::part(
                at,
                format!("its matcher `{}`, because `{}` has none", matcher.pattern(), row.kind),
            ));
            &[]
        }
        Some(names) => names,
        None => return Err(format!("ub cannot express its matcher `{}`", matcher.pattern())),
    };
    let mut lines = vec![format!("command: {}", list(&words))];
    if !tools.is_empty() {
        lines.push(format!("tools: {}", list(tools)));
    }
    if let Some(timeout) = spec.timeout {
        lines.push(format!("timeout: {}", duration::write(timeout)));
    }
    if let Some(word) = policy(at, spec, row, lost) {
        lines.push(format!("on_failure: {word}"));
    }
    if !command.env_allow.is_empty() {
        lines.push(format!("env: {}", list(&command.env_allow)));
    }
    const EXPRESSIBLE: &[Attribute] = &[
        Attribute::Command,
        Attribute::Args,
        Attribute::Shell,
        Attribute::EnvAllow,
        Attribute::OnFailure(&[]),
        Attribute::Timeout(crate::config::TimeUnit::Seconds),
        Attribute::Variables,
    ];
    lost.extend(lost_attributes(at, spec, &DIALECT, EXPRESSIBLE));
    if command.env_all.unwrap_or(matches!(spec.dialect.process.environment, Environment::All | Environment::AllBut(_)))
    {
        lost.push(ConversionLoss::part(at, "the other variables of the host"));
    }
    Ok(format!("    - {}\n", lines.join("\n      ")))
}

/// The value of `on_failure`. A hook that can block the tool by a reply or an exit code gets `block`.
fn policy(at: usize, spec: &HookSpec, row: &EventRow, lost: &mut Vec<ConversionLoss>) -> Option<&'static str> {
    let is_deny = |rule: &ExitRule| matches!(rule.then, ExitAction::Decide(decision, _) if decision.is_block());
    let reply = &spec.dialect.reply;
    let can_deny = reply.trigger != AnswerDetection::Never || reply.exits.iter().any(is_deny);
    let policy = spec.info.on_failure;
    if !row.blocks {
        return if policy == Some(FailurePolicy::Open) { Some("warn") } else { None };
    }
    if can_deny && spec.dialect.is_gate(&row.kind) {
        lost.push(ConversionLoss::part(at, "its output and its exit codes: every exit code but 0 blocks"));
        return Some("block");
    }
    match policy? {
        FailurePolicy::Open => Some("warn"),
        FailurePolicy::Closed => Some("block"),
        FailurePolicy::Ask => {
            lost.push(ConversionLoss::part(at, "that a failure asks the user: a failure blocks"));
            Some("block")
        }
    }
}

/// A list in JSON syntax, which is valid YAML.
fn list(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| printable(RawJson::string(word).as_str())).collect();
    format!("[{}]", words.join(", "))
}

/// Result of one hook, as ub reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// Index among the hooks of the event.
    pub index: usize,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Exit code; -1 if there is none.
    pub exit: i32,
    /// Standard output, truncated to the limit of ub.
    pub stdout: String,
    /// Standard error, truncated to the limit of ub.
    pub stderr: String,
    /// Run time.
    pub duration: Duration,
    /// Description of the failure, if the hook failed.
    pub error: Option<String>,
}

/// Results of all hooks that ran, from the record of an event. `hooks` are those of the event, in order.
pub fn outcomes<'a>(record: &Record, hooks: impl IntoIterator<Item = &'a HookSpec>) -> Vec<Outcome> {
    let hooks: Vec<_> = hooks.into_iter().collect();
    let is_same = |spec: &HookSpec, hook: &HookRecord| {
        let info = &spec.info;
        info.id == hook.id && info.source.file == hook.source.file && info.source.line == hook.source.line
    };
    let ran = record.hooks.iter().filter(|hook| hook.outcome != HookOutcome::Skipped);
    ran.filter_map(|hook| {
        let index = hooks.iter().position(|spec| is_same(spec, hook))?;
        let argv = match &hooks[index].handler {
            HandlerSpec::Command(CommandSpec { run: CommandLine::Argv(argv), .. }) => argv.clone(),
            HandlerSpec::Command(CommandSpec { run: CommandLine::Shell { text, .. }, .. }) => vec![text.clone()],
            _ => Vec::new(),
        };
        Some(Outcome {
            index,
            argv,
            exit: hook.exit_code.unwrap_or(-1),
            stdout: hook.stdout.clone().unwrap_or_default(),
            stderr: hook.stderr.clone().unwrap_or_default(),
            duration: Duration::from_millis(hook.duration_ms.unwrap_or_default()),
            error: hook.failure.map(|_| hook.detail.clone().unwrap_or_default()),
        })
    })
    .collect()
}
