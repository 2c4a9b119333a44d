//! Markup of a page: files that the page shows, and commands with their output.
//!
//! - A `console` block holds commands and their output. A command starts with `$ `; lines that follow with `> ` continue it.
//! - A line `…` in an output replaces lines that the page omits. The lines before and after it are compared.
//! - `<!-- file: PATH -->` before a block saves the block as that file. `~/` is the home directory.
//! - `<!-- run: COMMAND -->` runs a command that the page does not show.
//!
//! Blocks run in the order of the page, in one [`World`].

use std::fmt::Write;

use crate::times;
use crate::world::World;

const OMITTED: &str = "…";

/// Returns the page with the real output of its commands, and the number of commands.
///
/// A block that differs only in times keeps its text.
pub fn rewrite(text: &str, world: &mut World) -> (String, usize) {
    let (mut rewritten, mut commands) = (String::new(), 0);
    let mut file = None;
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        rewritten += line;
        if let Some(path) = marker(line, "file") {
            file = Some(path);
        } else if let Some(command) = marker(line, "run") {
            let output = world.run(&format!("{{ {command}; }} || echo failed"));
            assert_eq!(output, "", "{command}");
        }
        let Some(language) = line.strip_prefix("```") else { continue };
        let mut block = String::new();
        let mut end = "";
        for line in lines.by_ref() {
            if line.trim_end() == "```" {
                end = line;
                break;
            }
            block += line;
        }
        assert!(!end.is_empty(), "a block has no end:\n{block}");
        if let Some(path) = file.take() {
            world.write(path, &block);
        } else if language.trim_end() == "console" {
            let real = run(&block, world);
            commands += parse(&block).len();
            if times::removed(&block) != times::removed(&real) {
                block = real;
            }
        }
        rewritten += &block;
        rewritten += end;
    }
    (rewritten, commands)
}

/// Returns the value of a line such as `<!-- file: a.txt -->`.
fn marker<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let content = line.trim().strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    content.strip_prefix(name)?.strip_prefix(": ")
}

/// One command of a block.
struct Command<'a> {
    /// The lines of the command, with their prompts.
    lines: Vec<&'a str>,
    /// The lines that the page shows as its output.
    output: Vec<&'a str>,
}

fn parse(block: &str) -> Vec<Command<'_>> {
    let mut commands: Vec<Command<'_>> = Vec::new();
    for line in block.lines() {
        match commands.last_mut() {
            _ if line.starts_with("$ ") => commands.push(Command { lines: vec![line], output: Vec::new() }),
            Some(command) if command.output.is_empty() && line.starts_with("> ") => command.lines.push(line),
            Some(command) => command.output.push(line),
            None => panic!("a console block starts with `$ `, but has: {line}"),
        }
    }
    commands
}

/// Returns the block with the real output of its commands.
fn run(block: &str, world: &mut World) -> String {
    let mut real = String::new();
    for command in parse(block) {
        let script: Vec<_> = command.lines.iter().map(|line| &line[2..]).collect();
        let output = world.run(&script.join("\n"));
        for line in command.lines.into_iter().chain(shorten(&output, &command.output)) {
            writeln!(real, "{line}").unwrap();
        }
    }
    real
}

/// Leaves out of the real output as much as the page does.
fn shorten<'a>(real: &'a str, shown: &[&str]) -> Vec<&'a str> {
    let lines: Vec<_> = real.lines().collect();
    let Some(head) = shown.iter().position(|line| *line == OMITTED) else { return lines };
    let tail = shown.len() - head - 1;
    if head + tail >= lines.len() {
        return lines;
    }
    let mut shortened = lines[..head].to_vec();
    shortened.push(OMITTED);
    shortened.extend(&lines[lines.len() - tail..]);
    shortened
}

#[test]
fn omitted_lines_stay_omitted() {
    let real = "one\ntwo\nthree\nfour\n";
    assert_eq!(shorten(real, &["1", OMITTED, "4"]), ["one", OMITTED, "four"]);
    assert_eq!(shorten(real, &["1", OMITTED]), ["one", OMITTED]);
    assert_eq!(shorten(real, &["1", "2", OMITTED, "3", "4"]), ["one", "two", "three", "four"]);
    assert_eq!(shorten(real, &["1"]), ["one", "two", "three", "four"]);
}

#[test]
fn a_page_gets_the_output_of_its_commands() {
    let page = "A page.\n\n<!-- file: a.txt -->\n```text\nalpha\n```\n\n\
                ```console\n$ cat a.txt\n$ cat <<END\n> beta\n> END\nwrong\n$ (exit 3)\n$ echo $? 9 ms\n3 7 ms\n```\n\nEnd.\n";
    let (rewritten, commands) = rewrite(page, &mut World::new());
    let expected = page.replace("cat a.txt\n", "cat a.txt\nalpha\n").replace("wrong", "beta");
    assert_eq!((rewritten, commands), (expected.replace("3 7 ms", "3 9 ms"), 4));
}
