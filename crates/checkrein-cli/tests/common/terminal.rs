//! Runs a program on a pseudo-terminal of a fixed size.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// An action of the user at the terminal.
#[derive(Debug, Clone, Copy)]
pub enum Does<'a> {
    /// Types a text.
    Types(&'a str),
    /// Creates a file, outside of the terminal.
    Makes(&'a Path),
    /// Interrupts the program.
    Interrupts,
}

/// Runs the program with the terminal as all three of its streams. Returns its exit code and output.
pub fn run(command: Command) -> (i32, String) {
    talk(command, 100, &[])
}

/// Runs the program on a terminal with this many columns. Each action follows the first output that contains its text.
pub fn talk(mut command: Command, columns: u16, mut then: &[(&str, Does<'_>)]) -> (i32, String) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    tcsetwinsize(&ours, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    // The command holds the other end of the terminal. Reading ends only if all copies are closed.
    drop(command);
    let mut sent = Vec::new();
    let mut ours = File::from(ours);
    let mut part = [0; 4096];
    // At the end of a terminal, reading fails on Linux and returns nothing on other systems.
    while let Ok(length) = ours.read(&mut part)
        && length > 0
    {
        sent.extend_from_slice(&part[..length]);
        if let [(text, does), rest @ ..] = then
            && String::from_utf8_lossy(&sent).contains(text)
        {
            match does {
                Does::Types(text) => ours.write_all(text.as_bytes()).unwrap(),
                Does::Makes(path) => drop(File::create(path).unwrap()),
                Does::Interrupts => kill_process(Pid::from_child(&child), Signal::INT).unwrap(),
            }
            then = rest;
        }
    }
    assert!(then.is_empty(), "actions whose text was not printed: {then:?}\n{}", String::from_utf8_lossy(&sent));
    let code = child.wait().unwrap().code().unwrap_or(-1);
    (code, String::from_utf8(sent).unwrap())
}
