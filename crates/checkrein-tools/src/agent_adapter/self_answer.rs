//! Calls with which an agent would answer its own questions.
//!
//! They are always denied, also without hooks and whatever the failure policy is. See [`approvals`](crate::approvals).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein::audit::AuditEntry;
use checkrein::internal::{Attempt, regular_file};
use checkrein_core::{Event, HookInfo, Opinion, RawJson, Rules, Scope, Settlement, Source};
use checkrein_dialects::AnswerExtras;

use super::failure_response::append;
use super::{AgentAdapter, AgentResponse};
use crate::approvals::ApprovalStore;

/// Reason of a denial, for the model.
const ONLY_THE_USER: &str = "only the user may answer the questions of hooks, with `checkrein approve` or on the live page, and the id \
                             is for the user: tell the user the command, do not run it and do not write it to a file";

/// Tools that can run a command or prepare one, by their shared names.
const TOOLS: &[&str] = &["Bash", "Write", "Edit", "MultiEdit", "NotebookEdit"];

/// Parts of paths in the directories of approvals and of the resident process.
const PRIVATE_PATHS: &[&str] = &["checkrein/approvals", "state/checkrein/run", "checkrein/page.port"];

/// File in the directory of the resident process with the port of the live page.
const PORT_FILE: &str = "page.port";

impl AgentAdapter {
    /// `true` if a tool call runs a command with which only the user may answer, gets the id of an approval that waits, names the
    /// files of approvals, or connects to the live page.
    pub(super) fn answers_itself(&self, event: &Event, dir: &Path) -> bool {
        let Some(input) = event.tool_input() else { return false };
        let cwd = event.envelope.cwd.as_deref().map_or(dir, Path::new);
        let home = self.locations.as_ref().and_then(|locations| locations.home.as_deref()).and_then(Path::to_str);
        let attempt = Attempt::new(event, cwd, home);
        let mut names = event.tool_aliases().chain(event.tool_name());
        let gets_id = || {
            let is_in =
                |store: &ApprovalStore| store.id_in(input.as_str()).or_else(|| store.id_in(&attempt.words())).is_some();
            self.approvals.as_ref().is_some_and(is_in)
        };
        attempt.answers_questions()
            || self.names_private_files(event, input)
            || attempt.names_files(&self.private_directories())
            || self.connects_to_page(event, input)
            || (names.any(|name| TOOLS.contains(&name) || name.starts_with("mcp__")) && gets_id())
    }

    /// `true` if a command or a path names the directory of approvals or of the resident process. No tool of an agent needs them.
    fn names_private_files(&self, event: &Event, input: &RawJson) -> bool {
        let is_shell = is_shell(event);
        let own: Vec<_> = self.approvals.iter().map(|store| store.directory().to_string_lossy().into_owned()).collect();
        let runtime = self.runtime_directories();
        values(input).any(|text| {
            let is_path = is_shell || !text.contains('\n');
            let in_state = || text.contains("state/checkrein") && text.contains("approvals");
            let in_runtime = || text.contains("XDG_RUNTIME_DIR") && text.contains("checkrein");
            is_path
                && (PRIVATE_PATHS.iter().any(|path| contains_path(&text, path))
                    || own.iter().any(|path| text.contains(path.as_str()))
                    || runtime.iter().any(|path| path.to_str().is_some_and(|path| contains_path(&text, path)))
                    || (is_shell && (in_state() || in_runtime())))
        })
    }

    /// `true` if a call connects to the port of the live page on this machine.
    fn connects_to_page(&self, event: &Event, input: &RawJson) -> bool {
        let ports = self.page_ports();
        let is_shell = is_shell(event);
        !ports.is_empty()
            && values(input).any(|text| {
                ports.iter().any(|port| {
                    // A shell has many ways to write an address, such as `nc localhost 4711` and `/dev/tcp/localhost/4711`.
                    text.match_indices(port.as_str()).any(|(at, _)| {
                        let before = text[..at].chars().next_back();
                        let after = text[at + port.len()..].chars().next();
                        let is_number =
                            !before.is_some_and(|c| c.is_ascii_digit()) && !after.is_some_and(|c| c.is_ascii_digit());
                        is_number && (is_shell || before == Some(':'))
                    })
                })
            })
    }

    /// Directories of approvals and of the resident process.
    fn private_directories(&self) -> Vec<PathBuf> {
        let approvals = self.approvals.iter().map(|store| store.directory().to_owned());
        approvals.chain(self.runtime_directories()).collect()
    }

    /// Directories in which the resident process may have its socket and the port of its page.
    fn runtime_directories(&self) -> Vec<PathBuf> {
        let mut all = Vec::new();
        #[cfg(unix)]
        all.push(PathBuf::from(format!("/run/user/{}/checkrein", rustix::process::geteuid().as_raw())));
        if let Some(dir) = std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty()) {
            all.push(Path::new(&dir).join("checkrein"));
        }
        // Beside the directory of approvals, if the system has no runtime directory.
        all.extend(self.approvals.iter().filter_map(|store| Some(store.directory().parent()?.join("run"))));
        all
    }

    /// Ports of the live page. Empty if no resident process runs.
    fn page_ports(&self) -> Vec<String> {
        let read = |dir: PathBuf| {
            let text = regular_file::read_text(&dir.join(PORT_FILE), 64).ok()?;
            text.trim().parse::<u16>().ok().map(|port| port.to_string())
        };
        self.runtime_directories().into_iter().filter_map(read).collect()
    }

    /// Denies a call that answers itself, and records the attempt in the audit log.
    pub(super) fn deny_self_answer(&self, event: &Event) -> AgentResponse {
        let kind = event.kind();
        let hook = Arc::new(HookInfo::new("checkrein", Source::for_scope(Scope::Code)));
        let mut settlement = Settlement::new(&Rules::NATIVE, event);
        let _ = settlement.push(0, &hook, &Opinion::deny(ONLY_THE_USER));
        let answer = self.agent.render_verdict_with(event, &settlement.finish(), AnswerExtras::default());
        let entry = AuditEntry::refusal(Some(&kind), ONLY_THE_USER);
        let mut notes: Vec<_> = self.load_audit_log(&kind).and_then(|log| append(&log, entry)).into_iter().collect();
        notes.extend(answer.notes.iter().cloned());
        AgentResponse { answer, undelivered_notes: notes.clone(), notes, ..AgentResponse::default() }
    }
}

fn is_shell(event: &Event) -> bool {
    event.tool_aliases().chain(event.tool_name()).any(|name| name == "Bash")
}

/// Texts of the fields of an input, without the description of a command.
fn values(input: &RawJson) -> impl Iterator<Item = String> + '_ {
    let entries = input.entries().into_iter().flatten().filter(|entry| entry.key() != "description");
    entries.map(|entry| entry.text().unwrap_or_else(|| entry.value().into()).into_owned())
}

/// `true` if a text contains a path, and not a longer name.
fn contains_path(text: &str, path: &str) -> bool {
    let ends =
        |at: usize| !text[at + path.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || "-_.".contains(c));
    text.match_indices(path).any(|(at, _)| ends(at))
}
