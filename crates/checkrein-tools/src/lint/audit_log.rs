//! Checks that this user can write the audit log. Writes nothing.

use checkrein::audit::AuditLog;
use checkrein::hook_files::Loaded;
use checkrein_dialects::config::{Diagnostic, Severity};

use super::{location, read_text, with_help};

/// Returns a diagnostic if the audit log of these files cannot be written. It is an error if gates close then.
pub fn audit_log(loaded: &Loaded) -> Option<Diagnostic> {
    let settings = loaded.audit.as_ref()?;
    let error = AuditLog::from_settings(settings).check_writable().err()?;
    let (severity, effect) = match settings.closed {
        true => (Severity::Error, "so every event that a hook could block is denied"),
        false => (Severity::Warning, "so events are not recorded"),
    };
    let setting = loaded.settings.iter().find(|setting| setting.key == "audit");
    let (file, line) = setting.map(|setting| (setting.file.clone(), setting.line)).unwrap_or_default();
    let text = format!("the audit log cannot be written, {effect}: {error}");
    let at = line.zip(read_text(&file)).map(|(line, text)| location(&text, line));
    Some(with_help(Diagnostic::of_file(severity, "audit-not-writable", file, text), at))
}
