//! Selection of hooks: the index must select the same hooks as a check of each hook.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

use checkrein_core::payload::{Prompt, SessionStart, Stop, ToolCall};
use checkrein_core::{
    Condition, Contract, CustomKind, Event, EventFilter, EventKind, Grammar, HookInfo, HookSelector, HookSet,
    HookState, Matcher, RawJson, Scope, SkipReason, Source,
};
use proptest::prelude::*;

fn hook(id: &str, pattern: &str) -> HookSelector {
    let matcher = Matcher::compile(&Grammar::NAMES_OR_SEARCH, Some(pattern)).unwrap();
    HookSelector::for_kind(HookInfo::new(id, Source::here()), EventKind::PreToolUse).matching(matcher)
}

fn tool(name: &str) -> Event {
    Event::pre_tool_use(ToolCall::new(name, RawJson::default()))
}

fn chosen(hooks: &HookSet, event: &Event) -> Vec<String> {
    hooks.select(event).map(|(_, hook)| hook.info.id.clone()).collect()
}

#[test]
fn hooks_are_selected_in_config_order_by_kind_and_matcher() {
    let hooks = HookSet::new(vec![
        hook("all", "*"),
        hook("bash", "Bash"),
        hook("write", "Write|Edit"),
        hook("mcp", "mcp__.*"),
        hook("search", "ash"),
        hook("exact", "mcp__db__read"),
        HookSelector::for_kind(HookInfo::new("other kind", Source::here()), EventKind::Stop),
    ]);
    for (name, expected) in [
        ("Bash", &["all", "bash"][..]),
        ("Edit", &["all", "write"]),
        ("mcp__db__read", &["all", "mcp", "exact"]),
        ("NotebookEdit", &["all"]),
        ("ash", &["all", "search"]),
        ("", &["all"]),
    ] {
        assert_eq!(chosen(&hooks, &tool(name)), expected, "{name}");
        assert!(hooks.would_select(&EventKind::PreToolUse, name));
    }
    assert!(hooks.has(&EventKind::Stop) && !hooks.has(&EventKind::SessionEnd));
    assert!(!hooks.would_select(&EventKind::SessionEnd, "x"));
}

#[test]
fn a_hook_matches_any_alias_of_a_tool() {
    let hooks = HookSet::new(vec![
        hook("common", "Bash"),
        hook("own", "run_.*"),
        hook("other", "Edit"),
        hook("both", "Bash|x.*"),
    ]);
    let event = tool("run_shell").with_tool_aliases(&["Bash"]);
    assert_eq!(chosen(&hooks, &event), ["common", "own", "both"]);
    let plan = hooks.explain(&event);
    assert_eq!(plan.chosen().map(|entry| entry.hook.info.id.as_str()).collect::<Vec<_>>(), ["common", "own", "both"]);
    assert_eq!(chosen(&hooks, &tool("run_shell")), ["own"]);
    // Kinds without a subject ignore aliases as well.
    let prompts =
        HookSet::new(vec![HookSelector::for_kind(HookInfo::new("all", Source::here()), EventKind::PromptSubmit)]);
    assert_eq!(chosen(&prompts, &Event::prompt_submit(Prompt::new("hi")).with_tool_aliases(&["Bash"])), ["all"]);
}

#[test]
fn a_plan_has_the_skip_reason_of_every_hook() {
    let mut off = hook("off", "*");
    off.state = HookState::Disabled;
    let mut duplicate = hook("duplicate", "Bash");
    duplicate.identity = Some("sh check.sh".to_owned());
    let mut original = hook("original", "*");
    original.identity = duplicate.identity.clone();
    let mut conditional = hook("conditional", "*");
    conditional.condition = Some(Condition::new("Bash(git *)", |_| false));
    let mut untrusted = hook("untrusted", "*");
    untrusted.state = HookState::Untrusted;
    let hooks = HookSet::new(vec![
        off,
        original,
        duplicate,
        conditional,
        hook("unfit", "Write"),
        untrusted,
        HookSelector::for_kind(HookInfo::new("stop", Source::here()), EventKind::Stop),
    ]);
    let event = tool("Bash");
    let plan = hooks.explain(&event);
    assert_eq!(plan.subject.as_deref(), Some("Bash"));
    let reasons: Vec<_> = plan
        .entries
        .iter()
        .map(|entry| {
            (entry.hook.info.id.as_str(), entry.skip_reason.as_ref().map(SkipReason::to_string).unwrap_or_default())
        })
        .collect();
    assert_eq!(
        reasons,
        [
            ("off", "disabled".to_owned()),
            ("original", String::new()),
            ("duplicate", "duplicate of hook `original`".to_owned()),
            ("conditional", "condition `Bash(git *)` is false".to_owned()),
            ("unfit", "matcher `Write` does not match `Bash`".to_owned()),
            ("untrusted", String::new()),
            ("stop", "for other events".to_owned()),
        ]
    );
    assert_eq!(chosen(&hooks, &event), ["original", "untrusted"]);
}

#[test]
fn a_duplicate_that_cannot_run_does_not_replace_one_that_can() {
    let duplicate = |id: &str| hook(id, "*").identified_by("sh guard.sh");
    let hooks = HookSet::new(vec![duplicate("project").in_state(HookState::Untrusted).in_order(-1), duplicate("user")]);
    let event = tool("Bash");
    assert_eq!(chosen(&hooks, &event), ["user"]);
    let reasons: Vec<_> = hooks.explain(&event).entries.iter().map(|entry| entry.skip_reason.clone()).collect();
    assert_eq!(reasons, [Some(SkipReason::DuplicateOf { id: "user".to_owned() }), None]);
    let never = Condition::new("never", |_| false);
    let hooks = HookSet::new(vec![duplicate("conditional").when(never), duplicate("plain")]);
    assert_eq!(chosen(&hooks, &event), ["plain"]);
    let panics = Condition::new("panics", |_| panic!("oh"));
    let hooks = HookSet::new(vec![hook("guard", "*").when(panics)]);
    assert_eq!(chosen(&hooks, &event), ["guard"], "a condition that panics holds");
}

#[test]
fn long_subjects_and_long_lists_stay_cheap() {
    let hooks = HookSet::new((0..100).map(|n| hook(&n.to_string(), &format!("a[xyz]{n}"))).collect());
    assert_eq!(chosen(&hooks, &tool(&"a".repeat(1 << 20))), [""; 0]);
    let names: Vec<_> = (0..2000).map(|n| format!("n{n}")).collect();
    let mut many: Vec<_> = (0..400).map(|n| hook(&n.to_string(), "*")).collect();
    many.push(hook("listed", &names.join("|")));
    let hooks = HookSet::new(many);
    assert_eq!(chosen(&hooks, &tool("n7")).len(), 401);
}

#[test]
fn order_sorts_hooks_stably() {
    let mut late = hook("late", "*");
    late.order = 10;
    let mut early = hook("early", "*");
    early.order = -1;
    let hooks = HookSet::new(vec![late, hook("a", "*"), early, hook("b", "*")]);
    assert_eq!(chosen(&hooks, &tool("x")), ["early", "a", "b", "late"]);
}

#[test]
fn a_duplicate_of_lower_trust_does_not_replace_one_of_higher_trust() {
    let duplicate = |scope: Scope| {
        let info = HookInfo::new(scope.to_string(), Source::for_scope(scope));
        HookSelector::for_kind(info, EventKind::PreToolUse).identified_by("sh guard.sh")
    };
    let order = [Scope::Plugin, Scope::Local, Scope::Project, Scope::Code, Scope::User];
    let hooks = HookSet::new(order.map(duplicate).into());
    assert_eq!(chosen(&hooks, &tool("Bash")), ["code"], "the first at the highest trust level");
    let hooks = HookSet::new(vec![
        duplicate(Scope::Project),
        duplicate(Scope::User).in_state(HookState::Broken("x".to_owned())),
    ]);
    assert_eq!(chosen(&hooks, &tool("Bash")), ["project"], "one that can run");
}

#[test]
fn kinds_without_a_subject_ignore_matchers() {
    let hooks = HookSet::new(vec![
        hook("named", "Bash").also_for(EventKind::PromptSubmit).also_for(EventKind::PromptSubmit),
        hook("all", "*").also_for(EventKind::SessionStart),
        hook("startup", "startup").also_for(EventKind::SessionStart),
    ]);
    assert_eq!(chosen(&hooks, &Event::prompt_submit(Prompt::new("x"))), ["named"]);
    // An event without the subject of its kind: only matchers for everything match.
    assert_eq!(chosen(&hooks, &Event::session_start(SessionStart::new())), ["all"]);
    assert_eq!(chosen(&hooks, &Event::session_start(SessionStart::new().source("startup"))), ["all", "startup"]);
}

#[test]
fn custom_kinds_are_matched_on_the_declared_field() {
    let kind = CustomKind::new("pre_deploy", Contract::observe().matched_on("target")).unwrap();
    let mut prod = hook("prod", "prod");
    prod.kinds = vec![EventKind::Custom(kind.clone())];
    let hooks = HookSet::new(vec![prod]);
    let event = |target| {
        let payload =
            checkrein_core::payload::CustomPayload::new(kind.clone()).field("target", RawJson::string(target));
        Event::custom(payload)
    };
    assert_eq!(chosen(&hooks, &event("prod")), ["prod"]);
    assert_eq!(chosen(&hooks, &event("test")), [""; 0]);
}

#[test]
fn select_and_explain_agree_on_a_thousand_hooks() {
    let hooks = HookSet::new(
        (0..1000)
            .map(|n| match n % 3 {
                0 => hook(&n.to_string(), &format!("tool{n}")),
                1 => hook(&n.to_string(), &format!("^tool{n}_.*")),
                _ => hook(&n.to_string(), &format!("x{n}$")),
            })
            .collect(),
    );
    for n in (0..1000).step_by(13).chain(0..20) {
        for name in [format!("tool{n}"), format!("tool{n}_a"), format!("tool_x{n}"), format!("{n}").repeat(100)] {
            let event = tool(&name);
            let explained: Vec<_> = hooks.explain(&event).chosen().map(|e| e.hook.info.id.clone()).collect();
            assert_eq!(chosen(&hooks, &event), explained, "{name}");
            assert!(explained.len() <= 1);
        }
    }
}

proptest! {
    #[test]
    fn select_and_explain_agree(
        patterns in prop::collection::vec(("[ab|*.^$+?{}0(),]{0,6}", 0_u8..5, prop::option::of(0_u8..3)), 0..12),
        names in prop::collection::vec("[ab.]{0,4}", 1..8),
    ) {
        let grammars = [
            Grammar::NAMES_OR_SEARCH, Grammar::REGEX_WHOLE, Grammar::REGEX_SEARCH, Grammar::GLOB, Grammar::EXACT,
        ];
        let hooks: Vec<_> = patterns
            .iter()
            .enumerate()
                .filter_map(|(index, (pattern, grammar, identity))| {
                let matcher = Matcher::compile(&grammars[usize::from(*grammar)], Some(pattern)).ok()?;
                let mut hook = HookSelector::for_kind(HookInfo::new(index.to_string(), Source::here()), EventKind::PreToolUse);
                hook.matcher = matcher;
                hook.identity = identity.map(|identity| identity.to_string());
                Some(hook)
            })
            .collect();
        let set = HookSet::new(hooks);
        for name in &names {
            let event = tool(name);
            let explained: Vec<_> = set.explain(&event).chosen().map(|e| e.hook.info.id.clone()).collect();
            prop_assert_eq!(chosen(&set, &event), explained.clone());
            prop_assert_eq!(set.would_select(&EventKind::PreToolUse, name), !explained.is_empty());
        }
    }

    /// Selection, explanation and filter agree for all names of the tool and kinds of the hook.
    #[test]
    fn the_filter_accepts_exactly_the_selected_hooks(
        patterns in prop::collection::vec(("[ab|*.^$_m]{0,5}", 0_u8..5, 1_u8..8), 0..12),
        name in "[ab]{0,2}",
        aliases in 0_usize..4,
        with_parent in any::<bool>(),
    ) {
        const KINDS: [EventKind; 3] = [EventKind::PreMcp, EventKind::PreToolUse, EventKind::Stop];
        const ALIASES: [&[&str]; 4] = [&[], &["a"], &["ab", "b"], &["mcp__a__b"]];
        let grammars = [
            Grammar::NAMES_OR_SEARCH, Grammar::REGEX_WHOLE, Grammar::REGEX_SEARCH, Grammar::GLOB, Grammar::EXACT,
        ];
        let hooks: Vec<_> = patterns
            .iter()
            .enumerate()
            .filter_map(|(index, (pattern, grammar, kinds))| {
                let matcher = Matcher::compile(&grammars[usize::from(*grammar)], Some(pattern)).ok()?;
                let mut hook = HookSelector::for_kind(HookInfo::new(index.to_string(), Source::here()), EventKind::Stop);
                hook.kinds = (0..3).filter(|bit| kinds >> bit & 1 == 1).map(|bit| KINDS[bit].clone()).collect();
                hook.matcher = matcher;
                Some(hook)
            })
            .collect();
        let mut call = ToolCall::new(&name, RawJson::default());
        call.mcp_server = Some(RawJson::string("a"));
        let events = [Event::pre_mcp(call.clone()), Event::pre_tool_use(call), Event::stop(Stop::new())];
        let set = HookSet::new(hooks);
        for event in events {
            let event = event.with_tool_aliases(ALIASES[aliases]).with_parent_hooks(with_parent);
            let filter = EventFilter::for_event(&event);
            let can_match = |hook: &&HookSelector| filter.can_match(&hook.kinds, |name| hook.matcher.matches(name));
            let filtered: Vec<_> = set.hooks().iter().filter(can_match).map(|hook| hook.info.id.clone()).collect();
            let explained: Vec<_> = set.explain(&event).chosen().map(|e| e.hook.info.id.clone()).collect();
            prop_assert_eq!(&chosen(&set, &event), &filtered);
            prop_assert_eq!(&explained, &filtered);
        }
    }
}

/// The hook is for both kinds and accepts only the tool name of the parent kind.
#[test]
fn explaining_agrees_with_selecting_for_hooks_of_both_kinds() {
    let mut hook = hook("both", "mcp__github__search");
    hook.kinds = [EventKind::PreMcp, EventKind::PreToolUse].into();
    let set = HookSet::new(vec![hook]);
    let mut call = ToolCall::new("search", RawJson::default());
    call.mcp_server = Some(RawJson::string("github"));
    let event = Event::pre_mcp(call).with_parent_hooks(true);
    assert_eq!(chosen(&set, &event), ["both"]);
    assert_eq!(set.explain(&event).chosen().count(), 1);
}

/// Some hosts have events for some tools only. Hooks for all tools run there, each once.
#[test]
fn hooks_of_the_parent_kind_match_events_for_some_tools() {
    let hook = |id: &str, kinds: &[EventKind], tool: &str| {
        let mut hook = HookSelector::for_kind(HookInfo::new(id, Source::here()), kinds[0].clone())
            .matching(Matcher::names([tool]));
        hook.kinds = kinds.into();
        hook
    };
    let set = HookSet::new(vec![
        hook("parent", &[EventKind::PreToolUse], "Bash"),
        hook("both", &[EventKind::PreToolUse, EventKind::PreShell], "Bash"),
        hook("other tool", &[EventKind::PreToolUse], "Write"),
        hook("after", &[EventKind::PostToolUse], "Bash"),
        hook("narrow", &[EventKind::PreShell], "Bash"),
    ]);
    let mut event = Event::pre_shell(ToolCall::new("Bash", RawJson::default()));
    assert_eq!(chosen(&set, &event), ["both", "narrow"]);
    event = event.with_parent_hooks(true);
    assert_eq!(chosen(&set, &event), ["parent", "both", "narrow"]);
    assert!(set.has_for(&event));
    let plan = set.explain(&event);
    let selected: Vec<_> = plan.entries.iter().map(|entry| entry.skip_reason.is_none()).collect();
    assert_eq!(selected, [true, true, false, false, true]);
}
