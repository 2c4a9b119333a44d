//! Conversion of hooks to the file of another agent.
//!
//! `checkrein convert` and `checkrein init --from` use it. Each part of a hook that the other agent does not have is a [`Loss`]. A
//! hook must never be written without a reported loss if it would block less there, or if the file would be invalid.

mod permissions;
mod tools;
mod variables;
mod verify;

use std::path::Path;
use std::sync::Arc;

use checkrein_core::{EventKind, FailureKind};
use checkrein_dialects::{Dialect, HookSpec};

pub use permissions::{ConvertedPermissions, Permission, convert_permissions, read_permissions};

/// Result of a conversion.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Conversion {
    /// Text of the file.
    pub text: String,
    /// Everything that the file cannot express, in the order of the hooks.
    pub losses: Vec<Loss>,
}

impl Conversion {
    /// Number of blocking hooks that would no longer block as before.
    pub fn gates_lost(&self) -> usize {
        self.count(|loss| loss.gate)
    }

    /// Number of hooks that are not in the file for at least one of their events.
    pub fn hooks_lost(&self) -> usize {
        self.count(|loss| loss.kind == LossKind::Hook)
    }

    fn count(&self, is_counted: impl Fn(&Loss) -> bool) -> usize {
        let mut hooks: Vec<_> = self.losses.iter().filter(|loss| is_counted(loss)).map(|loss| loss.hook).collect();
        hooks.sort_unstable();
        hooks.dedup();
        hooks.len()
    }
}

/// A hook, or a part of it, that the other agent does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// Index of the hook.
    pub hook: usize,
    /// Lost part.
    pub kind: LossKind,
    /// Description of the part, or the reason.
    pub what: String,
    /// `true` if a blocking hook would no longer block as before.
    pub gate: bool,
}

/// Lost part of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossKind {
    /// The hook, at one or all of its events.
    Hook,
    /// A property of the hook.
    Part,
    /// The command or script, which does not work with the other agent. The entry itself is complete.
    Script,
}

impl Loss {
    /// Describes the loss in a sentence. `hook` is the hook with its place.
    pub fn describe(&self, hook: &dyn std::fmt::Display) -> String {
        let what = &self.what;
        match (self.kind, self.gate) {
            (LossKind::Hook, true) => format!("{hook} is dropped and would no longer block: {what}"),
            (LossKind::Hook, false) => format!("{hook} is dropped: {what}"),
            (LossKind::Part | LossKind::Script, true) => format!("{hook} would no longer block: {what}"),
            (LossKind::Part, false) => format!("{hook} loses {what}"),
            (LossKind::Script, false) => format!("{hook} may not work: {what}"),
        }
    }
}

/// Converts hooks to a file of another agent. `dir` is the agent's working directory. `None`: the agent has no file for several
/// hooks.
pub fn convert(hooks: &[&HookSpec], to: &'static Dialect, dir: &Path) -> Option<Conversion> {
    to.encode(&[])?;
    let mut conversion = Converter { to, dir, specs: Vec::new(), losses: Vec::new() };
    for (index, hook) in hooks.iter().enumerate() {
        conversion.add(index, hook);
    }
    let Converter { specs, mut losses, .. } = conversion;
    let encoded = to.encode(&specs.iter().map(|(_, spec)| spec).collect::<Vec<_>>())?;
    for lost in encoded.lost {
        let Some((index, spec)) = specs.get(lost.hook) else { continue };
        let kind = if lost.all { LossKind::Hook } else { LossKind::Part };
        let gate = lost.all && is_gate(spec);
        losses.push(Loss { hook: *index, kind, what: lost.what, gate });
    }
    losses.sort_by_key(|loss| loss.hook);
    let mut unique: Vec<Loss> = Vec::new();
    for loss in losses {
        if !unique.contains(&loss) {
            unique.push(loss);
        }
    }
    Some(Conversion { text: encoded.text, losses: unique })
}

struct Converter<'a> {
    to: &'static Dialect,
    dir: &'a Path,
    /// Hooks in the vocabulary of the other agent, with the index of the original.
    specs: Vec<(usize, HookSpec)>,
    losses: Vec<Loss>,
}

impl Converter<'_> {
    fn add(&mut self, index: usize, hook: &HookSpec) {
        let why = match self.try_add(index, hook) {
            Ok(()) => return,
            Err(why) => why,
        };
        // The other agent may lack only some of the events.
        if hook.kinds.len() > 1 {
            for kind in &hook.kinds {
                let mut one = hook.clone();
                one.kinds = vec![kind.clone()];
                self.add(index, &one);
            }
            return;
        }
        self.losses.push(Loss { hook: index, kind: LossKind::Hook, what: why, gate: is_gate(hook) });
    }

    /// Adds a hook, or returns the reason why the other agent cannot have it.
    fn try_add(&mut self, index: usize, hook: &HookSpec) -> Result<(), String> {
        let to = self.to;
        let mut losses = Vec::new();
        let mut lose = |kind, what: String, gate: bool| {
            losses.push(Loss { hook: index, kind, what, gate: gate && is_gate(hook) });
        };
        let translation = tools::translate(hook, to)?;
        for (what, gate) in translation.lost {
            lose(LossKind::Part, what, gate);
        }
        let mut specs = translation.hooks;
        for spec in &mut specs {
            keep_failure_policy(spec, to);
            for name in variables::translate(spec, to) {
                lose(LossKind::Script, format!("{} does not set the variable {name}", to.title()), true);
            }
        }
        for spec in &specs {
            let encoded = to.encode(&[spec]).ok_or("there is no such file")?;
            if let Some(lost) = encoded.lost.into_iter().find(|lost| lost.all) {
                return Err(lost.what);
            }
            for finding in verify::findings(hook, &encoded.text, to, self.dir)? {
                lose(LossKind::Script, finding.message, finding.is_dead);
            }
        }
        if let Some(kind) = hook.kinds.iter().find(|kind| hook.dialect.is_gate(kind) && !to.is_gate(kind)) {
            lose(LossKind::Part, format!("{} hooks cannot block `{kind}`", to.title()), true);
        }
        if hook.is_http() && hook.dialect.http.decides && !to.http.decides {
            lose(LossKind::Part, format!("{} ignores the replies of HTTP hooks", to.title()), true);
        }
        self.losses.extend(losses);
        self.specs.extend(specs.into_iter().map(|spec| (index, spec)));
        Ok(())
    }
}

/// Writes out the failure policy of a gate, if the default of the other agent differs. Without it, a failing hook that was ignored
/// would block everything, or the reverse.
fn keep_failure_policy(hook: &mut HookSpec, to: &Dialect) {
    let from = hook.dialect;
    let is_gate = |kind: &EventKind| from.is_gate(kind) && to.is_gate(kind);
    if hook.info.on_failure.is_some() || !hook.kinds.iter().all(is_gate) {
        return;
    }
    let effects = |dialect: &Dialect| {
        let of_kind = |kind| FailureKind::ALL.iter().map(move |failure| dialect.failure_effect(kind, *failure));
        hook.kinds.iter().flat_map(of_kind).collect::<Vec<_>>()
    };
    let (own, others) = (effects(from), effects(to));
    if let Some(effect) = own.first().copied()
        && own.iter().all(|one| *one == effect)
        && others.iter().any(|other| *other != effect)
    {
        Arc::make_mut(&mut hook.info).on_failure = Some(effect);
    }
}

/// `true` if the hook can block at one of its events. A dry run never blocks.
fn is_gate(hook: &HookSpec) -> bool {
    hook.kinds.iter().any(|kind| hook.guards(kind))
}
