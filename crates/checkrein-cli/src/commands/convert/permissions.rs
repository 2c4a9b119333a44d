//! `checkrein convert --permissions`: permission rules of Claude Code as rules of a native file.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use checkrein::Scope;
use checkrein::dialects::RuleDecision;
use checkrein::dialects::agents::{claude, native};
use checkrein::hook_files::FileStatus;
use checkrein_tools::convert::{ConvertedPermissions, Permission, convert_permissions, read_permissions};
use serde_json::json;

use super::super::{display_path, pluralize, print_failure, print_note, visible};
use super::{Arguments, check_extension, sources, write};
use crate::exit::{self, Exit, UsageErrorExt};

/// Runs the command.
pub fn run(arguments: &Arguments, dir: &Path) -> Result<Exit> {
    let (from, to) = (arguments.from.0, arguments.to.0);
    if from.name != claude::DIALECT.name || to.name != native::DIALECT.name {
        let error = anyhow!(
            "--permissions reads the settings of `claude` and writes a `native` file: pass --from claude --to native"
        );
        return Err(error).usage_error();
    }
    let converted = read(arguments, dir)?;
    let gates = converted.gates_lost();
    let refused = gates > 0 && !arguments.force;
    let output = arguments.output.as_ref().filter(|_| !refused);
    if let Some(path) = &arguments.output {
        check_extension(path, &converted.text, to).usage_error()?;
    }
    if let Some(path) = output {
        write(path, &converted.text, arguments.force)?;
    }
    let code = if converted.lost.is_empty() { exit::SUCCESS } else { exit::FAILURE };
    if arguments.json {
        let lost = converted.lost.iter().map(|(permission, why)| {
            json!({
                "hook": permission.text,
                "source": { "file": permission.file, "line": permission.line, "scope": scope(permission).to_string() },
                "what": why,
                "all": true,
                "gate": permission.decision != RuleDecision::Allow,
            })
        });
        let report = json!({
            "text": (!refused).then_some(&converted.text),
            "written_to": output,
            "lost": lost.collect::<Vec<_>>(),
            "gates_lost": gates,
        });
        writeln!(std::io::stdout(), "{report:#}")?;
        return Ok(code);
    }
    for (permission, why) in &converted.lost {
        let Permission { decision, text, file, line, .. } = permission;
        let place = display_path(Path::new(file));
        print_failure(&format!("{place}:{line}: `{text}` of `permissions.{decision}` is dropped: {why}"));
    }
    for key in &converted.other_keys {
        print_note(&format!("`permissions.{key}` has no counterpart and is left out"));
    }
    if refused {
        let rules = pluralize(gates, "rule");
        print_failure(&format!("nothing written: {rules} would no longer deny or ask (--force to write anyway)"));
    } else if output.is_none() {
        std::io::stdout().write_all(visible::result(&converted.text).as_bytes())?;
    }
    Ok(code)
}

fn scope(permission: &Permission) -> Scope {
    if permission.of_user { Scope::User } else { Scope::Project }
}

/// Reads and converts the permission rules of all files.
fn read(arguments: &Arguments, dir: &Path) -> Result<ConvertedPermissions> {
    let loaded = sources(arguments.from.0, &arguments.files, dir)?.without_managed().load();
    let (mut all, mut keys) = (Vec::new(), Vec::new());
    for file in loaded.files.iter().filter(|file| file.status == FileStatus::Found) {
        let name = file.path.display().to_string();
        let text = std::fs::read_to_string(&file.path).with_context(|| format!("cannot read {name}"))?;
        let of_user = arguments.files.is_empty() && file.scope == Scope::User;
        let (found, others) = read_permissions(&text, &name, of_user).map_err(|why| anyhow!("{name}: {why}"))?;
        all.extend(found);
        for key in others {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    if all.is_empty() {
        bail!("no permission rules to convert: no file has `permissions.deny`, `ask` or `allow`; name a settings file");
    }
    Ok(convert_permissions(&all, keys))
}
