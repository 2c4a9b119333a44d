//! A whole small agent: it gets a prompt, asks a model, uses tools, and stops. The model and the tools are scripted; the
//! hooks are real. Every event of a session is fired where an agent fires it, and every verdict is acted on.
//!
//! `cargo run -p checkrein --example agent_loop`
#![allow(clippy::print_stdout, reason = "an example talks to people")]

use std::sync::Arc;
use std::time::Duration;

use checkrein::payload::{
    Compaction, ModelCall, Notification, Prompt, SessionEnd, SessionStart, Stop, SubagentStart, SubagentStop, ToolCall,
    ToolFailure, ToolOutcome, Turn, UserTurn,
};
use checkrein::{
    Builtin, Decision, Engine, Envelope, Event, EventKind, HookLines, HookSpec, Matcher, Opinion, RawJson, Registry,
};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// What the model wants next, from a script.
enum Step {
    Tool(&'static str, &'static str),
    Helper(&'static str),
    Done(&'static str),
}

struct Agent {
    hooks: Engine,
    /// What the model would be sent.
    conversation: Vec<String>,
}

impl Agent {
    async fn session(&mut self, prompt: &str, script: Vec<Step>) -> Result<(), Error> {
        let start = self.hooks.fire(Event::session_start(SessionStart::new().source("startup"))).await;
        self.hear(&start);
        self.hooks.fire(Event::user_turn_start(UserTurn::new().prompt(prompt))).await;
        let verdict = self.hooks.fire(Event::prompt_submit(Prompt::new(prompt))).await;
        self.hear(&verdict);
        if verdict.is_block() {
            println!("the prompt was refused: {}", verdict.reason().unwrap_or_default());
        } else {
            self.conversation.push(verdict.effective_prompt().as_deref().unwrap_or(prompt).to_owned());
            self.turns(script).await?;
        }
        self.hooks.fire(Event::user_turn_end(UserTurn::new())).await;
        self.hooks.fire(Event::session_end(SessionEnd::new().reason("prompt_input_exit"))).await;
        let report = self.hooks.shutdown(Duration::from_secs(5)).await;
        println!("hooks in the background: {} finished, {} ended", report.finished, report.ended);
        Ok(())
    }

    async fn turns(&mut self, script: Vec<Step>) -> Result<(), Error> {
        for (iteration, step) in (1_u64..).zip(script) {
            let verdict = self.hooks.fire(Event::turn_start(Turn::new().iteration(iteration))).await;
            self.hear(&verdict);
            let call = ModelCall::new().model("scripted").messages(RawJson::from_serialize(&self.conversation)?);
            let verdict = self.hooks.fire(Event::before_model(call.clone())).await;
            if verdict.is_block() {
                println!("the model is not asked: {}", verdict.reason().unwrap_or_default());
                return Ok(());
            }
            self.hooks.fire(Event::after_model(call)).await;
            match step {
                Step::Tool(name, input) => {
                    if self.tool(name, input.parse()?).await == Decision::Halt {
                        println!("a hook ended the loop");
                        return Ok(());
                    }
                }
                Step::Helper(task) => self.helper(task).await,
                Step::Done(words) => {
                    if self.may_stop(words).await {
                        return Ok(());
                    }
                }
            }
            self.hooks.fire(Event::turn_end(Turn::new().iteration(iteration))).await;
        }
        Ok(())
    }

    /// What its hooks came to: a halt ends the loop.
    async fn tool(&mut self, name: &str, input: RawJson) -> Decision {
        let verdict = self.hooks.fire(Event::pre_tool_use(ToolCall::new(name, input.clone()))).await;
        self.hear(&verdict);
        let allowed = match verdict.decision() {
            Decision::Deny | Decision::Halt => false,
            Decision::Allow => true,
            // No opinion leaves it to the agent's own rules, which ask.
            Decision::Ask | Decision::Defer | Decision::NoOpinion => self.permitted(name, &input).await,
        };
        if verdict.is_cancelled() || !allowed {
            let reason = verdict.reason().unwrap_or("the user said no").to_owned();
            println!("{name} was refused: {reason}");
            self.conversation.push(reason);
            return verdict.decision();
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
        self.hear(&verdict);
        if verdict.is_block() {
            self.conversation.push(verdict.reason().unwrap_or_default().to_owned());
        }
        verdict.decision()
    }

    async fn permitted(&mut self, name: &str, input: &RawJson) -> bool {
        let verdict = self.hooks.fire(Event::permission_request(ToolCall::new(name, input.clone()))).await;
        if verdict.decision() == Decision::NoOpinion {
            let text = format!("may {name} run?");
            self.hooks.fire(Event::notification(Notification::new().message(text))).await;
        }
        // This agent's user always says yes.
        !verdict.is_block()
    }

    async fn helper(&mut self, task: &str) {
        let helper = self.hooks.for_agent(|| Envelope::new().session_id("s-1").agent_id("a-1").agent_type("explore"));
        let verdict = helper.fire(Event::subagent_start(SubagentStart::new().task(task))).await;
        if verdict.is_block() {
            return;
        }
        let mut going = true;
        while going {
            going = helper.fire(Event::subagent_stop(SubagentStop::new())).await.goes_on();
        }
    }

    /// A stop that a hook refuses means: go on, with its reason as the next prompt.
    async fn may_stop(&mut self, words: &str) -> bool {
        println!("the model says: {words}");
        let compact = self.hooks.fire(Event::pre_compact(Compaction::new().trigger("auto"))).await;
        if !compact.is_block() {
            self.hooks.fire(Event::post_compact(Compaction::new().trigger("auto"))).await;
        }
        let verdict = self.hooks.fire(Event::stop(Stop::new().last_assistant_message(words))).await;
        if verdict.goes_on() {
            self.conversation.push(verdict.reason().unwrap_or_default().to_owned());
        }
        !verdict.goes_on()
    }

    fn hear(&mut self, verdict: &checkrein::Verdict) {
        self.conversation.extend(verdict.context().iter().map(|said| said.text.clone()));
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

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut registry = Registry::new();
    let stops = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    registry.register_builtin(
        "one_more_thing",
        Builtin::immediate(move |_| {
            let first = stops.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
            Ok(if first { Opinion::deny("update the changelog as well") } else { Opinion::none() })
        }),
    )?;
    let hooks = Engine::builder()
        .registry(registry)
        .observer(HookLines::new(std::io::stdout()))
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
        .hook(HookSpec::builtin("once-more", EventKind::Stop, "one_more_thing"))
        .build();
    let script = vec![
        Step::Tool("Bash", r#"{"command": "curl example.com"}"#),
        Step::Tool("Bash", r#"{"command": "cargo test", "run": 9007199254740993}"#),
        Step::Tool("Flaky", "{}"),
        Step::Helper("find the changelog"),
        Step::Done("The tests pass."),
        Step::Done("The changelog is up to date, too."),
    ];
    Agent { hooks, conversation: Vec::new() }.session("Run the tests", script).await
}
