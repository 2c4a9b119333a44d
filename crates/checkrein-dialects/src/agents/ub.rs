//! ub: programs at four moments, of which one is a gate.
//!
//! Only exit codes count: nothing that a hook prints is ever read. A hook that fails in any way, be it by its exit code, a
//! signal, its time or because it cannot be started, stops the tool if it says `on_failure: block`, and is told of if not.
//!
//! Where checkrein is stricter or kinder than the agent:
//! - A hook that cannot be loaded is an error with its place. It closes the gate if it says `block`, or if what it says
//!   about failures cannot be read; a hook that could never stop anything does not.
//! - `${NAME}`, `${NAME:-default}` and `$$` stand in words of `command` only, not in the whole file: a value cannot become
//!   part of the file, and only variables that the hook gets anyway (those of `env`, `PATH` and `HOME`) can be used. They are
//!   filled in when the hook is loaded into an engine; what is not set is empty.
//! - `PATH` is passed on whatever `env` lists. The file has no words to drop it; whoever builds hooks in code can set it.
//! - A process that a hook leaves behind is no failure, and neither is output beyond the 4,096 bytes that are kept.

use std::time::Duration;

use checkrein_core::{
    BlockScope, ChainEnd, DecisionRule, EventKind, FailurePolicy, FailureTable, Grammar, HookOutcome, HookRecord,
    Matcher, RawJson, Record, Rules, RunOrder, Scope, Syntax, closest_match,
};

use crate::config::{
    Attribute, ConfigTable, ConversionLoss, Decoder, Encoded, FileFormat, FileRow, PathBase, duration, printable,
    unsaid, unwritable,
};
use crate::payload::{FieldEncoding, FieldRow, PayloadTable};
use crate::reply::{
    AnswerDetection, EventScope, ExitAction, ExitCodeMatch, ExitRule, MalformedPolicy, ReasonSource, ReplyTable,
    UnknownPolicy,
};
use crate::spec::{CommandLine, CommandSpec, HandlerSpec, HookSpec, escaped, has_variables, plain};
use crate::table::{Cwd, Data, Dialect, Environment, EventRow, HttpTable, ProcessTable, Shell, TimeTable, VariableRow};
use checkrein_document::{Member, Node};

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "ub",
    events: EVENTS,
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
    config: ConfigTable { files: FILES, format: FileFormat::Custom { decode, encode }, ..ConfigTable::BASE },
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
        let why = "its hooks are no object";
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

/// Takes one entry. What cannot be loaded closes the gate, unless it is known that it could not have.
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
                    let text = format!("`on_failure: block` has no effect: nothing can be stopped at `{}`", name(kind));
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
        let why = "a hook needs a `command`, a list of words".to_owned();
        decoder.error("missing-key", entry.span, why.clone());
        return Err(why);
    };
    if let Some(text) = command.as_str() {
        let why = decoder.wrong_type(command, "command", "an array");
        let shell = format!("[sh, -c, {}]", RawJson::string(text));
        let help = format!("there is no shell here; if one is meant, write {shell}");
        decoder.warning("no-shell", command.span, "commands are lists of words").help = Some(help);
        return Err(why);
    }
    let mut own = CommandSpec::argv(decoder.texts(command, "command")?);
    if let Some(env) = entry.get("env").filter(|env| !env.is_null()) {
        for name in decoder.texts(env, "env")? {
            if !own.env_allow.contains(&name) {
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
        let why = format!("`${{{name}}}` stands in the command, but the hook does not get that variable");
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
        decoder.error("bad-time", node.span, why.clone()).help = Some("write it like 10s, 1m30s or 500ms".to_owned());
        Err(why)
    };
    let text = match (node.as_str(), node.as_number()) {
        (Some(text), _) => text,
        (_, Some("0")) => "0",
        (_, Some(number)) => return bad(decoder, format!("`timeout` has no unit behind `{number}`")),
        _ => return Err(decoder.wrong_type(node, "timeout", "a time such as `10s`")),
    };
    match duration::parse(text) {
        Ok(Some(time)) if time > LONGEST => {
            decoder.warning("cut-time", node.span, format!("no hook may take longer than {LONGEST:?}"));
            Ok(Some(time))
        }
        Ok(None) if text.starts_with('-') => {
            decoder.warning("bad-time", node.span, "a time below 0 counts as none at all");
            Ok(None)
        }
        Ok(time) => Ok(time),
        Err(why) => bad(decoder, format!("`timeout` {why}")),
    }
}

fn on_failure(decoder: &mut Decoder<'_>, members: &[Member<'_>]) -> Result<Option<FailurePolicy>, String> {
    let known = members.iter().find(|member| member.key == "on_failure").filter(|member| !member.value.is_null());
    let Some(member) = known else {
        // A guard with a slip of the pen here would be one that never stops anything.
        let misspelt = members.iter().map(|member| &*member.key).filter(|key| !KEYS.contains(key));
        let meant = |key: &&str| closest_match(key, KEYS.iter().copied()) == Some("on_failure");
        return match misspelt.into_iter().find(meant) {
            Some(key) => Err(format!("`{key}` is no key")),
            None => Ok(None),
        };
    };
    let word = decoder.text(&member.value, "on_failure")?;
    match EFFECTS.iter().find(|(have, _)| *have == word) {
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
    let names = decoder.texts(node, "tools")?;
    if !decoder.dialect().is_matched(kind) {
        if !names.is_empty() {
            let text = format!("`tools` does not count at `{}`: every hook of it runs", name(kind));
            decoder.warning("matcher-ignored", node.span, text);
        }
        return Ok(Matcher::everything());
    }
    if let Some(pattern) = names.iter().find(|name| name.contains(['*', '?', '|'])) {
        let text = format!("`{pattern}` fits only a tool of exactly that name: there are no patterns here");
        decoder.warning("no-pattern", node.span, text).help = Some("leave `tools` out to fit all".to_owned());
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
            elsewhere.map(|kind| ConversionLoss::whole(at, format!("{} has no event for `{kind}`", dialect.name))),
        );
    }
    let text = if text.is_empty() { "hooks: {}\n".to_owned() } else { format!("hooks:\n{text}") };
    Encoded { text, lost }
}

/// One entry, or why there cannot be one.
fn entry(at: usize, spec: &HookSpec, row: &EventRow, lost: &mut Vec<ConversionLoss>) -> Result<String, String> {
    if let Some(why) = unwritable(spec, |_| false) {
        return Err(why.to_owned());
    }
    let HandlerSpec::Command(command) = &spec.handler else {
        return Err(format!("it has no hooks of the kind `{}`", spec.handler.kind()));
    };
    let words: Vec<String> = match &command.run {
        CommandLine::Argv(words) if command.expands => words.clone(),
        CommandLine::Argv(words) => words.iter().map(|word| escaped(word)).collect(),
        CommandLine::Shell { text, shell } => {
            let usual = || vec!["sh".to_owned(), "-c".to_owned()];
            shell.clone().unwrap_or_else(usual).into_iter().chain([escaped(text)]).collect()
        }
    };
    let matcher = &spec.matcher;
    let tools = match matcher.as_names() {
        _ if matcher.is_everything() => &[],
        Some(_) if !row.matched => {
            lost.push(ConversionLoss::part(
                at,
                format!("its matcher `{}`: there are none at `{}`", matcher.pattern(), row.kind),
            ));
            &[]
        }
        Some(names) => names,
        None => return Err(format!("its matcher `{}` cannot be written there", matcher.pattern())),
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
    const SAID: &[Attribute] = &[
        Attribute::Command,
        Attribute::Args,
        Attribute::Shell,
        Attribute::EnvAllow,
        Attribute::OnFailure(&[]),
        Attribute::Timeout(crate::config::TimeUnit::Seconds),
        Attribute::Variables,
    ];
    lost.extend(unsaid(at, spec, &DIALECT, SAID));
    if command.env_all.unwrap_or(matches!(spec.dialect.process.environment, Environment::All | Environment::AllBut(_)))
    {
        lost.push(ConversionLoss::part(at, "that it gets all variables of the host"));
    }
    Ok(format!("    - {}\n", lines.join("\n      ")))
}

/// What stands behind `on_failure`. A hook that can stop the tool in another way than by failing must be able to here.
fn policy(at: usize, spec: &HookSpec, row: &EventRow, lost: &mut Vec<ConversionLoss>) -> Option<&'static str> {
    let is_deny = |rule: &ExitRule| matches!(rule.then, ExitAction::Decide(decision, _) if decision.is_block());
    let reply = &spec.dialect.reply;
    let has_words = reply.trigger != AnswerDetection::Never || reply.exits.iter().any(is_deny);
    let said = spec.info.on_failure;
    if !row.blocks {
        return said.filter(|effect| *effect == FailurePolicy::Open).map(|_| "warn");
    }
    if has_words && spec.dialect.is_gate(&row.kind) {
        lost.push(ConversionLoss::part(at, "what it prints, and that some exit codes stop the tool and others do not"));
        return Some("block");
    }
    match said? {
        FailurePolicy::Open => Some("warn"),
        FailurePolicy::Closed => Some("block"),
        FailurePolicy::Ask => {
            lost.push(ConversionLoss::part(at, "that the user is asked when it fails: the tool is stopped then"));
            Some("block")
        }
    }
}

/// In YAML, what JSON writes is a list as well.
fn list(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| printable(RawJson::string(word).as_str())).collect();
    format!("[{}]", words.join(", "))
}

/// What one hook came to, as ub tells its activities.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// Its place among the hooks of the event.
    pub index: usize,
    /// What was run.
    pub argv: Vec<String>,
    /// The exit code; -1 if there is none.
    pub exit: i32,
    /// What it printed, cut to what ub keeps.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
    /// How long it took.
    pub duration: Duration,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// The outcomes of a fire: what the record says of each hook, with its place in the file and its words. `hooks` are those of
/// the event, in order.
pub fn outcomes<'a>(record: &Record, hooks: impl IntoIterator<Item = &'a HookSpec>) -> Vec<Outcome> {
    let hooks: Vec<_> = hooks.into_iter().collect();
    let same = |spec: &HookSpec, hook: &HookRecord| {
        let info = &spec.info;
        info.id == hook.id && info.source.file == hook.source.file && info.source.line == hook.source.line
    };
    let ran = record.hooks.iter().filter(|hook| hook.outcome != HookOutcome::Skipped);
    ran.filter_map(|hook| {
        let index = hooks.iter().position(|spec| same(spec, hook))?;
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
