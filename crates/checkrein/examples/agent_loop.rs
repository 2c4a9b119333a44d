//! A complete small agent: it gets prompts, calls a model, uses tools, and stops. User, model and tools are scripted; the hooks
//! are real. The agent fires all events that are common to most agents, and follows the verdict of every gate.
//!
//! `cargo run -p checkrein --example agent_loop`
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use checkrein::engine::EngineBuilder;
use checkrein::observer::HookLines;
use checkrein::payload::{
    Compaction, ErrorInfo, ModelCall, Notification, Plugin, PluginInfo, Prompt, SessionEnd, SessionStart, Stop,
    SubagentStart, SubagentStop, ToolCall, ToolFailure, ToolOutcome, Turn, UserTurn,
};
use checkrein::{Action, Decision, Engine, Envelope, Event, EventKind, HookSpec, Matcher, Opinion, RawJson};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Maximum number of model calls for one prompt.
const MAX_CALLS: u64 = 7;

/// Next action of the user, from a script.
enum Input {
    Prompt(&'static str, Vec<Step>),
    Install(&'static str),
    Uninstall(&'static str),
}

/// Next action of the model, from a script.
#[derive(Clone)]
enum Step {
    Tool(&'static str, &'static str),
    Helper(&'static str),
    NoAnswer(&'static str),
    Done(&'static str),
}

struct Agent {
    hooks: Engine,
    /// Messages that the model would get.
    conversation: Vec<String>,
}

impl Agent {
    async fn session(&mut self, script: Vec<Input>) -> Result<(), Error> {
        let start = self.hooks.fire(Event::session_start(SessionStart::new().source("startup"))).await;
        self.show(&start);
        for input in script {
            match input {
                Input::Prompt(prompt, script) => self.prompt(prompt, script).await?,
                Input::Install(plugin) => self.install(plugin).await,
                Input::Uninstall(plugin) => self.uninstall(plugin).await,
            }
        }
        self.hooks.fire(Event::session_end(SessionEnd::new().reason("prompt_input_exit"))).await;
        let report = self.hooks.shutdown(Duration::from_secs(5)).await;
        println!("background hooks: {} finished, {} ended", report.finished, report.ended);
        Ok(())
    }

    async fn prompt(&mut self, prompt: &str, script: Vec<Step>) -> Result<(), Error> {
        self.hooks.fire(Event::user_turn_start(UserTurn::new().prompt(prompt))).await;
        let verdict = self.hooks.fire(Event::prompt_submit(Prompt::new(prompt))).await;
        self.show(&verdict);
        if let Action::Refuse { reason } | Action::EndLoop { reason } = verdict.action() {
            println!("the prompt was refused: {reason}");
        } else {
            self.conversation.push(verdict.effective_prompt().as_deref().unwrap_or(prompt).to_owned());
            self.turns(script).await?;
        }
        self.hooks.fire(Event::user_turn_end(UserTurn::new())).await;
        let text = format!("no longer at work: {prompt}");
        self.hooks.fire(Event::notification(Notification::new().message(text))).await;
        Ok(())
    }

    async fn turns(&mut self, script: Vec<Step>) -> Result<(), Error> {
        for (iteration, step) in (1_u64..).zip(script) {
            if iteration > MAX_CALLS {
                println!("the limit of {MAX_CALLS} model calls is reached");
                let limit = ErrorInfo::new().iteration(MAX_CALLS).max_iterations(MAX_CALLS);
                self.hooks.fire(Event::max_iterations(limit)).await;
                return Ok(());
            }
            let verdict = self.hooks.fire(Event::turn_start(Turn::new().iteration(iteration))).await;
            self.show(&verdict);
            let continues = self.turn(step).await?;
            self.hooks.fire(Event::turn_end(Turn::new().iteration(iteration))).await;
            if !continues {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Calls the model and performs its action. Returns `true` if the loop continues.
    async fn turn(&mut self, step: Step) -> Result<bool, Error> {
        let call = ModelCall::new().model("scripted").messages(RawJson::from_serialize(&self.conversation)?);
        let verdict = self.hooks.fire(Event::before_model(call.clone())).await;
        if let Action::Refuse { reason } | Action::EndLoop { reason } = verdict.action() {
            println!("the model is not called: {reason}");
            return Ok(false);
        }
        if !matches!(step, Step::NoAnswer(_)) {
            self.hooks.fire(Event::after_model(call)).await;
        }
        Ok(match step {
            Step::Tool(name, input) => {
                let continues = self.tool(name, input.parse()?).await;
                if !continues {
                    println!("a hook ended the loop");
                }
                continues
            }
            Step::Helper(task) => {
                self.helper(task).await;
                true
            }
            Step::NoAnswer(why) => {
                // The next turn calls the model again.
                let error = ErrorInfo::new().error(why).error_type("overloaded").recoverable(true);
                self.hooks.fire(Event::error(error)).await;
                true
            }
            Step::Done(words) => !self.may_stop(words).await,
        })
    }

    /// Runs a tool if hooks and the user allow it. Returns `true` if the loop continues.
    async fn tool(&mut self, name: &str, input: RawJson) -> bool {
        let verdict = self.hooks.fire(Event::pre_tool_use(ToolCall::new(name, input.clone()))).await;
        self.show(&verdict);
        let refused = match verdict.action() {
            Action::EndLoop { .. } | Action::Cancelled => return false,
            Action::Refuse { reason } => Some(reason),
            // Without an opinion the agent's own rules apply, and they ask.
            _ if verdict.decision() == Decision::Allow || self.permitted(name, &input).await => None,
            _ => Some("the user said no"),
        };
        if let Some(reason) = refused {
            println!("{name} was refused: {reason}");
            self.conversation.push(reason.to_owned());
            return true;
        }
        let input = verdict.effective_input().unwrap_or(&input).clone();
        println!("{name} runs with {input}");
        let event = match run_tool(name) {
            Ok(output) => {
                let output = RawJson::string(output);
                Event::post_tool_use(ToolOutcome::new(name, input).tool_response(output))
            }
            Err(error) => Event::post_tool_failure(ToolFailure::new(name, input, error)),
        };
        let verdict = self.hooks.fire(event).await;
        self.show(&verdict);
        match verdict.action() {
            Action::Feedback { reason } => self.conversation.push(reason.to_owned()),
            Action::EndLoop { .. } => return false,
            _ => {}
        }
        true
    }

    async fn permitted(&mut self, name: &str, input: &RawJson) -> bool {
        let verdict = self.hooks.fire(Event::permission_request(ToolCall::new(name, input.clone()))).await;
        if verdict.decision() == Decision::NoOpinion {
            let question = Notification::new().message(format!("may {name} run?"));
            self.hooks.fire(Event::user_input_needed(question)).await;
        }
        // The scripted user always allows.
        !matches!(verdict.action(), Action::Refuse { .. } | Action::EndLoop { .. })
    }

    async fn helper(&mut self, task: &str) {
        let helper = self.hooks.for_agent(|| Envelope::new().session_id("s-1").agent_id("a-1").agent_type("explore"));
        let verdict = helper.fire(Event::subagent_start(SubagentStart::new().task(task))).await;
        if let Action::Refuse { .. } | Action::EndLoop { .. } = verdict.action() {
            return;
        }
        while let Action::Continue { .. } = helper.fire(Event::subagent_stop(SubagentStop::new())).await.action() {}
    }

    /// Returns `true` if the agent may stop. If a hook refuses, the agent continues with the reason as the next prompt.
    async fn may_stop(&mut self, words: &str) -> bool {
        println!("the model says: {words}");
        let compact = self.hooks.fire(Event::pre_compact(Compaction::new().trigger("auto"))).await;
        if compact.action() == Action::Proceed {
            self.hooks.fire(Event::post_compact(Compaction::new().trigger("auto"))).await;
        }
        let verdict = self.hooks.fire(Event::stop(Stop::new().last_assistant_message(words))).await;
        let Action::Continue { reason } = verdict.action() else { return true };
        self.conversation.push(reason.to_owned());
        false
    }

    async fn install(&mut self, name: &str) {
        let plugin = || Plugin::new(PluginInfo::new(name).version("1.0.0"));
        let verdict = self.hooks.fire(Event::pre_plugin_install(plugin())).await;
        if let Action::Refuse { reason } = verdict.action() {
            println!("{name} is not installed: {reason}");
            return;
        }
        println!("{name} is installed");
        self.hooks.fire(Event::post_plugin_install(plugin())).await;
    }

    async fn uninstall(&mut self, name: &str) {
        let plugin = || Plugin::new(PluginInfo::new(name));
        let verdict = self.hooks.fire(Event::pre_plugin_uninstall(plugin())).await;
        if let Action::Refuse { reason } = verdict.action() {
            println!("{name} stays: {reason}");
            return;
        }
        println!("{name} is removed");
        self.hooks.fire(Event::post_plugin_uninstall(plugin())).await;
    }

    /// Passes context on to the model and prints messages and warnings.
    fn show(&mut self, verdict: &checkrein::Verdict) {
        self.conversation.extend(verdict.context().iter().map(|context| context.text.clone()));
        for message in verdict.messages() {
            println!("{}: {}", message.hook.id, message.text);
        }
        for warning in verdict.warnings() {
            println!("warning: {warning}");
        }
    }
}

fn run_tool(name: &str) -> Result<&'static str, &'static str> {
    if name == "Flaky" { Err("exit code 1") } else { Ok("done") }
}

/// Hooks of the agent and of its user. A real agent reads the user's hooks from files, with `EngineBuilder::sources`.
fn hooks() -> EngineBuilder {
    let stops = AtomicUsize::new(0);
    Engine::builder()
        .on(EventKind::Stop, "once-more", move |_| match stops.fetch_add(1, Ordering::Relaxed) {
            0 => Opinion::deny("update the changelog as well"),
            _ => Opinion::none(),
        })
        .envelope(|| Envelope::new().session_id("s-1").permission_mode("default"))
        .hook(HookSpec::shell("rules", EventKind::SessionStart, "echo Answer in short sentences."))
        .hook(
            HookSpec::shell(
                "no-network",
                EventKind::PreToolUse,
                "grep -q curl && { echo no network >&2; exit 2; }; exit 0",
            )
            .matching(Matcher::names(["Bash"])),
        )
        .hook(
            HookSpec::shell("timeout", EventKind::PreToolUse, r#"echo '{"inputPatch": {"timeout_ms": 60000}}'"#)
                .matching(Matcher::names(["Bash"]))
                .rewrites(),
        )
        .hook(HookSpec::shell("archive", EventKind::PostToolUse, "cat > /dev/null").in_background())
}

fn script() -> Vec<Input> {
    let tests = vec![
        Step::Tool("Bash", r#"{"command": "curl example.com"}"#),
        Step::Tool("Bash", r#"{"command": "cargo test", "run": 9007199254740993}"#),
        Step::Tool("Flaky", "{}"),
        Step::NoAnswer("the model's service is overloaded"),
        Step::Helper("find the changelog"),
        Step::Done("The tests pass."),
        Step::Done("The changelog is up to date, too."),
    ];
    // A model that repeats itself must be stopped.
    let logs = vec![Step::Tool("Read", r#"{"file_path": "build.log"}"#); 100];
    vec![
        Input::Install("release-notes"),
        Input::Prompt("Run the tests", tests),
        Input::Prompt("Look for errors in the logs", logs),
        Input::Uninstall("release-notes"),
    ]
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let hooks = hooks().observer(HookLines::new(std::io::stdout())).build();
    Agent { hooks, conversation: Vec::new() }.session(script()).await
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]
mod tests {
    use std::sync::{Arc, Mutex};

    use checkrein::runner::Fire;

    use super::*;

    #[tokio::test]
    async fn events_are_fired_in_order() {
        let fired: Arc<Mutex<Vec<EventKind>>> = Arc::default();
        let noted = Arc::clone(&fired);
        let note = Arc::new(move |fire: &Fire<'_>| {
            let (mut noted, kind) = (noted.lock().unwrap(), fire.event.kind());
            if !noted.contains(&kind) {
                noted.push(kind);
            }
        });
        let hooks = EventKind::ALL.iter().fold(hooks(), |hooks, kind| {
            let note = Arc::clone(&note);
            hooks.on(kind.clone(), "note", move |fire| note(fire))
        });
        let hooks = hooks.build();
        let mut agent = Agent { hooks, conversation: Vec::new() };
        agent.session(script()).await.unwrap();

        let names: Vec<String> = fired.lock().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(
            names.join(" "),
            "session_start pre_plugin_install post_plugin_install user_turn_start prompt_submit turn_start before_model \
             after_model pre_tool_use turn_end permission_request user_input_needed post_tool_use post_tool_failure error \
             subagent_start subagent_stop pre_compact post_compact stop user_turn_end notification max_iterations \
             pre_plugin_uninstall post_plugin_uninstall session_end"
        );
        for expected in ["Answer in short sentences.", "no network", "update the changelog as well"] {
            let found = agent.conversation.iter().any(|text| text.trim() == expected);
            assert!(found, "{expected}: {:?}", agent.conversation);
        }
    }
}
