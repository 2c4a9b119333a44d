//! `checkrein serve unit`: prints a definition for the service manager of the user.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use checkrein::hook_files::Locations;
use checkrein_tools::install::Program;

use crate::exit::{self, Exit};

/// Print a unit for systemd, or a property list for launchd
///
/// Without an option, prints the definition for this system. It starts this program with the current directories.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   printed
  1   the path of this program cannot be used
  64  usage error

Example:
  checkrein serve unit > ~/.config/systemd/user/checkrein.service
  systemctl --user enable --now checkrein")]
pub struct Arguments {
    /// Print a property list for launchd
    #[arg(long, conflicts_with = "systemd")]
    launchd: bool,
    /// Print a user unit for systemd
    #[arg(long)]
    systemd: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let place = Locations::default();
    let program = Program::running(&place).context("cannot determine the path of this program")?;
    let Some(path) = program.path().to_str().filter(|path| !path.contains(char::is_control)) else {
        bail!("the path {} is not UTF-8 or has control characters; move the program", program.path().display());
    };
    let variables = variables(&place)?;
    let text = if arguments.launchd || (cfg!(target_os = "macos") && !arguments.systemd) {
        launchd(path, &variables)
    } else {
        systemd(path, &variables)
    };
    anstream::stdout().lock().write_all(text.as_bytes())?;
    Ok(exit::SUCCESS)
}

/// Variables that name directories of the user, if they are set: a service manager does not have them.
fn variables(place: &Locations) -> Result<Vec<(&'static str, String)>> {
    let home = place.home.as_deref();
    let mut variables = Vec::new();
    for (name, dir, usual) in
        [("XDG_CONFIG_HOME", &place.config, ".config"), ("XDG_STATE_HOME", &place.state, ".local/state")]
    {
        let Some(dir) = dir.clone().filter(|dir| Some(dir) != home.map(|home| home.join(usual)).as_ref()) else {
            continue;
        };
        let text = |dir: PathBuf| dir.into_os_string().into_string().ok().filter(|dir| !dir.contains(char::is_control));
        let dir = text(dir).with_context(|| format!("{name} is not UTF-8 or has control characters"))?;
        variables.push((name, dir));
    }
    Ok(variables)
}

/// A user unit. It has no option that hooks would notice: warm interpreters run hooks inside of the unit, and with an option such as
/// `NoNewPrivileges` they would differ from hooks that run outside.
fn systemd(program: &str, variables: &[(&str, String)]) -> String {
    let mut text =
        String::from("[Unit]\nDescription=checkrein: live page, approvals and warm hooks\n\n[Service]\nType=exec\n");
    for (name, value) in variables {
        let _ = writeln!(text, "Environment={}", quoted(&format!("{name}={value}")));
    }
    // An executable with a prefix such as `-` would have another meaning, but the path is absolute.
    let _ = writeln!(text, "ExecStart={} serve", quoted(program).replace('$', "$$"));
    text.push_str(
        "Restart=on-failure\nRestartSec=5\nTimeoutStopSec=15\nKillMode=mixed\nMemoryMax=1G\nTasksMax=512\n\
         OOMScoreAdjust=500\n\n[Install]\nWantedBy=default.target\n",
    );
    text
}

/// A word of a unit file.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"))
}

fn launchd(program: &str, variables: &[(&str, String)]) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<dict>\n",
    );
    text.push_str("  <key>Label</key>\n  <string>checkrein</string>\n  <key>ProgramArguments</key>\n  <array>\n");
    let _ = writeln!(text, "    <string>{}</string>\n    <string>serve</string>\n  </array>", escaped(program));
    if !variables.is_empty() {
        text.push_str("  <key>EnvironmentVariables</key>\n  <dict>\n");
        for (name, value) in variables {
            let _ = writeln!(text, "    <key>{name}</key>\n    <string>{}</string>", escaped(value));
        }
        text.push_str("  </dict>\n");
    }
    text.push_str(
        "  <key>RunAtLoad</key>\n  <true/>\n  <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  \
         </dict>\n  <key>ProcessType</key>\n  <string>Interactive</string>\n</dict>\n</plist>\n",
    );
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_sets_no_limit_that_hooks_would_have() {
        let unit = systemd("/usr/bin/checkrein", &[]);
        assert!(!unit.contains("Limit") && !unit.contains("Nice") && !unit.contains("NoNewPrivileges"), "{unit}");
    }

    #[test]
    fn words_are_quoted() {
        let unit = systemd("/a b/100%/$x/\"q\"\\/checkrein", &[("XDG_STATE_HOME", "/s t/$y".to_owned())]);
        assert!(unit.contains("ExecStart=\"/a b/100%%/$$x/\\\"q\\\"\\\\/checkrein\" serve\n"), "{unit}");
        assert!(unit.contains("Environment=\"XDG_STATE_HOME=/s t/$y\"\n"), "{unit}");
        assert!(launchd("/a&b/<c>", &[]).contains("<string>/a&amp;b/&lt;c&gt;</string>"));
    }
}
