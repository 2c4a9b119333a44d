//! Connections of commands: the hosts on their command lines.
//!
//! [`ROWS`] says for each program which options have values and where the host is. Code in arguments (`python -c`) is not read.

use super::{Connection, remote, url};
use crate::builtins::global_options;
use crate::builtins::shell::{Expanded, SimpleCommand};
use crate::facts::RepositoryState;

/// Place of the host on a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Every operand is a URL or a host.
    Urls,
    /// Operands with a scheme are URLs; others are not hosts.
    OnlyWithScheme,
    /// `[METHOD] URL [ITEM…]`.
    Items,
    /// `[user@]host [port]`.
    Host,
    /// `[user@]host:path`, before or behind files.
    Copy,
    /// Values of options, and operands with a scheme.
    Database,
    /// Words such as `TCP:host:port`.
    Socat,
    /// `-connect host:port`.
    Connect,
}

/// A program that connects to hosts.
struct Row {
    programs: &'static [&'static str],
    form: Form,
    /// Scheme of an address without one.
    scheme: &'static str,
    /// Single letters of options with a value.
    letters: &'static str,
    /// Other options with a value in the next word.
    long: &'static [&'static str],
    /// Options that send data, as they are written.
    sends: &'static [&'static str],
}

/// Methods that `http` and `xh` accept in any letter case.
const METHODS: &[&str] = &["get", "head", "post", "put", "patch", "delete", "options"];

const CURL: Row = Row {
    programs: &["curl"],
    form: Form::Urls,
    scheme: "http",
    letters: "AbcCdDeEFHhKmoPQrtTuUwxXyYz",
    long: &[
        "--abstract-unix-socket",
        "--cacert",
        "--capath",
        "--cert",
        "--cert-type",
        "--ciphers",
        "--config",
        "--connect-timeout",
        "--connect-to",
        "--continue-at",
        "--cookie",
        "--cookie-jar",
        "--data",
        "--data-ascii",
        "--data-binary",
        "--data-raw",
        "--data-urlencode",
        "--dns-servers",
        "--doh-url",
        "--dump-header",
        "--etag-compare",
        "--etag-save",
        "--form",
        "--form-string",
        "--header",
        "--interface",
        "--json",
        "--key",
        "--key-type",
        "--limit-rate",
        "--local-port",
        "--max-filesize",
        "--max-redirs",
        "--max-time",
        "--netrc-file",
        "--noproxy",
        "--oauth2-bearer",
        "--output",
        "--output-dir",
        "--parallel-max",
        "--pass",
        "--pinnedpubkey",
        "--preproxy",
        "--proto",
        "--proto-default",
        "--proxy",
        "--proxy-header",
        "--proxy-user",
        "--pubkey",
        "--quote",
        "--range",
        "--rate",
        "--referer",
        "--request",
        "--request-target",
        "--resolve",
        "--retry",
        "--retry-delay",
        "--retry-max-time",
        "--socks4",
        "--socks5",
        "--socks5-hostname",
        "--speed-limit",
        "--speed-time",
        "--stderr",
        "--time-cond",
        "--tls-max",
        "--trace",
        "--trace-ascii",
        "--unix-socket",
        "--upload-file",
        "--url-query",
        "--user",
        "--user-agent",
        "--variable",
        "--write-out",
    ],
    sends: &[
        "-d",
        "-F",
        "-T",
        "--data",
        "--data-ascii",
        "--data-binary",
        "--data-raw",
        "--data-urlencode",
        "--form",
        "--form-string",
        "--json",
        "--upload-file",
        "--url-query",
    ],
};

const ROWS: &[Row] = &[
    CURL,
    Row {
        programs: &["wget", "wget2"],
        form: Form::Urls,
        scheme: "http",
        letters: "aABDeIiloOPQRtTUwX",
        long: &[
            "--append-output",
            "--base",
            "--bind-address",
            "--body-data",
            "--body-file",
            "--ca-certificate",
            "--certificate",
            "--config",
            "--directory-prefix",
            "--domains",
            "--exclude-domains",
            "--execute",
            "--header",
            "--input-file",
            "--level",
            "--limit-rate",
            "--load-cookies",
            "--max-redirect",
            "--method",
            "--output-document",
            "--output-file",
            "--password",
            "--post-data",
            "--post-file",
            "--private-key",
            "--quota",
            "--referer",
            "--reject",
            "--save-cookies",
            "--timeout",
            "--tries",
            "--user",
            "--user-agent",
            "--wait",
            "--waitretry",
        ],
        sends: &["--post-data", "--post-file", "--body-data", "--body-file"],
    },
    Row {
        programs: &["http", "https", "xh", "xhs", "httpie"],
        form: Form::Items,
        scheme: "http",
        letters: "aAops",
        long: &[
            "--auth",
            "--auth-type",
            "--output",
            "--print",
            "--session",
            "--style",
            "--timeout",
            "--verify",
            "--cert",
            "--proxy",
            "--raw",
        ],
        sends: &["--raw", "-f", "--form", "--multipart"],
    },
    Row {
        programs: &["nc", "ncat", "netcat"],
        form: Form::Host,
        scheme: "",
        letters: "ceGgiIMmOPpqsTVwXx",
        long: &[
            "--exec",
            "--sh-exec",
            "--proxy",
            "--proxy-type",
            "--proxy-auth",
            "--source",
            "--source-port",
            "--wait",
            "--delay",
            "--idle-timeout",
        ],
        sends: &["-e", "-c", "--exec", "--sh-exec"],
    },
    Row { programs: &["socat"], form: Form::Socat, scheme: "", letters: "btTLlW", long: &[], sends: &[] },
    Row {
        programs: &["ssh", "autossh", "mosh", "sshpass-ssh", "ssh-copy-id"],
        form: Form::Host,
        scheme: "ssh",
        letters: "BbcDEeFIiJLlmOoPpQRSWw",
        long: &[],
        sends: &[],
    },
    Row { programs: &["sftp"], form: Form::Host, scheme: "sftp", letters: "BbcDFiJloPRSsX", long: &[], sends: &[] },
    Row {
        programs: &["ftp", "lftp", "tnftp"],
        form: Form::Host,
        scheme: "ftp",
        letters: "ceNoPqrsTuux",
        long: &[],
        sends: &[],
    },
    Row { programs: &["telnet"], form: Form::Host, scheme: "telnet", letters: "beXnSlk", long: &[], sends: &[] },
    Row { programs: &["scp"], form: Form::Copy, scheme: "ssh", letters: "cDFiJloPSX", long: &[], sends: &[] },
    Row {
        programs: &["rsync"],
        form: Form::Copy,
        scheme: "ssh",
        letters: "BefMT",
        long: &[
            "--rsh",
            "--exclude",
            "--include",
            "--filter",
            "--exclude-from",
            "--include-from",
            "--files-from",
            "--log-file",
            "--password-file",
            "--port",
            "--rsync-path",
            "--timeout",
            "--bwlimit",
            "--backup-dir",
            "--partial-dir",
            "--chmod",
            "--temp-dir",
            "--compare-dest",
            "--link-dest",
            "--max-size",
            "--min-size",
        ],
        sends: &[],
    },
    Row {
        programs: &["psql", "pg_dump", "pg_restore", "pg_dumpall", "createdb", "dropdb"],
        form: Form::Database,
        scheme: "postgres",
        letters: "cdfhLoPpRTUvFjnNtZE",
        long: &["--host", "--port", "--dbname", "--username", "--command", "--file"],
        sends: &[],
    },
    Row {
        programs: &["mysql", "mariadb", "mysqldump", "mysqladmin", "mysqlimport"],
        form: Form::Database,
        scheme: "mysql",
        letters: "DehPSu",
        long: &["--host", "--port", "--user", "--execute", "--database"],
        sends: &[],
    },
    Row {
        programs: &["redis-cli", "valkey-cli"],
        form: Form::Database,
        scheme: "redis",
        letters: "adhinprsu",
        long: &["--user", "--pass"],
        sends: &[],
    },
    Row {
        programs: &["mongosh", "mongo", "mongodump", "mongorestore", "mongoexport", "mongoimport"],
        form: Form::Database,
        scheme: "mongodb",
        letters: "hpu",
        long: &["--host", "--port", "--username", "--password", "--uri", "--eval", "--db", "--collection"],
        sends: &[],
    },
    Row { programs: &["openssl"], form: Form::Connect, scheme: "", letters: "", long: &[], sends: &[] },
    Row {
        programs: &[
            "aria2c",
            "axel",
            "lynx",
            "w3m",
            "links",
            "elinks",
            "yt-dlp",
            "youtube-dl",
            "pip",
            "pip3",
            "pipx",
            "uv",
            "npm",
            "pnpm",
            "yarn",
            "bun",
            "npx",
            "deno",
            "helm",
            "kubectl",
            "brew",
            "svn",
            "hg",
            "xdg-open",
            "open",
            "wscat",
            "websocat",
            "grpcurl",
            "hurl",
            "ab",
            "wrk",
            "hey",
            "vegeta",
            "chromium",
            "google-chrome",
            "firefox",
            "curlie",
            "bq",
            "dotnet",
            "go",
        ],
        form: Form::OnlyWithScheme,
        scheme: "",
        letters: "",
        long: &[],
        sends: &[],
    },
];

/// Commands that send data to a fixed host: the program, the start of its operands, the host, and the option with another one.
const PUBLISHES: &[(&str, &[&str], &str, &str)] = &[
    ("npm", &["publish"], "registry.npmjs.org", "--registry"),
    ("pnpm", &["publish"], "registry.npmjs.org", "--registry"),
    ("yarn", &["publish"], "registry.npmjs.org", "--registry"),
    ("yarn", &["npm", "publish"], "registry.npmjs.org", "--registry"),
    ("bun", &["publish"], "registry.npmjs.org", "--registry"),
    ("twine", &["upload"], "upload.pypi.org", "--repository-url"),
    ("poetry", &["publish"], "upload.pypi.org", ""),
    ("uv", &["publish"], "upload.pypi.org", "--publish-url"),
    ("flit", &["publish"], "upload.pypi.org", ""),
    ("hatch", &["publish"], "upload.pypi.org", ""),
    ("pdm", &["publish"], "upload.pypi.org", ""),
    ("cargo", &["publish"], "crates.io", "--index"),
    ("gem", &["push"], "rubygems.org", "--host"),
];

/// Commands of gh that send data: the start of their operands.
const GH_SENDS: &[&[&str]] = &[
    &["gist", "create"],
    &["gist", "edit"],
    &["release", "create"],
    &["release", "upload"],
    &["issue", "create"],
    &["issue", "comment"],
    &["issue", "edit"],
    &["pr", "create"],
    &["pr", "comment"],
    &["pr", "edit"],
    &["pr", "review"],
    &["repo", "create"],
    &["repo", "edit"],
    &["secret", "set"],
    &["variable", "set"],
    &["ssh-key", "add"],
    &["gpg-key", "add"],
    &["workflow", "run"],
];

/// Commands of gh that contact no host.
const GH_LOCAL: &[&str] = &["alias", "completion", "config", "help", "version"];

/// Returns the connections of a command.
pub(super) fn in_command(command: &SimpleCommand, given: Option<&RepositoryState>) -> Vec<Connection> {
    let mut found = sockets(command);
    let reader = Reader { command };
    match command.name.as_str() {
        "git" => found.extend(remote::in_git(command, given)),
        "gh" => found.extend(reader.gh()),
        "docker" | "podman" | "nerdctl" | "buildah" => found.extend(reader.registry()),
        "aws" | "gsutil" | "gcloud" => found.extend(reader.storage()),
        _ => {}
    }
    let published = reader.published();
    if !published.is_empty() {
        found.extend(published);
    } else if let Some(row) = ROWS.iter().find(|row| row.programs.contains(&command.name.as_str())) {
        found.extend(reader.row(row));
    }
    found
}

/// Returns the connections that bash opens: `/dev/tcp/host/port`.
fn sockets(command: &SimpleCommand) -> Vec<Connection> {
    let socket = |word: &Expanded, upload: bool| {
        let start = ["/dev/tcp/", "/dev/udp/"].iter().find(|start| word.text.starts_with(**start))?;
        let rest = &word.text[start.len()..];
        let length = rest.find('/').unwrap_or(rest.len());
        let host = word.part(start.len()..start.len() + length);
        let port = rest.get(length + 1..).and_then(|port| port.parse().ok());
        let (scheme, program) = (start[5..8].to_owned(), command.name.clone());
        Some(Connection { host, port, scheme, upload, url: word.clone(), program })
    };
    let written = command.writes.iter().filter_map(|word| socket(word, true));
    let read =
        command.reads.iter().filter(|word| !command.writes.contains(word)).filter_map(|word| socket(word, false));
    written.chain(read).collect()
}

struct Reader<'a> {
    command: &'a SimpleCommand,
}

/// Options and operands of a command line.
#[derive(Default)]
struct Line {
    operands: Vec<Expanded>,
    /// Options as written, with their values.
    options: Vec<(String, Option<Expanded>)>,
}

impl Line {
    fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    fn values<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Expanded> {
        self.options.iter().filter(|(name, _)| names.contains(&name.as_str())).filter_map(|(_, value)| value.as_ref())
    }
}

impl Reader<'_> {
    /// Separates options, their values and operands.
    fn line(&self, letters: &str, long: &[&str]) -> Line {
        let mut line = Line::default();
        let args = &self.command.args;
        let mut index = 0;
        while let Some(arg) = args.get(index) {
            let text = arg.text.as_str();
            index += 1;
            let value_from = |at: usize| arg.part(at..text.len());
            if text == "--" {
                line.operands.extend(args[index..].iter().cloned());
                break;
            } else if let Some((name, value)) = text.split_once('=').filter(|_| text.starts_with("--")) {
                line.options.push((name.to_owned(), Some(value_from(text.len() - value.len()))));
            } else if text.starts_with("--") || long.contains(&text) {
                let value = if long.contains(&text) { args.get(index).cloned() } else { None };
                index += usize::from(value.is_some());
                line.options.push((text.to_owned(), value));
            } else if let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
                for (at, c) in cluster.char_indices() {
                    if !letters.contains(c) {
                        line.options.push((format!("-{c}"), None));
                        continue;
                    }
                    let start = 1 + at + c.len_utf8();
                    let value = if start < text.len() { Some(value_from(start)) } else { args.get(index).cloned() };
                    index += usize::from(start >= text.len() && value.is_some());
                    line.options.push((format!("-{c}"), value));
                    break;
                }
            } else {
                line.operands.push(arg.clone());
            }
        }
        line
    }

    /// `true` if the command gets data on its standard input.
    fn has_input(&self) -> bool {
        let command = self.command;
        !command.fed_by.is_empty()
            || command.input.is_some()
            || command.reads.iter().any(|file| file.text != "/dev/null")
    }

    fn connection(&self, url: &Expanded, default_scheme: &str, upload: bool) -> Connection {
        let parsed = url::parse(url);
        let scheme = if parsed.scheme.is_empty() { default_scheme.to_owned() } else { parsed.scheme };
        let program = self.command.name.clone();
        Connection { host: parsed.host, port: parsed.port, scheme, upload, url: url.clone(), program }
    }

    /// Returns a connection to a fixed host.
    fn fixed(&self, host: &str, scheme: &str, url: &str, upload: bool) -> Connection {
        let known = |text: &str| Expanded { text: text.to_owned(), known: true, ..Expanded::default() };
        let (scheme, program) = (scheme.to_owned(), self.command.name.clone());
        Connection { host: known(host), port: None, scheme, upload, url: known(url), program }
    }

    fn row(&self, row: &Row) -> Vec<Connection> {
        let line = self.line(row.letters, row.long);
        let sends = line.has(row.sends);
        let has_scheme = |word: &&Expanded| word.text.contains("://") && !word.text.starts_with("file:");
        match row.form {
            Form::Urls => {
                let values = line.values(&["--url"]);
                let urls = line.operands.iter().chain(values).filter(|word| !word.text.starts_with("file:"));
                urls.map(|url| self.connection(url, row.scheme, sends)).collect()
            }
            Form::OnlyWithScheme => {
                let values = line.options.iter().filter_map(|(_, value)| value.as_ref());
                let urls = line.operands.iter().chain(values).filter(has_scheme);
                urls.map(|url| self.connection(&without_prefix(url), row.scheme, sends)).collect()
            }
            Form::Items => self.items(&line, row, sends),
            Form::Host => self.host(&line, row, sends),
            Form::Copy => {
                let last = line.operands.len().saturating_sub(1);
                let port = copy_port(&self.command.name, &line);
                let remote = line.operands.iter().enumerate().filter_map(|(index, word)| {
                    let upload = index == last && last > 0;
                    let connection = self.copied(word, row.scheme, upload)?;
                    Some(Connection { port: connection.port.or(port), ..connection })
                });
                remote.collect()
            }
            Form::Database => self.database(&line, row),
            Form::Socat => self.socat(&line),
            Form::Connect => {
                let pairs =
                    self.command.args.windows(2).filter(|pair| matches!(pair[0].text.as_str(), "-connect" | "-proxy"));
                pairs.map(|pair| self.connection(&pair[1], "tls", self.has_input())).collect()
            }
        }
    }

    /// Reads `http [METHOD] URL [ITEM…]`.
    fn items(&self, line: &Line, row: &Row, sends: bool) -> Vec<Connection> {
        let is_method = |word: &Expanded| {
            let is_name = word.text.len() > 2 && word.text.bytes().all(|byte| byte.is_ascii_uppercase());
            word.known && (is_name || METHODS.iter().any(|method| word.text.eq_ignore_ascii_case(method)))
        };
        let skipped = usize::from(line.operands.len() > 1 && is_method(&line.operands[0]));
        let Some(url) = line.operands.get(skipped) else { return Vec::new() };
        let is_sent = |item: &Expanded| {
            let text = item.text.replace("==", "");
            text.contains('=') || text.contains('@')
        };
        let upload = sends || self.has_input() || line.operands[skipped + 1..].iter().any(is_sent);
        let scheme = if matches!(self.command.name.as_str(), "https" | "xhs") { "https" } else { row.scheme };
        let mut connection = self.connection(url, scheme, upload);
        // `:3000/path` is on this machine.
        if url.known && (url.text.starts_with(":/") || url.text.starts_with(':') && connection.host.text.is_empty()) {
            connection.host = Expanded { text: "localhost".to_owned(), known: true, ..Expanded::default() };
        }
        vec![connection]
    }

    /// Reads `[user@]host [port]`.
    fn host(&self, line: &Line, row: &Row, sends: bool) -> Vec<Connection> {
        // A server waits for connections, and these options of ssh only print.
        let listens =
            row.scheme.is_empty() && line.has(&["-l", "--listen"]) || row.scheme == "ssh" && line.has(&["-Q", "-V"]);
        let Some(host) = line.operands.first() else { return Vec::new() };
        // `rsync -e ssh` and git add the host, and have a connection of their own.
        let is_added =
            !host.known && self.command.wrappers.last().is_some_and(|outer| matches!(&**outer, "rsync" | "git"));
        if listens || is_added {
            return Vec::new();
        }
        let mut connection = match row.scheme {
            "ssh" | "sftp" if !host.text.contains("://") => {
                let end = host.text.find(':').filter(|_| row.scheme == "sftp").unwrap_or(host.text.len());
                let start = host.text[..end].rfind('@').map_or(0, |at| at + 1);
                let (scheme, program) = (row.scheme.to_owned(), self.command.name.clone());
                Connection {
                    host: host.part(start..end),
                    port: None,
                    scheme,
                    upload: false,
                    url: host.clone(),
                    program,
                }
            }
            _ => self.connection(host, row.scheme, false),
        };
        let port = match row.scheme {
            "ssh" => line.values(&["-p"]).last(),
            "sftp" | "ftp" => line.values(&["-P"]).last(),
            _ => None,
        };
        let port = port.or_else(|| line.operands.get(1).filter(|_| matches!(row.scheme, "" | "telnet" | "ftp")));
        connection.port = port.and_then(|port| port.text.parse().ok()).or(connection.port);
        connection.upload = sends || self.has_input() || self.command.name == "ssh-copy-id";
        vec![connection]
    }

    /// Reads `[user@]host:path` and `rsync://host/path`.
    fn copied(&self, word: &Expanded, scheme: &str, upload: bool) -> Option<Connection> {
        if word.text.contains("://") {
            return Some(self.connection(word, scheme, upload));
        }
        if !word.known && word.unknown.first().is_some_and(|range| range.start == 0) && !word.text.contains(':') {
            // `$DEST` may be a file or a host.
            let (scheme, program) = (scheme.to_owned(), self.command.name.clone());
            return Some(Connection { host: word.clone(), port: None, scheme, upload, url: word.clone(), program });
        }
        let end = match word.text.find("]:") {
            Some(at) if word.text.contains('[') => at + 1,
            _ => word.text.find(':')?,
        };
        if end == 0 || word.text[..end].contains('/') {
            return None;
        }
        let (host, _) = url::host_and_port(word, 0..end);
        let scheme = if word.text[end..].starts_with("::") { "rsync" } else { scheme };
        let (scheme, program) = (scheme.to_owned(), self.command.name.clone());
        Some(Connection { host, port: None, scheme, upload, url: word.clone(), program })
    }

    /// Reads `-h host -p port` and URIs.
    fn database(&self, line: &Line, row: &Row) -> Vec<Connection> {
        let values = line.options.iter().filter_map(|(_, value)| value.as_ref());
        let is_uri = |word: &&Expanded| {
            word.text.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(char::is_whitespace))
        };
        let mut found: Vec<_> = line
            .operands
            .iter()
            .chain(values)
            .filter(is_uri)
            .map(|uri| self.connection(uri, row.scheme, false))
            .collect();
        // `psql "host=h dbname=d"`.
        let words = line.operands.iter().flat_map(|word| word.text.split_whitespace());
        let named =
            words.filter_map(|word| word.strip_prefix("host=")).map(|host| self.fixed(host, row.scheme, host, false));
        found.extend(named);
        let ports = if row.scheme == "mysql" { ["-P", "--port"] } else { ["-p", "--port"] };
        for host in line.values(&["-h", "--host"]) {
            // A path is a socket of this machine.
            if host.text.starts_with('/') {
                continue;
            }
            let mut connection = self.connection(host, row.scheme, false);
            connection.port = line.values(&ports).last().and_then(|port| port.text.parse().ok()).or(connection.port);
            found.push(connection);
        }
        found
    }

    /// Reads `TCP:host:port` and similar words.
    fn socat(&self, line: &Line) -> Vec<Connection> {
        const KINDS: &[&str] =
            &["tcp", "tcp4", "tcp6", "tcp-connect", "udp", "udp4", "udp-connect", "ssl", "openssl", "openssl-connect"];
        let runs = |word: &Expanded| {
            let kind = word.text.split([':', ',']).next().unwrap_or_default().to_ascii_lowercase();
            matches!(kind.as_str(), "exec" | "system" | "shell" | "file" | "open" | "gopen")
        };
        let upload = self.has_input() || line.operands.iter().any(runs);
        let remote = line.operands.iter().filter_map(|word| {
            let (kind, rest) = word.text.split_once(':')?;
            let kind = kind.to_ascii_lowercase();
            if !KINDS.contains(&kind.as_str()) {
                return None;
            }
            let start = word.text.len() - rest.len();
            let end = start + rest.find(',').unwrap_or(rest.len());
            let (host, port) = url::host_and_port(word, start..end);
            let program = self.command.name.clone();
            Some(Connection { host, port, scheme: kind, upload, url: word.clone(), program })
        });
        remote.collect()
    }

    /// Reads commands of gh. Its host is `github.com` unless an option names another.
    fn gh(&self) -> Vec<Connection> {
        let line = self
            .line("XHfFRbtBpq", &["--hostname", "--method", "--field", "--raw-field", "--input", "--repo", "--header"]);
        let words: Vec<&str> = line.operands.iter().map(|word| word.text.as_str()).collect();
        let Some(first) = words.first().filter(|first| !GH_LOCAL.contains(first)) else { return Vec::new() };
        let is_write = |value: &Expanded| !value.text.eq_ignore_ascii_case("GET");
        let writes_api = *first == "api"
            && (line.has(&["-f", "-F", "--field", "--raw-field", "--input"])
                || line.values(&["-X", "--method"]).any(is_write));
        let upload = writes_api || GH_SENDS.iter().any(|start| words.starts_with(start));
        let mut connection = self.fixed("github.com", "https", "https://github.com", upload);
        if let Some(host) = line.values(&["--hostname"]).last() {
            connection.host = host.clone();
        }
        vec![connection]
    }

    /// Reads the registry in the name of an image. Names without a registry are skipped.
    fn registry(&self) -> Vec<Connection> {
        let Some(index) = global_options::subcommand(&self.command.name, &self.command.args) else { return Vec::new() };
        let (name, args) = (self.command.args[index].text.as_str(), &self.command.args[index + 1..]);
        let (name, args) = match (name, args.split_first()) {
            ("image", Some((next, rest))) => (next.text.as_str(), rest),
            _ => (name, args),
        };
        if !matches!(name, "push" | "pull" | "login" | "run" | "create") {
            return Vec::new();
        }
        let images = args.iter().filter(|arg| !arg.text.starts_with('-'));
        let found = images.filter_map(|image| {
            let end = image.text.find('/').unwrap_or(if name == "login" { image.text.len() } else { 0 });
            let host = image.text.get(..end).filter(|host| host.contains(['.', ':']) || *host == "localhost")?;
            // Paths, URLs and pairs such as `-v /a:/b` are no images.
            let is_host =
                host.starts_with(|c: char| c.is_ascii_alphanumeric()) && !host.contains('=') && !host.ends_with(':');
            if !is_host {
                return None;
            }
            let (host, port) = url::host_and_port(image, 0..end);
            let program = self.command.name.clone();
            Some(Connection {
                host,
                port,
                scheme: "https".to_owned(),
                upload: name == "push",
                url: image.clone(),
                program,
            })
        });
        // The first one is the image; the others are its arguments.
        found.take(1).collect()
    }

    /// Reads addresses of object stores: `aws s3 cp a s3://bucket/b`, `gsutil cp a gs://bucket/b`.
    fn storage(&self) -> Vec<Connection> {
        let hosts = [("s3://", "s3.amazonaws.com"), ("gs://", "storage.googleapis.com")];
        let operands: Vec<&Expanded> = self.command.operands().collect();
        let is_copy = operands.iter().any(|word| matches!(word.text.as_str(), "cp" | "mv" | "sync" | "rsync"));
        let is_remote = |word: &Expanded| hosts.iter().any(|(start, _)| word.text.starts_with(start));
        let last = operands.iter().rposition(|word| is_remote(word));
        let is_last = last.is_some_and(|last| last + 1 == operands.len());
        let mut found = Vec::new();
        for (index, word) in operands.iter().enumerate() {
            let Some((start, host)) = hosts.iter().find(|(start, _)| word.text.starts_with(start)) else { continue };
            let mut connection = self.fixed(host, &start[..2], "", is_copy && is_last && Some(index) == last);
            connection.url = (*word).clone();
            found.push(connection);
        }
        if let Some(endpoint) = self.line("", &["--endpoint-url"]).values(&["--endpoint-url"]).last() {
            for connection in &mut found {
                let url = url::parse(endpoint);
                (connection.host, connection.port) = (url.host, url.port);
            }
        }
        found
    }

    /// Reads commands that publish packages.
    fn published(&self) -> Vec<Connection> {
        let name = self.command.name.as_str();
        let line = self.line("", &["--registry", "--repository-url", "--publish-url", "--index", "--host"]);
        let words: Vec<&str> = line.operands.iter().map(|word| word.text.as_str()).collect();
        let mut rows = PUBLISHES.iter().filter(|(program, start, ..)| *program == name && words.starts_with(start));
        let Some((_, _, host, option)) = rows.next() else { return Vec::new() };
        if line.has(&["--dry-run"]) {
            return Vec::new();
        }
        match line.values(&[*option]).last() {
            Some(url) => vec![self.connection(url, "https", true)],
            None => vec![self.fixed(host, "https", &format!("https://{host}"), true)],
        }
    }
}

/// Returns the port in `scp -P`, `rsync --port` and `rsync -e 'ssh -p …'`.
fn copy_port(program: &str, line: &Line) -> Option<u16> {
    let option = if program == "scp" { ["-P", "-P"] } else { ["--port", "--port"] };
    if let Some(port) = line.values(&option).last() {
        return port.text.parse().ok();
    }
    let shell = line.values(&["-e", "--rsh"]).last().filter(|_| program == "rsync")?;
    let behind = shell.text.split_once(" -p").map(|(_, behind)| behind.trim_start())?;
    behind.split(' ').next()?.parse().ok()
}

/// Removes the prefix of a version control system: `git+https://host`.
fn without_prefix(word: &Expanded) -> Expanded {
    let scheme = word.text.find("://").unwrap_or(0);
    let start = word.text[..scheme].rfind(['+', '@', ' ', '=']).map_or(0, |at| at + 1);
    if start == 0 { word.clone() } else { word.part(start..word.text.len()) }
}
