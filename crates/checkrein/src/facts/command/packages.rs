//! Package managers.

use checkrein_expression::Value;

use super::Command;
use crate::builtins::shell::Expanded;

/// A package manager.
struct Manager {
    programs: &'static [&'static str],
    name: &'static str,
    installs: &'static [&'static str],
    removes: &'static [&'static str],
    /// Reach of the packages without options.
    reach: Reach,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The project, unless an option says otherwise.
    Project,
    /// The user or the system.
    Machine,
}

const fn project(
    programs: &'static [&'static str],
    name: &'static str,
    installs: &'static [&'static str],
    removes: &'static [&'static str],
) -> Manager {
    Manager { programs, name, installs, removes, reach: Reach::Project }
}

const fn machine(
    programs: &'static [&'static str],
    name: &'static str,
    installs: &'static [&'static str],
    removes: &'static [&'static str],
) -> Manager {
    Manager { programs, name, installs, removes, reach: Reach::Machine }
}

const MANAGERS: &[Manager] = &[
    project(
        &["npm", "cnpm"],
        "npm",
        &["install", "i", "in", "ins", "add", "ci", "install-test", "it", "clean-install", "update", "up", "upgrade"],
        &["uninstall", "un", "unlink", "remove", "rm", "r"],
    ),
    project(
        &["pnpm"],
        "pnpm",
        &["install", "i", "add", "update", "up", "upgrade"],
        &["remove", "rm", "uninstall", "un"],
    ),
    project(
        &["yarn", "yarnpkg"],
        "yarn",
        &["install", "add", "global add", "up", "upgrade"],
        &["remove", "global remove"],
    ),
    project(&["bun"], "bun", &["install", "i", "add", "a", "update"], &["remove", "rm"]),
    project(&["deno"], "deno", &["install", "add"], &["remove", "uninstall"]),
    project(&["pip", "pip3"], "pip", &["install"], &["uninstall"]),
    machine(&["pipx"], "pipx", &["install", "inject", "upgrade"], &["uninstall", "uninject"]),
    project(
        &["uv"],
        "uv",
        &["add", "sync", "pip install", "pip sync", "tool install", "tool upgrade"],
        &["remove", "pip uninstall", "tool uninstall"],
    ),
    project(&["poetry"], "poetry", &["add", "install", "update", "self add"], &["remove", "self remove"]),
    project(&["pdm"], "pdm", &["add", "install", "update"], &["remove"]),
    project(&["pipenv"], "pipenv", &["install", "update", "sync"], &["uninstall"]),
    project(
        &["conda", "mamba", "micromamba"],
        "conda",
        &["install", "create", "update", "env create"],
        &["remove", "uninstall"],
    ),
    project(&["cargo"], "cargo", &["add", "install", "binstall", "update"], &["remove", "rm", "uninstall"]),
    project(&["go"], "go", &["get", "install"], &[]),
    machine(&["gem"], "gem", &["install", "update"], &["uninstall"]),
    project(&["bundle"], "bundle", &["add", "install", "update"], &["remove"]),
    project(
        &["composer"],
        "composer",
        &["require", "install", "update", "global require"],
        &["remove", "global remove"],
    ),
    project(&["dotnet"], "dotnet", &["add package", "tool install", "restore"], &["remove package", "tool uninstall"]),
    machine(
        &["apt", "apt-get", "aptitude"],
        "apt",
        &["install", "reinstall", "upgrade", "full-upgrade", "dist-upgrade", "build-dep"],
        &["remove", "purge", "autoremove"],
    ),
    machine(
        &["dnf", "microdnf"],
        "dnf",
        &["install", "reinstall", "upgrade", "update", "localinstall", "groupinstall"],
        &["remove", "erase", "autoremove"],
    ),
    machine(
        &["yum"],
        "yum",
        &["install", "reinstall", "upgrade", "update", "localinstall", "groupinstall"],
        &["remove", "erase", "autoremove"],
    ),
    machine(&["zypper"], "zypper", &["install", "in", "update", "up", "dist-upgrade", "dup"], &["remove", "rm"]),
    machine(&["apk"], "apk", &["add", "upgrade"], &["del"]),
    machine(&["pacman", "yay", "paru"], "pacman", &[], &[]),
    machine(&["brew"], "brew", &["install", "reinstall", "upgrade"], &["uninstall", "remove", "rm"]),
    machine(&["port"], "port", &["install", "upgrade"], &["uninstall"]),
    machine(&["snap"], "snap", &["install", "refresh"], &["remove"]),
    machine(&["flatpak"], "flatpak", &["install", "update"], &["uninstall", "remove"]),
    machine(&["choco"], "choco", &["install", "upgrade"], &["uninstall"]),
    machine(&["winget"], "winget", &["install", "upgrade"], &["uninstall"]),
    machine(&["scoop"], "scoop", &["install", "update"], &["uninstall"]),
    machine(&["dpkg"], "dpkg", &[], &[]),
    machine(&["rpm"], "rpm", &[], &[]),
    machine(&["opam"], "opam", &["install", "upgrade"], &["remove", "uninstall"]),
    machine(&["luarocks"], "luarocks", &["install"], &["remove"]),
    machine(&["cpanm"], "cpanm", &[], &[]),
];

/// Options that install or remove, of managers without subcommands.
const BY_OPTION: &[(&str, &[&str], &[&str])] = &[
    ("pacman", &["--sync", "--upgrade"], &["--remove"]),
    ("dpkg", &["--install", "--unpack"], &["--remove", "--purge"]),
    ("rpm", &["--install", "--upgrade", "--freshen"], &["--erase"]),
];

/// Commands whose packages are for the user or the system, of managers for projects.
const MACHINE_COMMANDS: &[(&str, &[&str])] = &[
    ("cargo", &["install", "binstall", "uninstall"]),
    ("go", &["install"]),
    ("uv", &["tool install", "tool uninstall", "tool upgrade"]),
    ("yarn", &["global add", "global remove"]),
    ("composer", &["global require", "global remove"]),
    ("deno", &["install"]),
];

/// Options with which packages are for the user or the system.
const MACHINE_OPTIONS: &[&str] = &["--global", "-g", "--user", "--system", "--break-system-packages"];

/// Managers of Python packages, which install for the system under `sudo`.
const WITH_SUDO: &[&str] = &["pip", "npm"];

fn find(program: &str) -> Option<&'static Manager> {
    MANAGERS.iter().find(|manager| manager.programs.contains(&program))
}

/// Returns the name of the package manager, or an empty text.
pub(super) fn manager(program: &str) -> &'static str {
    find(program).map_or("", |manager| manager.name)
}

/// Managers that use the same packages, with their lock files.
const LOCK_FILES: &[&[(&str, &[&str])]] = &[
    &[
        ("npm", &["package-lock.json", "npm-shrinkwrap.json"]),
        ("pnpm", &["pnpm-lock.yaml"]),
        ("yarn", &["yarn.lock"]),
        ("bun", &["bun.lock", "bun.lockb"]),
    ],
    &[
        ("uv", &["uv.lock"]),
        ("poetry", &["poetry.lock"]),
        ("pdm", &["pdm.lock"]),
        ("pipenv", &["Pipfile.lock"]),
        // Without a lock file of its own.
        ("pip", &[]),
    ],
];

/// Returns the manager whose lock file is in the working directory or the project; empty if there is none or several.
pub(super) fn expected(command: &Command) -> &'static str {
    let own = manager(command.effective().0);
    let Some(group) = LOCK_FILES.iter().find(|group| group.iter().any(|(name, _)| *name == own)) else { return "" };
    let context = &command.shared.context;
    let project = context.project_root();
    let is_file = |path: std::path::PathBuf| match &context.files {
        Some(files) => files.contains(&path),
        None => path.is_file(),
    };
    let simple = command.simple();
    let directories: Vec<_> = simple.cwds.iter().filter(|cwd| cwd.starts_with(&project)).chain([&project]).collect();
    for directory in directories {
        let has_lock = |(_, files): &&(&str, &[&str])| files.iter().any(|file| is_file(directory.join(file)));
        let found: Vec<_> = group.iter().filter(has_lock).map(|(name, _)| *name).collect();
        match found.as_slice() {
            [] => {}
            [name] => return name,
            _ => return "",
        }
    }
    ""
}

#[derive(PartialEq, Eq)]
enum Work {
    Install,
    Remove,
    Other,
}

fn work(command: &Command, manager: &Manager) -> Work {
    let arguments = command.arguments();
    let subcommand = arguments.joined_subcommand();
    let subcommand = subcommand.as_str();
    if let Some((_, installs, removes)) = BY_OPTION.iter().find(|(name, ..)| *name == manager.name) {
        // `pacman -Ss` and `-Si` only show packages.
        let shows = manager.name == "pacman" && arguments.has_any(&["--search", "--info", "--list", "--clean"]);
        return match () {
            () if shows => Work::Other,
            () if arguments.has_any(installs) => Work::Install,
            () if arguments.has_any(removes) => Work::Remove,
            () => Work::Other,
        };
    }
    let is_bare_yarn = manager.name == "yarn" && subcommand.is_empty() && !arguments.has_any(&["--version", "--help"]);
    if manager.name == "cpanm" || manager.installs.contains(&subcommand) || is_bare_yarn {
        Work::Install
    } else if manager.removes.contains(&subcommand) {
        Work::Remove
    } else {
        Work::Other
    }
}

pub(super) fn installs(command: &Command) -> bool {
    find(command.effective().0).is_some_and(|manager| work(command, manager) == Work::Install)
}

pub(super) fn is_global(command: &Command) -> bool {
    let Some(manager) = find(command.effective().0) else { return false };
    if work(command, manager) == Work::Other {
        return false;
    }
    let arguments = command.arguments();
    let subcommand = arguments.joined_subcommand();
    let is_machine_command = MACHINE_COMMANDS
        .iter()
        .any(|(name, commands)| *name == manager.name && commands.contains(&subcommand.as_str()));
    manager.reach == Reach::Machine
        || is_machine_command
        || arguments.has_any(MACHINE_OPTIONS)
        || arguments.values_of("--location").any(|value| value.text == "global")
        || WITH_SUDO.contains(&manager.name) && command.wrappers().any(|name| matches!(name, "sudo" | "doas"))
}

pub(super) fn packages(command: &Command) -> Value {
    let Some(manager) = find(command.effective().0) else { return Value::list([]) };
    if work(command, manager) == Work::Other {
        return Value::list([]);
    }
    let arguments = command.arguments();
    let editable = arguments.values_of("--editable");
    let is_project = |word: &&Expanded| !(manager.name == "dotnet" && word.text.ends_with("proj"));
    super::words(arguments.operands.iter().filter(is_project).chain(editable))
}
