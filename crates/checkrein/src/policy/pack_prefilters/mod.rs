//! Prefilters of the rules of packs, known before the rules are compiled. The program compiles only rules that the call can match.
//!
//! `table.rs` is generated from the packs. A rule has its row only if its expressions and parameters are those of the pack: a changed
//! parameter can change the prefilter. All other rules are compiled at the start.

#[rustfmt::skip]
mod table;

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher as _};

use checkrein_core::EventKind;
use checkrein_dialects::{HandlerSpec, HookSpec, RuleSpec};
use checkrein_expression::Prefilter;

use super::compile::{Rule, RuleError};
use crate::facts;

/// Id of a rule, the digest of all that the compilation reads, the list of facts of the prefilter, and its demands.
type Row = (&'static str, u64, &'static str, &'static [&'static [(&'static str, &'static [&'static str])]]);

/// Returns the prefilter of a rule of a pack. `None`: only the compiled rule knows it.
pub(super) fn find(spec: &RuleSpec, kinds: &[EventKind]) -> Option<Prefilter> {
    let id = spec.pack_rule.as_deref()?;
    let row = table::ROWS.binary_search_by(|(own, ..)| (*own).cmp(id)).ok()?;
    let (_, known, list, demands) = table::ROWS.get(row)?;
    if *known != digest(spec, kinds) {
        return None;
    }
    Prefilter::from_texts(&facts::ROOT, list, demands)
}

/// Returns a digest of all that the compilation of a rule reads. The hasher has no random key, and a changed hasher only means that
/// rules are compiled at the start.
fn digest(spec: &RuleSpec, kinds: &[EventKind]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut add = |text: &str| {
        hasher.write(text.as_bytes());
        hasher.write(&[0]);
    };
    kinds.iter().for_each(|kind| add(kind.name()));
    add("when");
    add(&spec.when);
    for (name, text) in &spec.vars {
        add(name);
        add(text);
    }
    for (key, values) in [("params", &spec.params), ("rewrite", &spec.rewrite)] {
        add(key);
        for (name, value) in values {
            add(name);
            add(value.as_str());
        }
    }
    let decision = spec.decision.as_ref().map(|(_, text)| text);
    for text in [decision, spec.context.as_ref(), spec.message.as_ref()] {
        add(text.map_or("", String::as_str));
    }
    hasher.finish()
}

/// Returns the content of the table for these rules.
///
/// # Errors
/// A rule is not valid.
#[doc(hidden)]
pub fn table(rules: &[HookSpec]) -> Result<String, RuleError> {
    let mut rows = Vec::new();
    for hook in rules {
        let HandlerSpec::Rule(spec) = &hook.handler else { continue };
        let compiled = Rule::compile(spec, &hook.kinds)?;
        let (Some(id), Some(prefilter)) = (&spec.pack_rule, &compiled.prefilter) else { continue };
        let mut demands = String::new();
        for demand in prefilter.texts(&facts::ROOT) {
            let fields = demand.iter().map(|(field, texts)| format!("({field:?}, &{texts:?})"));
            let _ = write!(demands, "&[{}], ", fields.collect::<Vec<_>>().join(", "));
        }
        let list = prefilter.list(&facts::ROOT);
        let row = format!(
            "    ({id:?}, {:#018x}, {list:?}, &[{}]),\n",
            digest(spec, &hook.kinds),
            demands.trim_end_matches(", ")
        );
        rows.push((id.clone(), row));
    }
    rows.sort();
    let rows: String = rows.into_iter().map(|(_, row)| row).collect();
    Ok(format!(
        "//! Generated from the packs: `UPDATE_DOCS=1 cargo test -p checkrein-tools --test packs`.\n\npub(super) static ROWS: &[super::Row] = &[\n{rows}];\n"
    ))
}

/// Returns whether the program knows the prefilter of a rule before its compilation.
#[doc(hidden)]
pub fn is_known(hook: &HookSpec) -> bool {
    matches!(&hook.handler, HandlerSpec::Rule(spec) if find(spec, &hook.kinds).is_some())
}
