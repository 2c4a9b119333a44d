//! `checkrein hook`: the command that agents call for each event.
//!
//! The command reads the event from standard input, runs the hooks and prints the verdict in the agent's format. Agents treat a hook
//! that fails as one without an objection, so every failure must become an answer. It runs before every tool call: it must
//! do nothing that the answer does not need.

use std::io::{self, IsTerminal as _, Read, Seek, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Result;
use checkrein::dialects::Answer;
use checkrein::dialects::agents::native;
use checkrein::hook_files::{Locations, UserDirs};
use checkrein::{FailurePolicy, RawJson, Sources, Trust};
use checkrein_tools::agent_adapter::{self, AgentAdapter, AgentResponse};
use checkrein_tools::decision_log::DecisionLog;
use checkrein_tools::recording::RecordingControl;

use crate::exit::{self, Exit};

/// Answer an agent's event (installed entries call this)
///
/// Reads the event from standard input, runs your hooks, and prints the verdict in the agent's format. `checkrein install`
/// writes this command into the settings of agents.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  The agent's protocol defines them. Most agents get 0 and JSON, also for a
  deny. Usage errors are answered with a deny.

Example:
  echo '{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\"}' > event.json
  checkrein hook claude < event.json")]
pub struct Arguments {
    /// Agent that sends the event
    agent: String,
    /// Name of the event, if the payload does not contain it
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Use the hooks of this file only; can be repeated
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Allow if checkrein itself fails
    #[arg(long)]
    fail_open: bool,
    /// Entries exist only for events with hooks; `install --needed` writes this
    #[arg(long)]
    needed: bool,
    /// Run hooks of the project without approval
    #[arg(long)]
    trust_all: bool,
    /// Home directory of the user, if the account database has another one
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Directory of the user's config files, if it is not ~/.config
    #[arg(long, value_name = "DIR")]
    config_home: Option<PathBuf>,
    /// Directory of the user's state, if it is not ~/.local/state
    #[arg(long, value_name = "DIR")]
    state_home: Option<PathBuf>,
    /// Run only background hooks; checkrein starts itself this way
    #[arg(long, hide = true)]
    background: bool,
}

impl Arguments {
    /// Parses the arguments that installed entries use, without the cost of clap. `None`: clap must parse them, for example
    /// for `--help`.
    pub fn parse_fast(words: &[std::ffi::OsString]) -> Option<Self> {
        let mut words = words.iter();
        let agent = words.next()?.to_str().filter(|agent| !agent.starts_with('-'))?.to_owned();
        let mut arguments = Self {
            agent,
            event: None,
            config: Vec::new(),
            fail_open: false,
            needed: false,
            trust_all: false,
            home: None,
            config_home: None,
            state_home: None,
            background: false,
        };
        while let Some(word) = words.next() {
            match word.to_str()? {
                "--event" => arguments.event = Some(words.next()?.to_str()?.to_owned()),
                "--config" => arguments.config.push(words.next()?.into()),
                "--home" => arguments.home = Some(words.next()?.into()),
                "--config-home" => arguments.config_home = Some(words.next()?.into()),
                "--state-home" => arguments.state_home = Some(words.next()?.into()),
                "--fail-open" => arguments.fail_open = true,
                "--needed" => arguments.needed = true,
                "--trust-all" => arguments.trust_all = true,
                "--background" => arguments.background = true,
                _ => return None,
            }
        }
        Some(arguments)
    }

    fn user_dirs(&self) -> UserDirs {
        let mut dirs = UserDirs::default();
        (dirs.home, dirs.config, dirs.state) = (self.home.clone(), self.config_home.clone(), self.state_home.clone());
        dirs
    }
}

/// Runs the command. Failures become answers too.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let payload = read_all(Payload);
    // A project's settings can set variables of this process, so they do not decide which files are the user's.
    let found = arguments.user_dirs().locations();
    let locations = found.clone().unwrap_or_else(|_| managed_locations());
    let Some(agent) = checkrein::dialects::find(&arguments.agent) else {
        return unknown_agent(&arguments.agent, locations);
    };
    let adapter = AgentAdapter::new(agent).cancel_on(crate::interrupt::shutdown_requested).skip_cleanup();
    let adapter = adapter.answer_repeats_once();
    let mut adapter = adapter.locations(locations.clone());
    if let Some(event) = &arguments.event {
        adapter = adapter.event(event);
    }
    if arguments.fail_open {
        adapter = adapter.on_failure(FailurePolicy::Open);
    }
    if arguments.needed {
        adapter = adapter.has_needed_entries();
    }
    let state = locations.state_dir();
    let trust = match &state {
        _ if arguments.trust_all => Trust::everything(),
        Some(state) => Trust::in_dir(state),
        None => Trust::default(),
    };
    adapter = adapter.trust(trust.clone());
    if arguments.background {
        adapter = adapter.in_background();
    } else if let Some(state) = state {
        #[cfg(target_os = "linux")]
        {
            let client = checkrein_serve::warm::WarmClient::of_user(state.clone());
            adapter = adapter.interpreters(std::sync::Arc::new(client));
        }
        adapter = adapter.decision_log(DecisionLog::in_state_directory(&state));
        adapter = adapter.recording(RecordingControl::in_directory(state));
    }
    let missing = arguments.config.iter().find_map(|file| Some((file, file.metadata().err()?)));
    let response = match (&payload, missing) {
        (Ok(payload), _) if found.is_err() => {
            let why = found.err().map(|error| error.to_string()).unwrap_or_default();
            adapter.refuse(payload, &why)
        }
        (Err(error), _) => adapter.refuse(&[], &format!("cannot read the event from standard input: {error}")),
        (Ok(payload), Some((file, error))) => {
            adapter.refuse(payload, &format!("cannot read the config file {} of --config: {error}", file.display()))
        }
        (Ok(payload), None) => {
            if !arguments.config.is_empty() {
                let dir = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
                let sources = Sources::of_files_in(&native::DIALECT, &arguments.config, dir, locations.clone());
                adapter = adapter.sources(sources.trust(trust));
            }
            adapter.answer(payload)
        }
    };
    if let Ok(payload) = &payload
        && response.has_background
    {
        start_background(arguments, payload)
            .unwrap_or_else(|error| super::print_note(&format!("cannot start background hooks: {error}")));
    }
    if arguments.background {
        return Ok(exit::SUCCESS);
    }
    let exit = respond(&response);
    super::serve::after_answer(&response, &arguments.user_dirs(), &locations);
    exit
}

/// Standard input without a buffer: it is read once, to its end.
struct Payload;

impl Read for Payload {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        return Ok(rustix::io::read(rustix::stdio::stdin(), buffer)?);
        #[cfg(not(unix))]
        return io::stdin().lock().read(buffer);
    }
}

fn read_all(mut input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve(4096)?;
    input.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Answers a call with invalid arguments. They are a mistake in the settings of an agent, whose guards must not be lost, so
/// gates are denied.
pub fn report_usage_error(words: &[std::ffi::OsString], error: &clap::Error) -> Result<Exit> {
    let text = error.to_string();
    // The lines up to the first empty one are the error, the others are usage.
    let lines: Vec<_> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let error = lines.join(" ");
    let reason = format!(
        "invalid arguments of `checkrein hook`: {}; ask the user to run `checkrein install`, which writes correct ones",
        error.trim_start_matches("error: ")
    );
    let agent = words.first().and_then(|word| word.to_str()).and_then(checkrein::dialects::find);
    let mut dirs = UserDirs::default();
    for pair in words.windows(2) {
        dirs.set(&pair[0].to_string_lossy(), &pair[1]);
    }
    let locations = dirs.locations().unwrap_or_else(|_| managed_locations());
    let Some(agent) = agent else { return deny_in_all_formats(&reason, locations) };
    let mut adapter = AgentAdapter::new(agent).locations(locations);
    let event = words.iter().position(|word| word == "--event").and_then(|option| words.get(option + 1)?.to_str());
    if let Some(event) = event {
        adapter = adapter.event(event);
    }
    if words.iter().any(|word| word == "--fail-open") {
        adapter = adapter.on_failure(FailurePolicy::Open);
    }
    let payload = read_all(Payload).unwrap_or_default();
    respond(&adapter.refuse(&payload, &reason))
}

/// Denies a call whose command is a misspelling of `hook`: the settings of some agent have it, and the agent waits for an answer.
pub fn report_misspelt_command(command: &std::ffi::OsStr) -> Result<Exit> {
    let why = format!(
        "unknown command `{}`; did you mean `hook`? Ask the user to run `checkrein install`, which writes the correct one",
        command.to_string_lossy()
    );
    deny_in_all_formats(&why, UserDirs::default().locations().unwrap_or_else(|_| managed_locations()))
}

/// Prints an answer. Errors of the streams never weaken it: the exit code is that of the answer, or a denial.
fn respond(response: &AgentResponse) -> Result<Exit> {
    let AgentResponse { answer, undelivered_notes, .. } = response;
    let mut stderr = io::stderr().lock();
    let mut is_printed = Ok(());
    if !answer.stdout.is_empty() {
        is_printed = if answer.restricts && is_discarded(io::stdout()) {
            Err(io::Error::other("standard output is closed or /dev/null"))
        } else {
            writeln!(io::stdout().lock(), "{}", answer.stdout).and_then(|()| io::stdout().lock().flush())
        };
    }
    if !answer.stderr.is_empty() {
        // Some agents parse JSON on standard error as the answer.
        let is_json = RawJson::parse(answer.stderr.trim()).is_ok();
        let prefix = if is_json { "the reason is: " } else { "" };
        let _ = writeln!(stderr, "{prefix}{}", super::visible::visible(answer.stderr.trim_end(), super::LINES));
    }
    if let Err(error) = is_printed {
        let _ = writeln!(stderr, "checkrein could not print its answer ({error}), so this is denied");
        return Ok(exit::DENIED);
    }
    // For hook authors that send one payload several times. The output of an agent's hook is never a terminal.
    if response.record.as_ref().is_some_and(|record| record.repeat) && stderr.is_terminal() {
        let _ = writeln!(stderr, "checkrein: this call was answered before, so no hook ran; change its `tool_use_id`");
    }
    // Beside a reason an agent would show notes as a part of it.
    if answer.exit == 0 {
        for note in undelivered_notes {
            let _ = writeln!(stderr, "checkrein: {}", super::visible::visible(note, super::LINES));
        }
    }
    Ok(Exit::code(u8::try_from(answer.exit).unwrap_or(2)))
}

/// `true` if the stream is `/dev/null`. The standard library opens it in place of a stream that the agent has closed.
#[cfg(unix)]
fn is_discarded(stream: impl std::os::fd::AsFd) -> bool {
    let (Ok(own), Ok(null)) = (rustix::fs::fstat(stream), rustix::fs::stat("/dev/null")) else { return false };
    rustix::fs::FileType::from_raw_mode(own.st_mode).is_char_device() && own.st_rdev == null.st_rdev
}

#[cfg(not(unix))]
fn is_discarded(_: impl Sized) -> bool {
    false
}

/// Denies the call of an unknown agent, in all spellings: the settings of some agent name it wrongly.
fn unknown_agent(name: &str, locations: Locations) -> Result<Exit> {
    let known: Vec<_> = checkrein::dialects::ALL.iter().map(|dialect| dialect.name).collect();
    let meant = match checkrein::core::closest_match(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known agents: {}.", known.join(", ")),
    };
    let why = format!(
        "unknown agent `{name}` in `checkrein hook {name}`; {meant} Ask the user to fix it in the agent's settings."
    );
    deny_in_all_formats(&why, locations)
}

/// Returns the locations of managed files only, for a user without a usable home directory.
fn managed_locations() -> Locations {
    Locations::new("/").administrator(0)
}

fn deny_in_all_formats(why: &str, locations: Locations) -> Result<Exit> {
    let mut response = AgentResponse::default();
    response.answer = Answer::deny_everywhere(why);
    response.undelivered_notes.extend(agent_adapter::record_refusal(why, locations));
    respond(&response)
}

/// Starts another process for background hooks, because the agent waits for this one to exit.
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
    for (option, dir) in arguments.user_dirs().options() {
        command.arg(option).arg(dir);
    }
    for file in &arguments.config {
        command.arg("--config").arg(file);
    }
    // Signals to the agent's process group must not reach background hooks.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(drop)
}
