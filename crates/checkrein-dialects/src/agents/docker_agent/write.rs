//! Encoder: writes hooks as a file of an agent with the name `root`.

use checkrein_core::{BlockEffect, HookState};

use super::file::Files;
use crate::config::{ConversionLoss, Encoded, printable, written_matcher};
use crate::spec::HookSpec;
use crate::table::Dialect;

/// Hooks with one matcher. `None` if the event has no matchers.
struct Group {
    matcher: Option<String>,
    hooks: Vec<String>,
}

impl Files {
    /// Writes hooks as a file.
    pub(super) fn encode(&self, dialect: &Dialect, hooks: &[&HookSpec]) -> Encoded {
        let mut lost = Vec::new();
        let mut events: Vec<(&str, bool, Vec<Group>)> = Vec::new();
        for (at, spec) in hooks.iter().enumerate() {
            // The file cannot express these states: the hook would be enabled.
            let inexpressible = match &spec.state {
                HookState::Disabled => Some("it is disabled, which the file cannot express"),
                HookState::Broken(_) => Some("it is broken"),
                HookState::Ready | HookState::Skipped(_) | HookState::Untrusted | HookState::Changed(_) => None,
            };
            if let Some(why) = inexpressible {
                lost.push(ConversionLoss::whole(at, why));
                continue;
            }
            let Some(hook) = self.hook.write_hook(dialect, at, spec, &mut lost) else { continue };
            for kind in &spec.kinds {
                let Some(row) = dialect.row(kind) else {
                    lost.push(ConversionLoss::whole(at, format!("{} has no event for `{kind}`", dialect.title())));
                    continue;
                };
                let Some(matcher) = written_matcher(dialect, spec, kind, at, &mut lost) else { continue };
                if !row.blocks && spec.dialect.blocks(kind) && kind.contract().block != BlockEffect::Ignored {
                    lost.push(ConversionLoss::part(
                        at,
                        format!("that it can block, because hooks cannot block `{}`", row.name),
                    ));
                }
                let place = events.iter().position(|(name, ..)| *name == row.name).unwrap_or_else(|| {
                    events.push((row.name, row.matched, Vec::new()));
                    events.len() - 1
                });
                let Some((_, _, groups)) = events.get_mut(place) else { continue };
                match groups.last_mut().filter(|group| group.matcher == matcher) {
                    Some(group) => group.hooks.push(hook.clone()),
                    None => groups.push(Group { matcher, hooks: vec![hook.clone()] }),
                }
            }
        }
        Encoded { text: text(&events), lost }
    }
}

fn text(events: &[(&str, bool, Vec<Group>)]) -> String {
    let mut text = String::from("agents:\n  root:\n    hooks:");
    text.push_str(if events.is_empty() { " {}\n" } else { "\n" });
    for (name, matched, groups) in events {
        text.push_str(&format!("      {name}:\n"));
        for group in groups {
            let indent = if *matched {
                let matcher = checkrein_core::RawJson::string(group.matcher.as_deref().unwrap_or("*"));
                text.push_str(&format!("        - matcher: {}\n          hooks:\n", printable(matcher.as_str())));
                "            "
            } else {
                "        "
            };
            for hook in &group.hooks {
                text.push_str(&format!("{indent}- {}\n", printable(hook)));
            }
        }
    }
    text
}
