//! `coverage --watch`: reports missed calls as agents make them.

use std::collections::HashSet;
use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use checkrein_tools::coverage::State;

use super::super::visible::visible_json;
use super::{Look, show};
use crate::exit::Exit;

/// Interval between two looks.
const INTERVAL: Duration = Duration::from_secs(2);

/// Runs until the process is interrupted. With `json`, prints one call per line.
pub(super) fn run(look: &Look, json: bool) -> Result<Exit> {
    let mut seen = HashSet::new();
    let mut is_first = true;
    loop {
        let report = look.report()?;
        let ids = show::ShortIds::new(&report);
        let mut out = anstream::stdout().lock();
        for call in report.calls.iter().filter(|call| matches!(call.state, State::NotJudged | State::NotObeyed)) {
            let key = (call.agent, call.session.clone(), call.call.clone(), call.digest.clone(), call.time);
            if !seen.insert(key) || is_first {
                continue;
            }
            if json {
                writeln!(out, "{}", visible_json(&serde_json::to_string(call)?))?;
            } else {
                let reason = call.reason.as_ref().map_or("", |reason| reason.code);
                write!(out, "{:<11}{reason:<18}", call.state.name().replace('-', " "))?;
                show::line(&mut out, call, &ids)?;
            }
        }
        if is_first && !json {
            writeln!(out, "{}", report.summary)?;
            writeln!(out, "watching for new calls; press Ctrl-C to stop")?;
        }
        out.flush()?;
        drop(out);
        is_first = false;
        std::thread::sleep(INTERVAL);
    }
}
