//! A handler kind of the host, for hooks in code and in files.
//!
//! `cargo run -p checkrein --example custom_handler`
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::sync::Arc;

use checkrein::handler::{Call, HandlerEnv, HandlerFuture, Reply};
use checkrein::hook::HandlerSpec;
use checkrein::payload::ToolCall;
use checkrein::{
    Action, Engine, Event, EventKind, Failure, FailureKind, Handler, HookSpec, Opinion, RawJson, Registry,
};

/// Asks the user before tools on its list. Created once per hook, when the hook is loaded.
struct AskList {
    tools: Vec<String>,
}

impl Handler for AskList {
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a> {
        // The engine drops this future at the hook's timeout.
        Box::pin(async move {
            let listed = call.event().tool_name().filter(|name| self.tools.iter().any(|tool| tool == name));
            let opinion = match listed {
                Some(name) => Opinion::ask(format!("{name} is on the list")),
                None => Opinion::none(),
            };
            Ok(Reply::Opinion(opinion))
        })
    }

    /// `false`: the handler does not wait for anything outside the process, so it needs no slot.
    fn is_limited(&self) -> bool {
        false
    }
}

/// Checks the settings of a hook. With an error the hook closes its gate, and `Engine::problems` has the text.
fn ask_list(hook: &HookSpec, _env: &HandlerEnv) -> Result<Arc<dyn Handler>, Failure> {
    let HandlerSpec::Other { settings, .. } = &hook.handler else {
        return Err(Failure::new(FailureKind::UnknownHandler, "not an ask list"));
    };
    let invalid = |error| Failure::new(FailureKind::Schema, format!("`settings` must be a list of tools: {error}"));
    Ok(Arc::new(AskList { tools: settings.read().map_err(invalid)? }))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut registry = Registry::new();
    registry.register("ask_list", ask_list)?;
    // In a hook file: `{type: ask_list, settings: [Deploy]}`.
    let handler = HandlerSpec::Other { kind: "ask_list".to_owned(), settings: r#"["Deploy", "Publish"]"#.parse()? };
    let engine = Engine::builder()
        .registry(registry)
        .hook(HookSpec::new("ask-first", EventKind::PreToolUse, handler))
        .try_build()?;

    let asks = Action::Ask { reason: "Deploy is on the list" };
    for (tool, expected) in [("Read", Action::Proceed), ("Deploy", asks)] {
        let verdict = engine.fire(Event::pre_tool_use(ToolCall::new(tool, RawJson::default()))).await;
        println!("{tool}: {:?}", verdict.action());
        assert_eq!(verdict.action(), expected);
    }
    Ok(())
}

#[cfg(test)]
#[test]
fn runs() {
    main().unwrap();
}
