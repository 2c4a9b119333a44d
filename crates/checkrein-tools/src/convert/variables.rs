//! Variables in the command of a hook, which another agent may not set.

use checkrein_dialects::{CommandLine, Data, Dialect, HandlerSpec, HookSpec};

/// Replaces the variable for the project directory by that of the other agent. Returns the variables that the other agent does not
/// set.
pub(super) fn translate(hook: &mut HookSpec, to: &Dialect) -> Vec<&'static str> {
    let from = hook.dialect;
    if from.name == to.name {
        return Vec::new();
    }
    let HandlerSpec::Command(command) = &mut hook.handler else { return Vec::new() };
    let env_set = std::mem::take(&mut command.env_set);
    let mut words: Vec<&mut String> = match &mut command.run {
        CommandLine::Shell { text, .. } => vec![text],
        CommandLine::Argv(words) => words.iter_mut().collect(),
    };
    let mut lost = Vec::new();
    let project = to.process.variables.iter().find(|row| row.from == Data::ProjectDir);
    for (name, data) in set_by(from) {
        let is_set = set_by(to).any(|(other, _)| other == name) || env_set.iter().any(|(set, _)| set == name);
        if is_set || !words.iter().any(|word| find(word, name).is_some()) {
            continue;
        }
        match project {
            Some(own) if data == Some(Data::ProjectDir) => {
                for word in &mut words {
                    **word = renamed(word, name, own.name);
                }
            }
            _ => lost.push(name),
        }
    }
    command.env_set = env_set;
    lost
}

/// Variables that an agent sets for hooks.
fn set_by(dialect: &Dialect) -> impl Iterator<Item = (&'static str, Option<Data>)> + use<> {
    let plugin = dialect.config.plugin.map(|plugin| (plugin.root_variable, None));
    dialect.process.variables.iter().map(|row| (row.name, Some(row.from))).chain(plugin)
}

/// Position of a variable's name in `$NAME` or `${NAME`.
fn find(text: &str, name: &str) -> Option<usize> {
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let (before, after) = (&text[..*at], &text[at + name.len()..]);
        let is_name = after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        !is_name && (before.ends_with('$') || before.ends_with("${"))
    })
}

fn renamed(text: &str, name: &str, new: &str) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some(at) = find(rest, name) {
        done.push_str(&rest[..at]);
        done.push_str(new);
        rest = &rest[at + name.len()..];
    }
    done + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_match_by_their_whole_name() {
        for (text, new) in [
            ("$DIR/x", "$D/x"),
            ("\"${DIR}\"/x", "\"${D}\"/x"),
            ("${DIR:-.}", "${D:-.}"),
            ("$DIRECTORY", "$DIRECTORY"),
            ("$DIR_2", "$DIR_2"),
            ("DIR", "DIR"),
            ("$A $DIR ${DIR} $DIRS", "$A $D ${D} $DIRS"),
        ] {
            assert_eq!(renamed(text, "DIR", "D"), new, "{text}");
        }
    }
}
