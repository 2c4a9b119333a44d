//! Depth of nested checkrein processes.
//!
//! A hook's command may start an agent or checkrein itself, which runs hooks again. Each level passes its depth on in a variable.
//! A project can set that variable, so on Linux the depth is the number of parent processes that are `checkrein hook`.

use checkrein::internal::DEPTH;

/// Recursion limit.
pub(super) const MAX_DEPTH: u32 = 5;

/// Maximum number of parent processes that are examined.
#[cfg(target_os = "linux")]
const MAX_PARENTS: usize = 256;

/// Returns the depth of this process. 0: no hook started it.
pub(super) fn depth() -> u32 {
    // Every hook gets the variable, so a process without it is not nested.
    let Some(variable) = std::env::var_os(DEPTH) else { return 0 };
    let claimed = variable.to_str().and_then(|depth| depth.parse().ok()).unwrap_or(0);
    #[cfg(target_os = "linux")]
    return counted().unwrap_or(claimed);
    #[cfg(not(target_os = "linux"))]
    claimed
}

/// Counts the parent processes that are `checkrein hook`. `None` if the system does not show processes.
#[cfg(target_os = "linux")]
fn counted() -> Option<u32> {
    let own = std::fs::read_link("/proc/self/exe").ok()?;
    let mut pid = parent_of("self")?;
    let mut count = 0;
    for _ in 0..MAX_PARENTS {
        if pid <= 1 {
            break;
        }
        let is_own = std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == own);
        if is_own && is_hook_call(pid) {
            count += 1;
        }
        let Some(parent) = parent_of(&pid.to_string()) else { break };
        pid = parent;
    }
    Some(count)
}

#[cfg(target_os = "linux")]
fn is_hook_call(pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).any(|word| word == b"hook")
}

#[cfg(target_os = "linux")]
fn parent_of(process: &str) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program is in parentheses and may contain anything.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[test]
    fn parent_process_is_found() {
        assert_eq!(super::parent_of("self"), Some(std::os::unix::process::parent_id()));
        assert_eq!(super::counted(), Some(0), "no test runs inside of a hook");
    }
}
