//! Programs that run the command behind them on their command line, such as `sudo` and `xargs`.

use super::word::Expanded;

/// A program that starts another one.
pub(super) struct Wrapper {
    name: &'static str,
    /// Options whose value is the next word.
    with_value: &'static [&'static str],
    /// Number of words before the command that are not options.
    skipped: usize,
}

const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-T", "-D", "-R", "-r", "-t", "-U", "--user", "--group", "--chdir", "--host",
            "--prompt",
        ],
        0,
    ),
    wrapper("doas", &["-u", "-C"], 0),
    wrapper("pkexec", &["--user"], 0),
    wrapper("env", &["-u", "--unset", "-C", "--chdir"], 0),
    wrapper("nohup", &[], 0),
    wrapper("setsid", &[], 0),
    wrapper("command", &[], 0),
    wrapper("builtin", &[], 0),
    wrapper("exec", &["-a"], 0),
    wrapper("time", &["-f", "-o"], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("ionice", &["-c", "-n", "--class", "--classdata"], 0),
    wrapper("chrt", &[], 1),
    wrapper("taskset", &[], 1),
    wrapper("timeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    wrapper("gtimeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    wrapper("stdbuf", &["-i", "-o", "-e"], 0),
    wrapper("unbuffer", &[], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("strace", &["-o", "-e", "-s", "-p"], 0),
    wrapper("ltrace", &["-o", "-e", "-s", "-p"], 0),
    wrapper("chroot", &[], 1),
    wrapper("fakeroot", &[], 0),
    wrapper("flock", &["-w", "-E", "--timeout"], 1),
    wrapper("watch", &["-n", "--interval"], 0),
    wrapper("systemd-run", &["-p", "-u", "--unit", "--property", "--uid", "--gid"], 0),
    wrapper("unshare", &["-S", "-G", "-R", "-w", "--setuid", "--setgid", "--root", "--wd"], 0),
    wrapper("nsenter", &["-t", "-S", "-G", "--target", "--setuid", "--setgid"], 0),
    wrapper("prlimit", &[], 0),
    wrapper("setarch", &[], 0),
    wrapper("firejail", &[], 0),
    wrapper("fakechroot", &[], 0),
    wrapper("dbus-run-session", &[], 0),
    wrapper("xvfb-run", &["-n", "-s", "-e", "-f", "-p", "-w"], 0),
    wrapper("rlwrap", &[], 0),
    wrapper("busybox", &[], 0),
    wrapper("toybox", &[], 0),
    wrapper(
        "xargs",
        &[
            "-I",
            "-L",
            "-n",
            "-P",
            "-s",
            "-d",
            "-E",
            "-a",
            "--max-args",
            "--max-procs",
            "--delimiter",
            "--arg-file",
            "--replace",
        ],
        0,
    ),
    wrapper("parallel", &["-j", "--jobs", "-I", "-N", "--colsep"], 0),
];

const fn wrapper(name: &'static str, with_value: &'static [&'static str], skipped: usize) -> Wrapper {
    Wrapper { name, with_value, skipped }
}

impl Wrapper {
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        WRAPPERS.iter().find(|wrapper| wrapper.name == name)
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the inner command from the arguments.
    pub(super) fn inner<'a>(&self, args: &'a [Expanded]) -> &'a [Expanded] {
        let mut index = 0;
        while let Some(word) = args.get(index) {
            let text = word.text.as_str();
            if text == "--" {
                index += 1;
                break;
            } else if self.with_value.contains(&text) {
                index += 2;
            } else if text.starts_with('-') && (text.len() > 1 || self.name == "env")
                || self.takes_assignments() && text.contains('=')
            {
                index += 1;
            } else {
                break;
            }
        }
        args.get(index + self.skipped..).unwrap_or_default()
    }

    fn takes_assignments(&self) -> bool {
        matches!(self.name, "env" | "sudo" | "doas")
    }
}

/// `true` if the program only starts other commands, which the interpreter returns as well.
pub(crate) fn starts_others(name: &str) -> bool {
    is_shell(name) || Wrapper::named(name).is_some() || matches!(name, "eval" | "trap" | "su" | "runuser" | "ssh")
}

/// `true` for a shell: it runs the text of `-c`, or its standard input, as a script.
pub(super) fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "mksh" | "ash" | "fish" | "rbash")
}
