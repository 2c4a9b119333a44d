//! Programs that start other programs.

use super::words::{as_script, joined};
use super::{Context, Interpreter};
use crate::builtins::shell::ParseError;
use crate::builtins::shell::expand::UNKNOWN;
use crate::builtins::shell::expanded::Expanded;
use crate::builtins::shell::state::Values;
use crate::builtins::shell::word::is_name;
use crate::builtins::shell::wrappers::{Form, Wrapper, image_program, is_shell, module_program};

/// Maximum number of arguments with which the command of `parallel` is followed.
const MOST_ARGUMENTS: usize = 16;

impl Interpreter<'_> {
    /// Follows the commands that another program starts. They change nothing in this shell.
    pub(super) fn launch(&mut self, name: &str, args: &[Expanded], context: &Context) -> Result<(), ParseError> {
        let state = self.state.clone();
        self.processes += 1;
        self.wrappers.push(name.into());
        let mut is_builtin = false;
        if is_shell(name) {
            self.other_process(false)?;
            self.shell(args, context)?;
        } else if matches!(name, "find" | "fd" | "fdfind" | "gfind") {
            self.executed(args, context)?;
        } else {
            self.code(name, args, context)?;
            self.helpers(name, args, context)?;
            for wrapper in Wrapper::named(name) {
                is_builtin |= wrapper.is_builtin;
                if let Some(args) = wrapper.words(args) {
                    self.wrapped(name, wrapper, args, context)?;
                }
            }
        }
        self.wrappers.pop();
        self.processes -= 1;
        if !is_builtin {
            self.state = state;
        }
        Ok(())
    }

    /// Makes the variables unknown that another process does not get for certain.
    fn other_process(&mut self, is_elsewhere: bool) -> Result<(), ParseError> {
        self.state.open(&mut self.work, |name, values| (!values.exported || is_elsewhere) && name != "IFS")
    }

    fn shell(&mut self, args: &[Expanded], context: &Context) -> Result<(), ParseError> {
        // `-c` may be combined with other options, as in `-lc`. The text is the first operand.
        let (mut runs_text, mut reads_input, mut index) = (false, false, 0);
        while let Some(word) = args.get(index) {
            if !word.known && (word.may_split || !word.text.starts_with(['-', '+'])) {
                break;
            }
            let arg = word.text.as_str();
            if arg == "--" || arg == "-" {
                index += 1;
                break;
            }
            if !arg.starts_with(['-', '+']) {
                break;
            }
            let is_letters = !arg.starts_with("--");
            runs_text |= is_letters && arg.contains('c');
            reads_input |= is_letters && arg.contains('s');
            let is_startup_file = matches!(arg, "--rcfile" | "--init-file");
            if let Some(file) = args.get(index + 1).filter(|_| is_startup_file)
                && let Some(text) = self.content(file, &context.input)?
            {
                self.read_script(&text, &file.from, context)?;
            }
            let takes_value = is_startup_file || (is_letters && arg.ends_with(['o', 'O']));
            index += if takes_value { 2 } else { 1 };
        }
        let rest = args.get(index..).unwrap_or_default();
        if rest.first().is_some_and(|word| word.may_split) {
            // The word may be an option, a script or a file.
            self.push_unknown("$(…)", &[], context)?;
        }
        if runs_text {
            let Some((text, rest)) = rest.split_first() else { return Ok(()) };
            let is_list = rest.iter().all(|arg| !arg.may_split && !arg.glob);
            self.state.args = is_list.then(|| rest.get(1..).unwrap_or_default().into());
            return self.nested(&as_script(text), text.may_split || text.glob, &text.from, context);
        }
        self.state.args = None;
        match rest.first().filter(|_| !reads_input) {
            None => self.read_input(context),
            Some(file) => match self.content(file, &context.input)? {
                Some(text) => {
                    let from = if self.is_stdin(file)? { context.input.fed_by.to_vec() } else { file.from.clone() };
                    self.read_script(&text, &from, context)
                }
                None => Ok(()),
            },
        }
    }

    /// Follows the standard input as a script, unless it is a file.
    fn read_input(&mut self, context: &Context) -> Result<(), ParseError> {
        match context.input.text.clone() {
            Some(text) => self.read_script(&text, &context.input.fed_by, context),
            None => Ok(()),
        }
    }

    fn wrapped(
        &mut self,
        name: &str,
        wrapper: &Wrapper,
        args: &[Expanded],
        context: &Context,
    ) -> Result<(), ParseError> {
        let line = wrapper.command_line(args);
        if line.describes {
            return Ok(());
        }
        if !wrapper.is_builtin {
            self.other_process(wrapper.is_elsewhere)?;
        }
        for assignment in &line.assignments {
            let Some((variable, value)) = assignment.text.split_once('=') else { continue };
            if is_name(variable) {
                let value = assignment.part(variable.len() + 1..variable.len() + 1 + value.len());
                let values = Values { exported: true, ..self.known_values(&[value]) };
                self.set(variable, values)?;
            }
        }
        if let Some(directory) = &line.directory {
            self.builtin("cd", std::slice::from_ref(directory), context)?;
            self.state.before_cd = None;
        }
        if let Some(text) = split_string(args).filter(|_| name == "env") {
            return self.nested(&text, false, &[], context);
        }
        for script in &line.scripts {
            self.nested(&as_script(script), script.may_split || script.glob, &script.from, context)?;
        }
        let inner = &args[line.start..];
        let options = &args[..line.start];
        if line.scripts.is_empty() && (inner.is_empty() || wrapper.runs_only_scripts()) && wrapper.is_shell(options) {
            return self.read_input(context);
        }
        if wrapper.runs_only_scripts() || !line.scripts.is_empty() {
            return Ok(());
        }
        // Some images pass their arguments to a program, and some modules of Python are a program.
        let before = options.last().filter(|word| word.known);
        if let Some(program) = before.and_then(|image| image_program(&image.text)) {
            let words: Vec<_> = std::iter::once(Expanded::literal(program)).chain(inner.iter().cloned()).collect();
            return self.program(&words, context);
        }
        if let [module, rest @ ..] = inner
            && let Some(program) = module_program(&module.text).filter(|own| module.known && *own != module.text)
        {
            let words: Vec<_> = std::iter::once(Expanded::literal(program)).chain(rest.iter().cloned()).collect();
            return self.program(&words, context);
        }
        self.form(wrapper.form, options, inner, context)?;
        if line.is_doubtful && inner.len() > 1 {
            // The value of an unknown option, and the command behind it.
            self.form(wrapper.form, options, &inner[1..], context)?;
        }
        Ok(())
    }

    fn form(
        &mut self,
        form: Form,
        options: &[Expanded],
        inner: &[Expanded],
        context: &Context,
    ) -> Result<(), ParseError> {
        let mut inner = inner.to_vec();
        if form == Form::ScriptWithArguments {
            return self.parallel(&inner, context);
        }
        if form == Form::Arguments && !inner.is_empty() {
            self.add_input(options, &mut inner, context)?;
        }
        match form {
            Form::Program | Form::Arguments | Form::ScriptWithArguments => self.program(&inner, context),
            Form::Script => {
                let is_split = inner.iter().any(|word| word.may_split || word.glob);
                if inner.is_empty() { Ok(()) } else { self.nested(&joined(&inner), is_split, &[], context) }
            }
            Form::Scripts => {
                // `npm:build` names a script of the project.
                let names_script = |word: &&Expanded| {
                    let runner = word.text.split(':').next().unwrap_or_default();
                    matches!(runner, "npm" | "pnpm" | "yarn" | "bun" | "node" | "deno")
                        && word.text.len() > runner.len()
                };
                for word in inner.iter().filter(|word| !names_script(word)) {
                    self.nested(&as_script(word), word.may_split, &word.from, context)?;
                }
                Ok(())
            }
            Form::FirstScript => match inner.first() {
                Some(word) => self.nested(&as_script(word), word.may_split || word.glob, &word.from, context),
                None => Ok(()),
            },
            Form::Behind(mark) => {
                let text = inner.first().map(as_script).unwrap_or_default();
                let scripts = text.lines().filter_map(|line| line.trim_start_matches([':', ' ']).strip_prefix(mark));
                let scripts: Vec<_> = scripts.map(str::to_owned).collect();
                for script in scripts {
                    self.nested(&script, false, &[], context)?;
                }
                Ok(())
            }
            Form::Foreign => {
                let script = joined(&inner);
                let found = self.commands.len();
                self.script_if_valid(&script)?;
                if self.commands.len() == found && !script.trim().is_empty() {
                    self.push_unknown("$(…)", &[], context)?;
                }
                Ok(())
            }
        }
    }

    /// Follows the command of `parallel`, once for each argument behind `:::`. It quotes the arguments.
    fn parallel(&mut self, inner: &[Expanded], context: &Context) -> Result<(), ParseError> {
        let is_list = |word: &Expanded| word.text.starts_with(":::");
        let end = inner.iter().position(is_list).unwrap_or(inner.len());
        let (command, lists) = inner.split_at(end);
        let written = lists.first().is_some_and(|list| list.text == ":::" || list.text == ":::+");
        let given: Vec<&Expanded> = lists.iter().filter(|word| !is_list(word)).collect();
        let is_one_list = lists.iter().filter(|word| is_list(word)).count() == 1;
        if command.is_empty() {
            // Without a command, `parallel` runs its arguments, or the lines of its input.
            for word in &given {
                self.nested(&as_script(word), word.may_split || word.glob, &word.from, context)?;
            }
            return if lists.is_empty() { self.read_input(context) } else { Ok(()) };
        }
        let from = context.input.fed_by.to_vec();
        let unknown = Expanded { may_split: true, from, ..Expanded::unknown_text("$(…)") };
        let arguments: Vec<Expanded> = if written && is_one_list && given.len() <= MOST_ARGUMENTS {
            given.into_iter().cloned().collect()
        } else {
            vec![unknown]
        };
        for argument in &arguments {
            self.work.spend(64 + argument.text.len())?;
            let has_place = command.iter().any(|word| word.text.contains("{}"));
            let mut words: Vec<_> = command.iter().map(|word| with_argument(word, argument)).collect();
            if !has_place {
                words.push(argument.clone());
            }
            match command {
                [script] if script.text.contains(char::is_whitespace) => {
                    self.work.spend(4 * script.text.len())?;
                    self.script_if_valid(&joined(&words))?;
                }
                _ => self.program(&words, context)?,
            }
        }
        Ok(())
    }

    /// Adds the words that `xargs` reads.
    fn add_input(
        &mut self,
        options: &[Expanded],
        inner: &mut Vec<Expanded>,
        context: &Context,
    ) -> Result<(), ParseError> {
        let placeholder = placeholder(options);
        let is_plain = |input: &&str| !input.contains([UNKNOWN, '\'', '"', '\\']);
        // With options, words may end at other characters, or come from a file.
        let input = context.input.text.as_deref().filter(is_plain);
        let unknown = || {
            let mut more = Expanded { may_split: true, ..Expanded::unknown_text("$(…)") };
            more.from = context.input.fed_by.to_vec();
            more
        };
        if let Some(placeholder) = placeholder.filter(|text| inner.iter().any(|word| word.text.contains(text.as_str())))
        {
            let line = input.map(|input| input.trim_end_matches('\n')).filter(|input| !input.contains('\n'));
            self.work.spend(inner.iter().map(|word| 8 * word.text.len() + line.map_or(0, str::len)).sum())?;
            for word in inner.iter_mut().filter(|word| word.text.contains(placeholder.as_str())) {
                *word = match line {
                    Some(line) if word.known => {
                        Expanded { span: None, ..Expanded::literal(word.text.replace(&placeholder, line)) }
                    }
                    _ => placed(word, &placeholder, &context.input.fed_by),
                };
            }
            return Ok(());
        }
        match input
            .filter(|_| !options.iter().any(|option| option.text.starts_with("-d") || option.text.starts_with("-a")))
        {
            Some(input) => {
                self.work.spend(16 * input.len())?;
                inner.extend(input.split_whitespace().map(Expanded::literal));
            }
            None => inner.push(unknown()),
        }
        Ok(())
    }

    /// Follows the programs of `-exec` and similar options.
    fn executed(&mut self, args: &[Expanded], context: &Context) -> Result<(), ParseError> {
        let starts = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        let mut rest = args;
        while let Some(option) = rest.iter().position(|arg| starts.contains(&arg.text.as_str())) {
            rest = &rest[option + 1..];
            let end = rest.iter().position(|arg| matches!(arg.text.as_str(), ";" | "+")).unwrap_or(rest.len());
            let mut words = rest[..end].to_vec();
            if let Some(program) = words.first_mut().filter(|program| program.text.contains("{}")) {
                *program = Expanded::unknown_text("{}");
            }
            self.program(&words, context)?;
            rest = &rest[end..];
        }
        Ok(())
    }
}

/// Returns a word of `parallel` with the argument in place of `{}`.
fn with_argument(word: &Expanded, argument: &Expanded) -> Expanded {
    if !word.known || !word.text.contains("{}") {
        return word.clone();
    }
    let mut text = Expanded::literal("");
    for (index, part) in word.text.split("{}").enumerate() {
        if index > 0 {
            text.append(argument);
        }
        text.push(part);
    }
    text.glob |= word.glob;
    Expanded { span: None, ..text }
}

/// Returns a word of `xargs -I` whose placeholder is unknown.
fn placed(word: &Expanded, placeholder: &str, from: &[String]) -> Expanded {
    if !word.known || placeholder.is_empty() {
        return Expanded { from: from.to_vec(), ..Expanded::unknown_text(&word.text) };
    }
    let mut placed = Expanded { from: from.to_vec(), glob: word.glob, ..Expanded::literal("") };
    for (index, part) in word.text.split(placeholder).enumerate() {
        if index > 0 {
            placed.push_unknown("$(…)");
        }
        placed.push(part);
    }
    placed
}

/// Returns the text that `xargs` replaces: the value of `-I`, `-i` or `--replace`.
fn placeholder(options: &[Expanded]) -> Option<String> {
    let (index, option) = options.iter().enumerate().find(|(_, option)| {
        let text = option.text.as_str();
        text.starts_with("--replace")
            || text.starts_with('-') && !text.starts_with("--") && text.contains(['I', 'i', 'J'])
    })?;
    let value = match option.text.strip_prefix("--replace") {
        Some(value) => value.trim_start_matches('='),
        None => option.text.split_once(['I', 'i', 'J']).map_or("", |(_, value)| value),
    };
    match value {
        "" if option.text.contains(['I', 'J']) => options.get(index + 1).map(|next| next.text.clone()),
        "" => Some("{}".to_owned()),
        value => Some(value.to_owned()),
    }
}

/// Returns the script of `env -S`: the text, in each form of the option, and the words behind it.
fn split_string(args: &[Expanded]) -> Option<String> {
    let text = |arg: &Expanded| {
        let text = as_script(arg);
        if let Some(text) = text.strip_prefix("--split-string") {
            return text.strip_prefix('=').map(str::to_owned).or_else(|| text.is_empty().then(String::new));
        }
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        let (before, behind) = letters.split_once('S')?;
        before.chars().all(|letter| matches!(letter, 'i' | '0' | 'v')).then(|| behind.to_owned())
    };
    let is_before = |arg: &&Expanded| arg.text.starts_with('-') || arg.text.contains('=');
    let mut before = args.iter().enumerate().take_while(|(_, arg)| is_before(arg));
    let (index, text) = before.find_map(|(index, arg)| Some((index, text(arg)?)))?;
    Some(format!("{text} {}", joined(&args[index + 1..])))
}
