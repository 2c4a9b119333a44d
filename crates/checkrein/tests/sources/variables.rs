//! `env_allow` in files, for hooks of other agents.

use checkrein::hook::HandlerSpec;

use crate::common::{LOCAL, PROJECT, USER, World};

const CLAUDE_USER: &str = "home/.claude/settings.json";
const CLAUDE: &str = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#;

fn allowed(world: &World) -> Vec<Vec<String>> {
    let names = |handler| match handler {
        HandlerSpec::Command(command) => command.env_allow,
        _ => panic!("no command"),
    };
    world.load().hooks.into_iter().map(|spec| names(spec.handler)).collect()
}

#[test]
fn include_and_user_file_can_pass_variables_on() {
    let own = r#"{"id": "own", "event": "Stop", "command": "x"}"#;
    let file = |more: &str, include: &str| {
        format!(r#"{{{more} "include": [{{"dialect": "claude"{include}}}], "hooks": [{own}]}}"#)
    };
    for (text, expected) in [
        (file("", ""), [&[][..], &[]]),
        (file("", r#", "env_allow": ["A", "B"]"#), [&[][..], &["A", "B"]]),
        (file(r#""env_allow": ["*"],"#, ""), [&[][..], &["*"]]),
        (file(r#""env_allow": ["A"],"#, r#", "env_allow": ["A", "B"]"#), [&[][..], &["A", "B"]]),
        (file(r#""env_allow": 7,"#, ""), [&[][..], &[]]),
    ] {
        let world = World::with(&[(USER, &text), (CLAUDE_USER, CLAUDE)]);
        assert_eq!(allowed(&world), expected, "{text}");
    }
}

#[test]
fn project_cannot_pass_variables_on_to_user_hooks() {
    for file in [PROJECT, LOCAL] {
        let world = World::with(&[
            (USER, r#"{"include": ["claude"], "hooks": []}"#),
            (file, r#"{"env_allow": ["*"], "include": [{"dialect": "claude", "env_allow": ["*"]}], "hooks": []}"#),
            (CLAUDE_USER, CLAUDE),
        ]);
        assert_eq!(allowed(&world), [&[""; 0][..]], "{file}");
        assert_eq!(world.codes(&world.load()), [format!("{file} no-effect")], "{file}");
        world.write(USER, "{}");
        assert_eq!(allowed(&world), [&[""; 0][..]], "{file}");
        assert!(world.codes(&world.load()).contains(&format!("{CLAUDE_USER} scope-not-permitted")), "{file}");
    }
}
