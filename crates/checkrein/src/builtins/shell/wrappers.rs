//! Programs that run the command on their command line, such as `sudo` and `xargs`.

use super::expanded::Expanded;

/// A program that starts another one. Options end at the first other word, unless stated otherwise.
pub(super) struct Wrapper {
    name: &'static str,
    /// Words behind which the command line is. `""` is the start.
    behind: &'static [&'static str],
    /// Letters of options with a value.
    values: &'static str,
    /// Letters of options without a value, or whose value is in the same word.
    flags: &'static str,
    /// Long options with a value.
    long_values: &'static [&'static str],
    /// Long options with two values.
    long_pairs: &'static [&'static str],
    /// Options whose value is a script.
    scripts: &'static [&'static str],
    /// Name in a value of `scripts` before the script: `commands=…`.
    within: &'static str,
    /// Options whose value is the working directory.
    directories: &'static [&'static str],
    /// Letters of options with which nothing is run.
    describes: &'static str,
    /// Number of words before the command that are not options.
    skipped: usize,
    pub(super) form: Form,
    /// `true` if options may be behind other words, and these are not run.
    permutes: bool,
    /// `true` if `NAME=value` may be before the command.
    pub(super) assigns: bool,
    /// `true` if the command runs in the same shell.
    pub(super) is_builtin: bool,
    /// `true` if the command does not get the variables of the shell.
    pub(super) is_elsewhere: bool,
}

/// Use that a wrapper makes of the words of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As a program with its arguments.
    Program,
    /// As a script: the words with blanks between them.
    Script,
    /// As a program, with more arguments from the standard input.
    Arguments,
    /// As a script, with more words from the standard input.
    ScriptWithArguments,
    /// As one script for each word.
    Scripts,
    /// The first word is a script.
    FirstScript,
    /// The first word has a script behind this mark: `!` of editors.
    Behind(&'static str),
    /// The first word is a script in another language of shells, which is followed if it can be read.
    Foreign,
}

/// Images of containers whose arguments are those of a program.
const IMAGES: &[(&str, &str)] = &[
    ("amazon/aws-cli", "aws"),
    ("public.ecr.aws/aws-cli/aws-cli", "aws"),
    ("hashicorp/terraform", "terraform"),
    ("ghcr.io/opentofu/opentofu", "tofu"),
    ("bitnami/kubectl", "kubectl"),
    ("rancher/kubectl", "kubectl"),
    ("alpine/helm", "helm"),
    ("alpine/git", "git"),
    ("bitnami/git", "git"),
    ("rclone/rclone", "rclone"),
    ("minio/mc", "mc"),
    ("curlimages/curl", "curl"),
];

/// Modules of Python that are a program of another name.
const MODULES: &[(&str, &str)] = &[("awscli", "aws")];

/// Returns the program that a module of Python is.
pub(super) fn module_program(module: &str) -> Option<&'static str> {
    MODULES.iter().find(|(name, _)| *name == module).map(|(_, program)| *program)
}

/// Returns the program to which a container with this image gives its arguments.
pub(super) fn image_program(image: &str) -> Option<&'static str> {
    let end = image.rfind('/').map_or(0, |slash| slash + 1);
    let end = end + image[end..].find([':', '@']).unwrap_or(image.len() - end);
    let image = image[..end].trim_start_matches("docker.io/");
    IMAGES.iter().find(|(name, _)| *name == image).map(|(_, program)| *program)
}

/// Programs that run a program of a package: `npx name@version`.
const RUNS_PACKAGES: &[&str] = &["npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx", "uvx", "uv", "pipx"];

/// Returns the name of a program without the version of its package, behind a program that runs packages.
pub(super) fn package_name<'n>(name: &'n str, wrapper: Option<&str>) -> &'n str {
    match wrapper.filter(|wrapper| RUNS_PACKAGES.contains(wrapper)) {
        Some(_) => name.split('@').next().filter(|own| !own.is_empty()).unwrap_or(name),
        None => name,
    }
}

const PLAIN: Wrapper = Wrapper {
    name: "",
    behind: &[""],
    values: "",
    flags: "",
    long_values: &[],
    long_pairs: &[],
    scripts: &[],
    within: "",
    directories: &[],
    describes: "",
    skipped: 0,
    form: Form::Program,
    permutes: false,
    assigns: false,
    is_builtin: false,
    is_elsewhere: false,
};

const fn plain(name: &'static str) -> Wrapper {
    Wrapper { name, ..PLAIN }
}

const fn with(name: &'static str, values: &'static str, flags: &'static str) -> Wrapper {
    Wrapper { name, values, flags, ..PLAIN }
}

const fn after(name: &'static str, behind: &'static [&'static str]) -> Wrapper {
    Wrapper { name, behind, ..PLAIN }
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        long_values: &[
            "user",
            "group",
            "chdir",
            "host",
            "prompt",
            "close-from",
            "role",
            "type",
            "command-timeout",
            "chroot",
            "other-user",
        ],
        directories: &["D", "chdir"],
        assigns: true,
        is_elsewhere: true,
        ..with("sudo", "ugpCTDRrtUh", "ABbEeHiKklnNPSsVv")
    },
    Wrapper { assigns: true, is_elsewhere: true, ..with("doas", "uC", "Lnsa") },
    Wrapper { long_values: &["user"], is_elsewhere: true, ..plain("pkexec") },
    Wrapper {
        long_values: &["unset", "chdir", "split-string"],
        directories: &["C", "chdir"],
        assigns: true,
        ..with("env", "uCSa", "i0v")
    },
    plain("nohup"),
    with("setsid", "", "cfw"),
    Wrapper { describes: "vV", is_builtin: true, ..with("command", "", "p") },
    Wrapper { is_builtin: true, ..plain("builtin") },
    Wrapper { is_builtin: true, ..plain("noglob") },
    Wrapper { is_builtin: true, ..plain("nocorrect") },
    Wrapper { is_builtin: true, ..with("exec", "a", "cl") },
    Wrapper { long_values: &["format", "output"], is_builtin: true, ..with("time", "fo", "apvq") },
    Wrapper { long_values: &["adjustment"], ..with("nice", "n", "") },
    Wrapper { long_values: &["class", "classdata", "pid", "pgid", "uid"], ..with("ionice", "cnpPu", "t") },
    Wrapper {
        long_values: &["sched-runtime", "sched-period", "sched-deadline"],
        skipped: 1,
        ..with("chrt", "TPD", "abdfimorRv")
    },
    Wrapper { skipped: 1, ..with("taskset", "", "ac") },
    Wrapper {
        long_values: &[
            "interleave",
            "preferred",
            "physcpubind",
            "cpunodebind",
            "membind",
            "weighted-interleave",
            "preferred-many",
        ],
        ..with("numactl", "ipCNmwP", "la")
    },
    Wrapper { long_values: &["kill-after", "signal"], skipped: 1, ..with("timeout", "ks", "vfp") },
    Wrapper { long_values: &["kill-after", "signal"], skipped: 1, ..with("gtimeout", "ks", "vfp") },
    Wrapper { long_values: &["input", "output", "error"], ..with("stdbuf", "ioe", "") },
    with("unbuffer", "", "p"),
    with("caffeinate", "tw", "disum"),
    Wrapper { long_values: &["output", "trace"], ..with("strace", "abeEIoOpPsSuUX", "cCdfFhiknqrtTvVwxyzZDY") },
    with("ltrace", "aADeElnopsuwxF", "bcCfhiLrStTV"),
    Wrapper { skipped: 1, is_elsewhere: true, ..plain("chroot") },
    with("fakeroot", "lsibu", "hv"),
    plain("fakechroot"),
    Wrapper {
        long_values: &["timeout", "wait", "conflict-exit-code"],
        scripts: &["c", "command"],
        skipped: 1,
        ..with("flock", "wE", "senouFx")
    },
    Wrapper {
        long_values: &["interval", "equexit", "shotsdir"],
        form: Form::Script,
        ..with("watch", "nqs", "bcCdegprtwx")
    },
    Wrapper {
        long_values: &[
            "unit",
            "property",
            "uid",
            "gid",
            "slice",
            "setenv",
            "description",
            "machine",
            "host",
            "nice",
            "working-directory",
            "on-active",
            "on-calendar",
            "timer-property",
            "service-type",
            "expand-environment",
        ],
        directories: &["working-directory"],
        ..with("systemd-run", "puEMH", "tPSrqGd")
    },
    Wrapper { long_values: &["what", "who", "why", "mode"], ..plain("systemd-inhibit") },
    Wrapper {
        long_values: &[
            "setuid",
            "setgid",
            "root",
            "wd",
            "map-user",
            "map-group",
            "map-users",
            "map-groups",
            "propagation",
            "setgroups",
            "load-interp",
        ],
        directories: &["w", "wd"],
        ..with("unshare", "SGRwl", "imnupUCTfrcS")
    },
    Wrapper { long_values: &["target", "setuid", "setgid"], ..with("nsenter", "tSGN", "amuinpUCTrwFZe") },
    Wrapper { long_values: &["pid"], ..with("prlimit", "po", "cdefilmnqrstuvxy") },
    Wrapper { skipped: 1, ..with("setarch", "", "RvBILSTXZF3") },
    with("setarch", "", "RvBILSTXZF3"),
    with("linux64", "", "RvBILSTXZF3"),
    with("linux32", "", "RvBILSTXZF3"),
    plain("firejail"),
    Wrapper { long_values: &["config-file", "dbus-daemon"], ..plain("dbus-run-session") },
    Wrapper {
        long_values: &["server-num", "server-args", "error-file", "auth-file", "xauth-protocol", "wait"],
        ..with("xvfb-run", "nsefpw", "alh")
    },
    with("rlwrap", "aCDfHKlmNOpPqsSwWzbIt", "AcEhiMnoRruvX"),
    plain("busybox"),
    plain("k3s"),
    after("python", &["-m"]),
    after("python3", &["-m"]),
    after("py", &["-m"]),
    plain("microk8s"),
    with("screen", "ceEhpSsTt", "aAdDfilLmnOqrRUvwxX"),
    Wrapper { form: Form::Scripts, values: "tNc", flags: "FHKlMRX", ..after("tmux", &["send-keys", "send"]) },
    Wrapper { scripts: &["command"], permutes: true, is_elsewhere: true, ..after("gcloud", &["compute ssh"]) },
    Wrapper { form: Form::Script, is_elsewhere: true, ..after("gcloud", &["--"]) },
    Wrapper {
        scripts: &["parameters"],
        within: "commands",
        permutes: true,
        is_elsewhere: true,
        ..after("aws", &["ssm send-command", "ssm start-session"])
    },
    Wrapper { scripts: &["command"], permutes: true, is_elsewhere: true, ..after("aws", &["ecs execute-command"]) },
    Wrapper {
        scripts: &["scripts"],
        permutes: true,
        is_elsewhere: true,
        ..after("az", &["vm run-command", "vmss run-command"])
    },
    Wrapper {
        scripts: &["c", "command"],
        permutes: true,
        is_elsewhere: true,
        ..after("az", &["aks command", "container exec"])
    },
    Wrapper {
        values: "ars",
        long_values: &["app", "remote", "size", "type", "env"],
        form: Form::Script,
        is_elsewhere: true,
        ..after("heroku", &["run", "run:detached", "ps:exec"])
    },
    Wrapper { scripts: &["C", "command"], permutes: true, is_elsewhere: true, ..after("fly", &["ssh console"]) },
    Wrapper { scripts: &["C", "command"], permutes: true, is_elsewhere: true, ..after("flyctl", &["ssh console"]) },
    Wrapper {
        values: "vphrcd",
        long_values: &["version", "hosts", "roles", "config-file", "destination", "env"],
        flags: "iqP",
        form: Form::Script,
        is_elsewhere: true,
        ..after("kamal", &["app exec", "server exec"])
    },
    Wrapper {
        values: "cRr",
        long_values: &["codespace", "repo", "repo-owner", "profile", "server-port"],
        flags: "d",
        form: Form::Script,
        is_elsewhere: true,
        ..after("gh", &["codespace ssh", "cs ssh"])
    },
    Wrapper { is_elsewhere: true, ..after("multipass", &["--"]) },
    Wrapper { is_elsewhere: true, ..after("mosh", &["--"]) },
    Wrapper { form: Form::FirstScript, is_elsewhere: true, ..after("ansible", &["-a", "--args"]) },
    Wrapper { form: Form::Script, is_elsewhere: true, ..after("salt", &["cmd.run", "cmd.shell", "cmd.run_all"]) },
    Wrapper { form: Form::Script, is_elsewhere: true, ..after("salt-ssh", &["cmd.run", "cmd.shell", "-r"]) },
    Wrapper {
        long_values: &["distribution", "user", "cd", "shell-type"],
        form: Form::Script,
        is_elsewhere: true,
        ..with("wsl", "du", "e")
    },
    Wrapper { form: Form::Behind("!"), ..after("vim", &["-c", "--cmd"]) },
    Wrapper { form: Form::Behind("!"), ..after("nvim", &["-c", "--cmd"]) },
    Wrapper { form: Form::Behind("!"), ..after("vi", &["-c"]) },
    Wrapper { form: Form::Behind("!"), ..after("ex", &["-c"]) },
    Wrapper { form: Form::Behind("\\!"), ..after("psql", &["-c", "--command"]) },
    Wrapper { form: Form::Behind("\\!"), ..after("mysql", &["-e", "--execute"]) },
    Wrapper { form: Form::Behind(".shell"), ..after("sqlite3", &["-cmd"]) },
    Wrapper { form: Form::Foreign, ..after("powershell", &["-Command", "-command", "-c"]) },
    Wrapper { form: Form::Foreign, ..after("pwsh", &["-Command", "-command", "-c"]) },
    Wrapper { form: Form::Foreign, ..after("cmd", &["/c", "/C", "/k", "/K"]) },
    Wrapper {
        long_values: &[
            "watch",
            "exts",
            "filter",
            "ignore",
            "signal",
            "stop-signal",
            "stop-timeout",
            "debounce",
            "shell",
            "on-busy-update",
            "workdir",
            "env",
            "delay-run",
        ],
        form: Form::Script,
        ..with("watchexec", "wWeEfijdsoI", "rcpnvqNx")
    },
    Wrapper { scripts: &["x", "exec"], permutes: true, ..plain("nodemon") },
    Wrapper {
        long_values: &[
            "names",
            "prefix",
            "prefix-colors",
            "success",
            "restart-tries",
            "restart-after",
            "max-processes",
        ],
        form: Form::Scripts,
        ..with("concurrently", "npcslmti", "kgrh")
    },
    Wrapper {
        long_values: &[
            "chdir",
            "unsetenv",
            "tmpfs",
            "dev",
            "proc",
            "uid",
            "gid",
            "hostname",
            "dir",
            "lock-file",
            "remount-ro",
            "mqueue",
            "seccomp",
            "sync-fd",
            "cap-add",
            "cap-drop",
            "perms",
        ],
        long_pairs: &[
            "bind",
            "bind-try",
            "ro-bind",
            "ro-bind-try",
            "dev-bind",
            "dev-bind-try",
            "symlink",
            "setenv",
            "file",
            "bind-data",
            "ro-bind-data",
        ],
        ..plain("bwrap")
    },
    Wrapper { long_values: &["from", "with", "python", "index-url"], ..with("uvx", "p", "q") },
    Wrapper { long_values: &["spec", "python", "index-url", "pip-args"], ..after("pipx", &["run"]) },
    Wrapper { scripts: &["c"], values: "p", long_values: &["package"], flags: "y", ..plain("pnpx") },
    Wrapper { values: "p", long_values: &["package"], ..plain("bunx") },
    Wrapper { long_values: &["package", "allow-build"], flags: "cs", ..after("pnpm", &["dlx", "exec"]) },
    Wrapper { values: "p", long_values: &["package"], flags: "q", ..after("yarn", &["dlx", "exec"]) },
    after("bun", &["x"]),
    plain("toybox"),
    plain("catchsegv"),
    plain("eatmydata"),
    plain("torsocks"),
    plain("torify"),
    plain("proxychains"),
    with("proxychains4", "f", "q"),
    plain("chronic"),
    Wrapper { skipped: 1, ..plain("gosu") },
    Wrapper { skipped: 1, ..plain("su-exec") },
    Wrapper { skipped: 1, ..plain("faketime") },
    plain("dumb-init"),
    with("tini", "pe", "gsvw"),
    with("cpulimit", "elpP", "zivbmfkr"),
    with("valgrind", "", "qvhd"),
    with("entr", "", "acdnprsz"),
    plain("ccache"),
    plain("ld-linux-x86-64.so.2"),
    plain("ld-linux-aarch64.so.1"),
    plain("ld-musl-x86_64.so.1"),
    with("proot", "rbqwk", "0iS"),
    Wrapper {
        values: "cenFstxylp",
        flags: "AdDEPXabkSfhIvZBC",
        form: Form::Script,
        ..after(
            "tmux",
            &[
                "new",
                "new-session",
                "neww",
                "new-window",
                "splitw",
                "split-window",
                "run",
                "run-shell",
                "popup",
                "display-popup",
                "respawn-pane",
            ],
        )
    },
    Wrapper {
        long_values: &["runs", "warmup", "prepare"],
        form: Form::Scripts,
        ..with("hyperfine", "rwmMpcnSu", "iN")
    },
    after("gdb", &["--args"]),
    after("rust-gdb", &["--args"]),
    after("lldb", &["--"]),
    after("perf", &["stat", "record", "trace"]),
    after("uv", &["run"]),
    after("poetry", &["run"]),
    after("pipenv", &["run"]),
    after("hatch", &["run"]),
    after("pdm", &["run"]),
    after("bundle", &["exec"]),
    after("mise", &["--"]),
    after("aws-vault", &["--"]),
    after("saml2aws", &["--"]),
    after("chamber", &["--"]),
    after("doppler", &["--"]),
    after("infisical", &["--"]),
    after("op", &["--"]),
    after("dotenv", &["--"]),
    after("dotenvx", &["--"]),
    after("teller", &["--"]),
    after("terramate", &["--"]),
    after("devbox", &["--"]),
    Wrapper { skipped: 1, ..plain("envchain") },
    after("pixi", &["run"]),
    after("rye", &["run"]),
    Wrapper { skipped: 1, ..after("direnv", &["exec"]) },
    after("nix", &["-c", "--command"]),
    after("kubectl", &["--"]),
    after("oc", &["--"]),
    after("lxc", &["--"]),
    after("xterm", &["-e"]),
    after("konsole", &["-e"]),
    after("alacritty", &["-e"]),
    Wrapper { skipped: 1, ..after("ip", &["netns exec"]) },
    after("git", &["bisect run"]),
    Wrapper { form: Form::Script, ..after("git", &["submodule foreach"]) },
    Wrapper {
        values: CONTAINER,
        flags: "itdPq",
        long_values: CONTAINER_LONG,
        skipped: 1,
        is_elsewhere: true,
        ..after("docker", CONTAINER_RUN)
    },
    Wrapper {
        values: CONTAINER,
        flags: "itdPq",
        long_values: CONTAINER_LONG,
        skipped: 1,
        is_elsewhere: true,
        ..after("podman", CONTAINER_RUN)
    },
    Wrapper {
        values: CONTAINER,
        flags: "itdPqT",
        long_values: CONTAINER_LONG,
        skipped: 1,
        is_elsewhere: true,
        ..after("docker-compose", &["exec", "run"])
    },
    Wrapper {
        scripts: &["c", "call"],
        values: "p",
        long_values: &["package", "workspace"],
        flags: "yq",
        ..plain("npx")
    },
    Wrapper {
        scripts: &["c", "call"],
        values: "p",
        long_values: &["package", "workspace"],
        flags: "yq",
        ..after("npm", &["exec", "x"])
    },
    Wrapper { scripts: &["run", "command"], permutes: true, ..plain("nix-shell") },
    Wrapper {
        scripts: &["c", "command"],
        long_values: &["shell", "group", "supp-group", "whitelist-environment"],
        permutes: true,
        is_elsewhere: true,
        ..with("su", "gGsw", "lmpfPT")
    },
    Wrapper {
        scripts: &["c", "command"],
        long_values: &["shell", "group", "supp-group", "user"],
        permutes: true,
        is_elsewhere: true,
        ..with("runuser", "gGsw", "lmpfPT")
    },
    Wrapper {
        values: "u",
        flags: "lmpfPT",
        long_values: &["user"],
        is_elsewhere: true,
        ..after("runuser", &["-u", "--user"])
    },
    Wrapper { scripts: &["c", "command"], permutes: true, ..with("script", "IOBTEmo", "aefqt") },
    Wrapper { scripts: &["c"], permutes: true, ..plain("sg") },
    Wrapper { permutes: true, ..plain("newgrp") },
    Wrapper { permutes: true, ..plain("at") },
    Wrapper { permutes: true, ..plain("batch") },
    Wrapper { scripts: &["c", "command"], permutes: true, ..plain("vagrant") },
    Wrapper {
        skipped: 1,
        form: Form::Script,
        is_elsewhere: true,
        ..with("ssh", "BbcDEeFIiJLlmOoPpQRSWw", "46AaCfGgKkMNnqsTtVvXxYy")
    },
    Wrapper {
        long_values: &["max-args", "max-procs", "delimiter", "arg-file", "max-lines", "max-chars", "process-slot-var"],
        form: Form::Arguments,
        ..with("xargs", "ILnPsdEaJRS", "0oprtxeil")
    },
    Wrapper {
        long_values: &["jobs", "colsep", "max-args", "delimiter", "arg-file", "sshlogin", "joblog", "results"],
        form: Form::ScriptWithArguments,
        ..with("parallel", "jINnLPadSC", "0kqtvuXmr")
    },
];

/// Programs that start a shell if they get no command.
const STARTS_SHELL: &[&str] = &[
    "at",
    "batch",
    "chroot",
    "fakeroot",
    "newgrp",
    "nix-shell",
    "nsenter",
    "parallel",
    "proot",
    "runuser",
    "script",
    "sg",
    "ssh",
    "su",
    "unshare",
];

/// Programs that start a shell if they get no command, with the options `-s` and `-i`.
const STARTS_SHELL_IF_ASKED: &[&str] = &["doas", "sudo"];

const CONTAINER: &str = "veuwplhamceGfn";

const CONTAINER_RUN: &[&str] = &["exec", "run"];

const CONTAINER_LONG: &[&str] = &[
    "volume",
    "env",
    "user",
    "workdir",
    "publish",
    "name",
    "network",
    "net",
    "entrypoint",
    "mount",
    "label",
    "hostname",
    "memory",
    "cpus",
    "platform",
    "env-file",
    "restart",
    "add-host",
    "device",
    "cap-add",
    "cap-drop",
    "security-opt",
    "pid",
    "ipc",
    "userns",
    "pull",
    "detach-keys",
    "tmpfs",
    "shm-size",
    "ulimit",
    "gpus",
    "dns",
    "cidfile",
    "log-driver",
    "log-opt",
    "volumes-from",
    "group-add",
    "init-path",
    "runtime",
    "stop-signal",
    "ip",
    "expose",
    "link",
];

/// The parts of a wrapper's command line.
#[derive(Debug, Default)]
pub(super) struct CommandLine<'a> {
    /// Index of the first word of the command.
    pub(super) start: usize,
    /// Scripts in the values of options.
    pub(super) scripts: Vec<Expanded>,
    /// Value of an option for the working directory.
    pub(super) directory: Option<Expanded>,
    /// `NAME=value` before the command.
    pub(super) assignments: Vec<&'a Expanded>,
    /// `true` if an option is not known, so that its value may be the next word.
    pub(super) is_doubtful: bool,
    /// `true` if nothing is run.
    pub(super) describes: bool,
}

impl Wrapper {
    pub(super) fn named(name: &str) -> impl Iterator<Item = &'static Self> {
        WRAPPERS.iter().filter(move |wrapper| wrapper.name == name)
    }

    /// Returns the words with the options and the command. `None` if the program is used in another way.
    pub(super) fn words<'a>(&self, args: &'a [Expanded]) -> Option<&'a [Expanded]> {
        if self.behind == [""] {
            return Some(args);
        }
        let is_here = |at: usize, words: &str| {
            words.split(' ').enumerate().all(|(n, word)| args.get(at + n).is_some_and(|arg| arg.text == word))
        };
        let found =
            |at: usize| self.behind.iter().find(|words| is_here(at, words)).map(|words| words.split(' ').count());
        let (at, count) = (0..args.len()).find_map(|at| Some((at, found(at)?)))?;
        // The value of an option such as `-u` is part of the options.
        let name = args[at].text.trim_start_matches('-');
        let is_option = !name.is_empty() && name.len() < args[at].text.len();
        let starts_with_option = is_option && (self.values.contains(name) || self.long_values.contains(&name));
        args.get(if starts_with_option { at } else { at + count }..)
    }

    /// Splits the words into options and the command.
    pub(super) fn command_line<'a>(&self, args: &'a [Expanded]) -> CommandLine<'a> {
        let mut line = CommandLine::default();
        self.options(args, &mut line);
        for _ in 0..self.skipped {
            line.start += 1;
            // `ssh`, `flock` and `setarch` take options behind the first word too.
            if !self.scripts.is_empty() || self.form == Form::Script || self.name == "setarch" {
                self.options(args, &mut line);
            }
        }
        line.start = line.start.min(args.len());
        line
    }

    fn options<'a>(&self, args: &'a [Expanded], line: &mut CommandLine<'a>) {
        while let Some(word) = args.get(line.start) {
            let known = word.unknown.first().map_or(word.text.len(), |range| range.start);
            let text = word.text.get(..known).unwrap_or_default();
            if text == "--" && word.known {
                line.start += 1;
                if !self.permutes {
                    return;
                }
            } else if let Some(option) = text.strip_prefix("--") {
                let (name, value) = match option.split_once('=') {
                    Some((name, value)) => {
                        (name, Some(word.part(word.text.len().min(2 + option.len() - value.len())..word.text.len())))
                    }
                    None => (option, None),
                };
                self.option(name, value, args, line);
            } else if text.len() > 1 && text.starts_with('-') {
                self.letters(word, text, args, line);
            } else if text == "-" && word.known && !self.permutes || self.assigns && text.contains('=') {
                if text != "-" {
                    line.assignments.push(word);
                }
                line.start += 1;
            } else if self.permutes {
                line.start += 1;
            } else {
                return;
            }
        }
    }

    /// Reads a long option. An abbreviation counts as each option that it may stand for.
    fn option(&self, name: &str, value: Option<Expanded>, args: &[Expanded], line: &mut CommandLine<'_>) {
        line.start += 1;
        let is_one_of =
            |names: &[&str]| names.iter().any(|long| long.len() > 1 && !name.is_empty() && long.starts_with(name));
        let is_script = is_one_of(self.scripts);
        if self.long_pairs.contains(&name) {
            line.start += 2;
            return;
        }
        let has_value = is_script || is_one_of(self.long_values) || is_one_of(self.directories);
        let value = match value {
            None if has_value => {
                line.start += 1;
                args.get(line.start - 1).cloned()
            }
            None => {
                line.is_doubtful |= !self.long_values.is_empty() || name.is_empty();
                None
            }
            value => value,
        };
        self.take(is_script, is_one_of(self.directories), value, line);
    }

    fn letters(&self, word: &Expanded, text: &str, args: &[Expanded], line: &mut CommandLine<'_>) {
        line.start += 1;
        for (at, letter) in text.char_indices().skip(1) {
            let is_letter = |names: &[&str]| names.iter().any(|name| name.len() == 1 && name.starts_with(letter));
            let is_script = is_letter(self.scripts);
            line.describes |= self.describes.contains(letter);
            if is_script || self.values.contains(letter) {
                let rest = at + letter.len_utf8();
                let value = if rest < word.text.len() {
                    Some(word.part(rest..word.text.len()))
                } else {
                    line.start += 1;
                    args.get(line.start - 1).cloned()
                };
                return self.take(is_script, is_letter(self.directories), value, line);
            }
            let is_known = self.flags.contains(letter) || self.describes.contains(letter) || letter.is_ascii_digit();
            line.is_doubtful |= !is_known;
        }
    }

    fn take(&self, is_script: bool, is_directory: bool, value: Option<Expanded>, line: &mut CommandLine<'_>) {
        if is_script {
            line.scripts.extend(value.and_then(|value| self.script(value)));
        } else if is_directory {
            line.directory = value;
        }
    }

    /// Returns the script in the value of an option.
    fn script(&self, value: Expanded) -> Option<Expanded> {
        if self.within.is_empty() {
            return Some(value);
        }
        // `commands=x`, `commands=["x","y"]`, `{"commands":["x"]}`
        let is_frame = |c: char| "=:[]{}\"' ".contains(c);
        let behind = value.text.find(self.within)? + self.within.len();
        let start = value.text.len() - value.text[behind..].trim_start_matches(is_frame).len();
        let end = value.text.trim_end_matches(|c| "[]{}\"' ".contains(c)).len().max(start);
        let script = value.part(start..end);
        if script.known { Some(Expanded { text: script.text.replace("\",\"", "; "), ..script }) } else { Some(script) }
    }

    /// `true` if the program starts a shell that reads the standard input, because it gets no command.
    pub(super) fn is_shell(&self, options: &[Expanded]) -> bool {
        STARTS_SHELL.contains(&self.name)
            || STARTS_SHELL_IF_ASKED.contains(&self.name)
                && options.iter().any(|option| {
                    let is_letters = option.text.starts_with('-') && !option.text.starts_with("--");
                    is_letters && option.text.contains(['s', 'i'])
                        || matches!(option.text.as_str(), "--shell" | "--login")
                })
    }

    /// `true` if words that are not options are no command.
    pub(super) fn runs_only_scripts(&self) -> bool {
        self.permutes
    }
}

/// `true` if the program only starts other commands, which the interpreter returns as well.
pub(crate) fn starts_others(name: &str) -> bool {
    is_shell(name) || Wrapper::named(name).any(|wrapper| wrapper.behind == [""]) || matches!(name, "eval" | "trap")
}

/// `true` for a shell: it runs the text of `-c`, or its standard input, as a script.
pub(super) fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "mksh" | "ash" | "fish" | "rbash" | "yash")
}
