//! `checkrein hook`: what agents call.

use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Result;
use checkrein::dialects::agents::native;
use checkrein::{FailurePolicy, RawJson, Sources, Trust};
use checkrein_tools::agent_adapter::{self, AgentAdapter, AgentResponse};
use checkrein_tools::recording::RecordingControl;

use crate::exit::{self, Exit};

/// Answers an agent: reads the event that it sends on standard input, runs your hooks, and says the verdict in its words.
///
/// This is what `checkrein install` puts into an agent's settings.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  echo '{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}' | checkrein hook claude"
)]
pub struct Arguments {
    /// The agent that calls
    agent: String,
    /// The event, where the agent's payload does not name it
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Takes the hooks of this file instead of what would be found; may be given several times
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Lets things happen if checkrein itself fails
    #[arg(long)]
    fail_open: bool,
    /// Runs hooks of the project also if you have not approved them
    #[arg(long)]
    trust_all: bool,
    /// Runs the hooks that nobody waits for; checkrein calls itself so
    #[arg(long, hide = true)]
    background: bool,
}

impl Arguments {
    /// Reads the words that agents are told to call, without all that is needed to read any others: it runs before every
    /// tool. `None`: something else is wanted, such as help.
    pub fn parse_fast(words: &[std::ffi::OsString]) -> Option<Self> {
        let mut words = words.iter();
        let agent = words.next()?.to_str().filter(|agent| !agent.starts_with('-'))?.to_owned();
        let mut arguments =
            Self { agent, event: None, config: Vec::new(), fail_open: false, trust_all: false, background: false };
        while let Some(word) = words.next() {
            match word.to_str()? {
                "--event" => arguments.event = Some(words.next()?.to_str()?.to_owned()),
                "--config" => arguments.config.push(words.next()?.into()),
                "--fail-open" => arguments.fail_open = true,
                "--trust-all" => arguments.trust_all = true,
                "--background" => arguments.background = true,
                _ => return None,
            }
        }
        Some(arguments)
    }
}

/// Runs the command. Whatever goes wrong is an answer too: an agent takes a hook that fails for one that has no objection.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let payload = read(Payload);
    let Some(agent) = checkrein::dialects::find(&arguments.agent) else {
        return unknown_agent(&arguments.agent);
    };
    let mut adapter = AgentAdapter::new(agent).cancel_on(crate::interrupt::shutdown_requested).skip_cleanup();
    if let Some(event) = &arguments.event {
        adapter = adapter.event(event);
    }
    if arguments.fail_open {
        adapter = adapter.on_failure(FailurePolicy::Open);
    }
    let trust = if arguments.trust_all { Trust::everything() } else { Trust::usual() };
    adapter = adapter.trust(trust.clone());
    if let Some(switch) = RecordingControl::of_user().filter(|_| !arguments.background) {
        adapter = adapter.recording(switch);
    }
    if arguments.background {
        adapter = adapter.in_background();
    }
    let missing = arguments.config.iter().find_map(|file| Some((file, file.metadata().err()?)));
    let fronted = match (&payload, missing) {
        (Err(error), _) => adapter.refuse(&[], &format!("what the agent sent cannot be read: {error}")),
        (Ok(payload), Some((file, error))) => {
            adapter.refuse(payload, &format!("the config {} cannot be read: {error}", file.display()))
        }
        (Ok(payload), None) => {
            if !arguments.config.is_empty() {
                adapter = adapter.sources(Sources::of_files(&native::DIALECT, &arguments.config).trust(trust));
            }
            adapter.answer(payload)
        }
    };
    if let Ok(payload) = &payload
        && fronted.has_background
    {
        start_background(arguments, payload)
            .unwrap_or_else(|error| super::print_note(&format!("hooks in the background do not run: {error}")));
    }
    if arguments.background {
        return Ok(exit::SUCCESS);
    }
    say(&fronted)
}

/// Standard input, read once and to its end: a buffer of its own would be memory for nothing.
struct Payload;

impl Read for Payload {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        return Ok(rustix::io::read(rustix::stdio::stdin(), buffer)?);
        #[cfg(not(unix))]
        return io::stdin().lock().read(buffer);
    }
}

fn read(mut from: impl Read) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    all.try_reserve(4096)?;
    from.read_to_end(&mut all)?;
    Ok(all)
}

/// What is said if the words behind `hook` make no sense: somebody's settings call checkrein in a way that it does not know,
/// and its guards must not be lost by that.
pub fn wrong_call(words: &[std::ffi::OsString], error: &clap::Error) -> Result<Exit> {
    let text = error.to_string();
    let why = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let agent = words.first().and_then(|word| word.to_str()).and_then(checkrein::dialects::find);
    let Some(agent) = agent else { return deny_anybody(&format!("checkrein was called in a wrong way: {why}")) };
    let mut adapter = AgentAdapter::new(agent);
    let event = words.iter().position(|word| word == "--event").and_then(|at| words.get(at + 1)?.to_str());
    if let Some(event) = event {
        adapter = adapter.event(event);
    }
    if words.iter().any(|word| word == "--fail-open") {
        adapter = adapter.on_failure(FailurePolicy::Open);
    }
    let payload = read(Payload).unwrap_or_default();
    say(&adapter.refuse(&payload, &format!("checkrein was called in a wrong way: {why}")))
}

fn say(fronted: &AgentResponse) -> Result<Exit> {
    let AgentResponse { answer, undelivered_notes: untold, .. } = fronted;
    let said = match answer.stdout.as_str() {
        "" => Ok(()),
        text => {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush())
        }
    };
    let mut told = io::stderr().lock();
    if !answer.stderr.is_empty() {
        // Some agents take JSON for the answer wherever it stands.
        let is_json = RawJson::parse(answer.stderr.trim()).is_ok();
        let prefix = if is_json { "the reason is: " } else { "" };
        writeln!(told, "{prefix}{}", super::sanitize(answer.stderr.trim_end(), super::LINES))?;
    }
    // An answer that nobody could read must not be taken for silence.
    if let Err(error) = said {
        writeln!(told, "checkrein could not print its answer ({error}), so this is refused")?;
        return Ok(exit::DENIED);
    }
    // Beside a reason they would be taken for a part of it.
    if answer.exit == 0 {
        for note in untold {
            writeln!(told, "checkrein: {}", super::sanitize(note, super::LINES))?;
        }
    }
    Ok(Exit::code(u8::try_from(answer.exit).unwrap_or(2)))
}

/// A denial that every agent obeys which was tried: this is a mistake in some agent's settings, and nobody knows whose.
fn unknown_agent(name: &str) -> Result<Exit> {
    let known: Vec<_> = checkrein::dialects::ALL.iter().map(|dialect| dialect.name).collect();
    let meant = match checkrein::core::closest_match(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known are: {}", known.join(", ")),
    };
    deny_anybody(&format!("checkrein does not know an agent `{name}`; {meant}"))
}

fn deny_anybody(why: &str) -> Result<Exit> {
    let text = RawJson::string(why);
    writeln!(
        io::stdout(),
        r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":{text}}},"decision":"block","reason":{text},"permissionDecision":"deny","permissionDecisionReason":{text},"cancel":true,"errorMessage":{text}}}"#
    )?;
    writeln!(io::stderr(), "{why}")?;
    if let Some(note) = agent_adapter::record_refusal(why) {
        writeln!(io::stderr(), "{note}")?;
    }
    Ok(exit::DENIED)
}

/// Starts a process of its own for hooks that nobody waits for: this one is about to end, and the agent waits for that.
fn start_background(arguments: &Arguments, payload: &[u8]) -> io::Result<()> {
    let mut stdin = tempfile::tempfile()?;
    stdin.write_all(payload)?;
    stdin.rewind()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["hook", &arguments.agent, "--background"]);
    if let Some(event) = &arguments.event {
        command.args(["--event", event]);
    }
    if arguments.trust_all {
        command.arg("--trust-all");
    }
    for file in &arguments.config {
        command.arg("--config").arg(file);
    }
    // A signal for the agent's hook is none for those.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(drop)
}
