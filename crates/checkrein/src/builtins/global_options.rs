//! Table of the options that programs take before their subcommand: `git -C dir push`.
//!
//! Guards and permission rules find the subcommand with it. An option that the table lacks is treated as one without a
//! value.

use super::shell::Expanded;

struct GlobalOptions {
    programs: &'static [&'static str],
    /// Options whose value is the next word.
    with_value: &'static [&'static str],
}

const TABLE: &[GlobalOptions] = &[
    GlobalOptions {
        programs: &["git"],
        with_value: &[
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--super-prefix",
            "--config-env",
            "--attr-source",
        ],
    },
    GlobalOptions {
        programs: &["npm", "cnpm"],
        with_value: &[
            "--prefix",
            "-C",
            "-w",
            "--workspace",
            "--userconfig",
            "--globalconfig",
            "--registry",
            "--loglevel",
            "--cache",
            "--script-shell",
            "--node-options",
            "--tag",
            "--otp",
        ],
    },
    GlobalOptions {
        programs: &["npx", "pnpx", "bunx"],
        with_value: &["-p", "--package", "-c", "--call", "-w", "--workspace"],
    },
    GlobalOptions {
        programs: &["pnpm"],
        with_value: &["-C", "--dir", "-F", "--filter", "--filter-prod", "--loglevel", "--reporter", "--store-dir"],
    },
    GlobalOptions {
        programs: &["yarn", "yarnpkg"],
        with_value: &["--cwd", "--cache-folder", "--modules-folder", "--registry"],
    },
    GlobalOptions { programs: &["bun"], with_value: &["--cwd", "-c", "--config", "--env-file", "-r", "--preload"] },
    GlobalOptions {
        programs: &["docker"],
        with_value: &[
            "--config",
            "-c",
            "--context",
            "-H",
            "--host",
            "-l",
            "--log-level",
            "--tlscacert",
            "--tlscert",
            "--tlskey",
        ],
    },
    GlobalOptions {
        programs: &["podman", "buildah", "nerdctl"],
        with_value: &[
            "-c",
            "--connection",
            "--url",
            "--identity",
            "--log-level",
            "--root",
            "--runroot",
            "--runtime",
            "--storage-driver",
            "--storage-opt",
            "--tmpdir",
            "-n",
            "--namespace",
            "-a",
            "--address",
            "-H",
            "--host",
            "--module",
        ],
    },
    GlobalOptions {
        programs: &["docker-compose", "podman-compose"],
        with_value: &[
            "-f",
            "--file",
            "-p",
            "--project-name",
            "--project-directory",
            "--profile",
            "--env-file",
            "--ansi",
            "--progress",
            "--parallel",
            "-H",
            "--host",
            "-c",
            "--context",
        ],
    },
    GlobalOptions {
        programs: &["kubectl", "oc", "k3s"],
        with_value: &[
            "-n",
            "--namespace",
            "--context",
            "--cluster",
            "--kubeconfig",
            "-s",
            "--server",
            "--user",
            "--username",
            "--password",
            "--token",
            "--as",
            "--as-group",
            "--as-uid",
            "--request-timeout",
            "--cache-dir",
            "-v",
            "--v",
            "--vmodule",
            "--certificate-authority",
            "--client-certificate",
            "--client-key",
            "--tls-server-name",
            "--profile",
            "--profile-output",
            "--log-flush-frequency",
        ],
    },
    GlobalOptions {
        programs: &["helm"],
        with_value: &[
            "-n",
            "--namespace",
            "--kube-context",
            "--kubeconfig",
            "--kube-apiserver",
            "--kube-as-user",
            "--kube-as-group",
            "--kube-ca-file",
            "--kube-token",
            "--registry-config",
            "--repository-cache",
            "--repository-config",
            "--burst-limit",
            "--qps",
        ],
    },
    GlobalOptions { programs: &["cargo"], with_value: &["-C", "-Z", "--config", "--color", "--manifest-path"] },
    GlobalOptions { programs: &["rustup"], with_value: &[] },
    GlobalOptions { programs: &["go"], with_value: &["-C"] },
    GlobalOptions { programs: &["gh"], with_value: &["-R", "--repo", "--hostname"] },
    GlobalOptions { programs: &["glab"], with_value: &["-R", "--repo"] },
    GlobalOptions {
        programs: &["aws"],
        with_value: &[
            "--profile",
            "--region",
            "--output",
            "--endpoint-url",
            "--query",
            "--ca-bundle",
            "--color",
            "--cli-read-timeout",
            "--cli-connect-timeout",
            "--cli-binary-format",
        ],
    },
    GlobalOptions {
        programs: &["gcloud", "gsutil", "bq"],
        with_value: &[
            "--project",
            "--account",
            "--configuration",
            "--format",
            "--verbosity",
            "--impersonate-service-account",
            "--billing-project",
            "--access-token-file",
            "--flags-file",
            "-h",
            "-o",
            "-u",
            "--project_id",
            "--location",
        ],
    },
    GlobalOptions { programs: &["az"], with_value: &["--subscription", "-o", "--output", "--query"] },
    GlobalOptions { programs: &["terraform", "tofu", "terragrunt"], with_value: &[] },
    GlobalOptions {
        programs: &["pulumi"],
        with_value: &["-C", "--cwd", "-s", "--stack", "--color", "--profiling", "-v", "--verbose"],
    },
    GlobalOptions { programs: &["ansible-vault"], with_value: &["--vault-id", "--vault-password-file"] },
    GlobalOptions {
        programs: &["systemctl", "loginctl", "machinectl", "journalctl"],
        with_value: &[
            "-H",
            "--host",
            "-M",
            "--machine",
            "-t",
            "--type",
            "-p",
            "--property",
            "-s",
            "--signal",
            "-n",
            "--lines",
            "-o",
            "--output",
            "--root",
            "--job-mode",
            "--kill-whom",
            "--state",
        ],
    },
    GlobalOptions {
        programs: &["pip", "pip3"],
        with_value: &[
            "--python",
            "--log",
            "--proxy",
            "--retries",
            "--timeout",
            "--exists-action",
            "--trusted-host",
            "--cert",
            "--client-cert",
            "--cache-dir",
            "--keyring-provider",
        ],
    },
    GlobalOptions {
        programs: &["uv"],
        with_value: &["--directory", "--project", "--config-file", "--cache-dir", "--color", "-p", "--python"],
    },
    GlobalOptions { programs: &["poetry"], with_value: &["-C", "--directory", "-P", "--project"] },
    GlobalOptions { programs: &["composer"], with_value: &["-d", "--working-dir"] },
    GlobalOptions { programs: &["bundle", "gem"], with_value: &["--gemfile", "--config-file"] },
    GlobalOptions {
        programs: &["hg"],
        with_value: &["-R", "--repository", "--cwd", "--config", "--color", "--encoding"],
    },
    GlobalOptions { programs: &["svn"], with_value: &["--username", "--password", "--config-dir", "--config-option"] },
    GlobalOptions {
        programs: &["jj"],
        with_value: &["-R", "--repository", "--at-operation", "--at-op", "--config", "--color"],
    },
    GlobalOptions {
        programs: &["apt", "apt-get", "aptitude"],
        with_value: &["-o", "--option", "-c", "--config-file", "-t", "--target-release", "--default-release", "-a"],
    },
    GlobalOptions {
        programs: &["dnf", "yum", "zypper", "pacman"],
        with_value: &[
            "-c",
            "--config",
            "-x",
            "--exclude",
            "--installroot",
            "--releasever",
            "--root",
            "-R",
            "-b",
            "--dbpath",
        ],
    },
    GlobalOptions {
        programs: &["vault", "consul", "nomad"],
        with_value: &["-address", "-namespace", "-token", "-region"],
    },
    GlobalOptions { programs: &["heroku"], with_value: &["-a", "--app", "-r", "--remote"] },
    GlobalOptions {
        programs: &["fly", "flyctl"],
        with_value: &["-a", "--app", "-c", "--config", "-t", "--access-token"],
    },
    GlobalOptions {
        programs: &["vercel", "netlify", "wrangler"],
        with_value: &["--cwd", "-A", "--local-config", "-t", "--token", "-S", "--scope", "-c", "--config"],
    },
    GlobalOptions {
        programs: &["psql", "mysql", "redis-cli"],
        with_value: &["-h", "-p", "-U", "-d", "-u", "-n", "-a"],
    },
];

/// `true` if the program has subcommands behind options that the table knows.
fn options_of(program: &str) -> Option<&'static GlobalOptions> {
    TABLE.iter().find(|row| row.programs.contains(&program))
}

/// `true` if the program is in the table.
pub(crate) fn has_subcommands(program: &str) -> bool {
    options_of(program).is_some()
}

/// `true` if the value of a global option is the next word.
pub(crate) fn takes_value(program: &str, option: &str) -> bool {
    options_of(program).is_some_and(|row| row.with_value.contains(&option))
}

/// Returns the index of the subcommand of a program, or `None` if the program has no subcommands or the words have none.
pub(crate) fn subcommand(program: &str, args: &[Expanded]) -> Option<usize> {
    let options = options_of(program)?;
    let mut index = 0;
    loop {
        let arg = args.get(index)?;
        let text = arg.text.as_str();
        if options.with_value.contains(&text) {
            index += 2;
        } else if arg.unknown.is_empty() && text.len() > 1 && text.starts_with(['-', '+']) {
            index += 1;
        } else {
            return Some(index);
        }
    }
}

/// Returns the values of a global option of a program: `-C dir`, `--git-dir dir` and `--git-dir=dir`.
pub(crate) fn values<'a>(program: &str, args: &'a [Expanded], names: &'a [&str]) -> Vec<Expanded> {
    let end = subcommand(program, args).unwrap_or(args.len());
    let mut values = Vec::new();
    for (index, arg) in args[..end].iter().enumerate() {
        if names.contains(&arg.text.as_str()) {
            values.extend(args.get(index + 1).cloned());
        }
        let long = names.iter().filter(|name| name.starts_with("--"));
        let start = long.filter_map(|name| arg.text.strip_prefix(name)?.strip_prefix('=')).next();
        values.extend(start.map(|value| arg.part(arg.text.len() - value.len()..arg.text.len())));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subcommands_are_found_behind_global_options() {
        for (line, expected) in [
            ("git push", Some("push")),
            ("git -C d push", Some("push")),
            ("git -c a=b -c c=d push", Some("push")),
            ("git --git-dir=x --work-tree y push", Some("push")),
            ("git --no-pager -P push", Some("push")),
            ("git --version", None),
            ("npm --prefix d run x", Some("run")),
            ("docker --context x rm y", Some("rm")),
            ("kubectl -n x --context=y delete pod", Some("delete")),
            ("cargo +nightly -Z x test", Some("test")),
            ("terraform -chdir=x destroy", Some("destroy")),
            ("ls -C x", None),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let args: Vec<_> = words[1..].iter().map(|word| known(word)).collect();
            let found = subcommand(words[0], &args).map(|index| args[index].text.as_str());
            assert_eq!(found, expected, "{line}");
        }
    }

    fn known(text: &str) -> Expanded {
        Expanded { text: text.to_owned(), known: true, ..Expanded::default() }
    }
}
