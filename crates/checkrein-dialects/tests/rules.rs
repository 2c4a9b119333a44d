//! Rules and packs in hook files.

use checkrein_core::{EventKind, FailurePolicy, HookState, Scope};
use checkrein_dialects::agents::native;
use checkrein_dialects::config::{Decoded, Severity};
use checkrein_dialects::{HandlerSpec, HookSpec, RuleDecision, RuleSpec};
use checkrein_document::Format;

fn decode(text: &str) -> Decoded {
    native::DIALECT.decode("hooks.yaml", Scope::User, text, Format::Yaml)
}

fn rule(spec: &HookSpec) -> &RuleSpec {
    let HandlerSpec::Rule(rule) = &spec.handler else { unreachable!("{:?}", spec.handler) };
    rule
}

fn errors(decoded: &Decoded) -> Vec<&'static str> {
    decoded.diagnostics.iter().filter(|found| found.severity == Severity::Error).map(|found| found.code).collect()
}

#[test]
fn rule_has_all_its_parts() {
    let decoded = decode(
        r#"
hooks:
  - id: guard
    params: { protected: [main] }
    vars: { push: 'commands.filter(c, c.program == "git")' }
    when: size(vars.push) > 0
    deny: no push
    label: pushed
    unknown: closed
    rewrite: { command: "${input.command} -n" }
    tests:
      - { command: git push, want: deny }
"#,
    );
    assert_eq!(errors(&decoded), [] as [&str; 0], "{:?}", decoded.diagnostics);
    let spec = &decoded.hooks[0];
    assert_eq!((spec.info.id.as_str(), spec.kinds.as_slice()), ("guard", &[EventKind::PreToolUse][..]));
    let rule = rule(spec);
    assert_eq!(rule.when, "size(vars.push) > 0");
    assert_eq!(rule.decision, Some((RuleDecision::Deny, "no push".to_owned())));
    assert_eq!(rule.params[0].1.as_str(), r#"["main"]"#);
    assert_eq!((rule.label.as_deref(), rule.unknown), (Some("pushed"), Some(FailurePolicy::Closed)));
    assert_eq!((rule.rewrite.len(), rule.tests.len(), rule.tests[0].line), (1, 1, 12));
    assert!(rule.uses_history() && decoded.settings.uses_history);
}

#[test]
fn rules_can_be_for_other_events() {
    let decoded = decode("hooks: [{ event: UserPromptSubmit, when: prompt.contains('x'), context: hi }]");
    assert_eq!(decoded.hooks[0].kinds, [EventKind::PromptSubmit]);
    let decoded = decode("hooks: { Stop: [{ hooks: [{ when: 'true', message: hi }] }] }");
    assert_eq!(decoded.hooks[0].kinds, [EventKind::Stop]);
    assert!(!decoded.settings.uses_history);
}

#[test]
fn broken_rules_close_their_gate() {
    for (entry, code) in [
        ("when: 'true'", "missing-key"),
        ("when: 'true', deny: a, ask: b", "two-decisions"),
        ("when: 3, deny: a", "wrong-type"),
        ("when: 'true', deny: a, unknown: maybe", "unknown-value"),
        ("when: 'true', deny: a, vars: [x]", "wrong-type"),
        ("when: 'true', deny: a, tests: [x]", "wrong-type"),
        ("when: 'true', label: 'two words'", "bad-label"),
    ] {
        let decoded = decode(&format!("hooks: [{{ id: x, {entry} }}]"));
        assert!(errors(&decoded).contains(&code), "{entry}: {:?}", decoded.diagnostics);
        assert!(matches!(decoded.hooks[0].state, HookState::Broken(_)), "{entry}");
        assert_eq!(decoded.hooks[0].kinds, [EventKind::PreToolUse], "{entry}");
    }
}

#[test]
fn keys_of_rules_are_lost_in_files_of_agents() {
    let decoded = decode("hooks: [{ when: 'true', deny: no }]");
    let encoded = checkrein_dialects::agents::claude::DIALECT.encode(&[&decoded.hooks[0]]).unwrap();
    assert!(encoded.lost[0].all, "{encoded:?}");
    let own = native::DIALECT.encode(&[&decoded.hooks[0]]).unwrap();
    let again = native::DIALECT.decode("hooks.json", Scope::User, &own.text, Format::Json);
    assert_eq!(rule(&again.hooks[0]), rule(&decoded.hooks[0]));
}

#[test]
fn packs_add_their_rules_with_adjustments() {
    let all = decode("packs: [git]").hooks;
    assert!(all.len() > 1 && all.iter().all(|spec| spec.info.id.starts_with("git.")));
    assert!(all.iter().all(|spec| spec.info.source.line == Some(1) && rule(spec).pack_rule.is_some()));
    let first = all[0].info.id.clone();
    let changed = decode(&format!(
        "packs:\n  - {{ pack: git, except: [{first}], set: {{ protected: [stable] }}, dry_run: true }}\n"
    ));
    assert_eq!(errors(&changed), [] as [&str; 0], "{:?}", changed.diagnostics);
    assert_eq!(changed.hooks.len(), all.len() - 1);
    assert!(changed.hooks.iter().all(|spec| spec.info.dry_run && spec.info.source.line == Some(2)));
    let protected =
        |spec: &HookSpec| rule(spec).params.iter().find(|(name, _)| name == "protected").unwrap().1.to_string();
    assert_eq!(protected(&changed.hooks[0]), r#"["stable"]"#);
}

#[test]
fn rules_that_are_off_can_be_selected() {
    let is_asked = |decoded: &Decoded| decoded.hooks.iter().any(|spec| spec.info.id == "git.push-any");
    assert!(!is_asked(&decode("packs: [git]")));
    let selected = decode("packs: [{ pack: git, deny: [git.push-any] }]");
    let spec = selected.hooks.iter().find(|spec| spec.info.id == "git.push-any").unwrap();
    assert_eq!((rule(spec).decision.as_ref().unwrap().0, &spec.state), (RuleDecision::Deny, &HookState::Ready));
}

#[test]
fn invalid_packs_close_all_gates() {
    for (packs, code) in [
        ("[gti]", "unknown-pack"),
        ("git", "wrong-type"),
        ("[git, git]", "duplicate-pack"),
        ("[{ except: [] }]", "missing-key"),
        ("[{ pack: git, excpt: [] }]", "unknown-key"),
        ("[{ pack: git, except: [git.nothing] }]", "unknown-rule"),
        ("[{ pack: git, except: [git.push-any], ask: [git.push-any] }]", "contradiction"),
        ("[{ pack: git, deny: [git.push-any], ask: [git.push-any] }]", "contradiction"),
        ("[{ pack: git, set: { protectd: [] } }]", "unknown-key"),
        ("[{ pack: git, set: { protected: main } }]", "wrong-type"),
    ] {
        let decoded = decode(&format!("packs: {packs}"));
        assert!(errors(&decoded).contains(&code), "{packs}: {:?}", decoded.diagnostics);
        let broken = decoded.hooks.iter().find(|spec| matches!(spec.state, HookState::Broken(_)));
        assert!(broken.is_some_and(|spec| spec.kinds.contains(&EventKind::PreToolUse)), "{packs}");
    }
}

#[test]
fn approval_of_a_pack_rule_does_not_depend_on_its_text() {
    let spec = decode("packs: [git]").hooks.remove(0);
    let mut other = spec.clone();
    if let HandlerSpec::Rule(rule) = &mut other.handler {
        rule.when.push_str(" || false");
    }
    assert_eq!(spec.definition(), other.definition());
    let own = decode("hooks: [{ when: 'true', deny: a }]").hooks.remove(0);
    let changed = decode("hooks: [{ when: 'false', deny: a }]").hooks.remove(0);
    assert_ne!(own.definition(), changed.definition());
}
