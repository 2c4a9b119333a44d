//! Who may put hooks in the shadow, and what counts where one file is included in the shadow and otherwise too.

use checkrein_core::Scope;

use super::loaded_file::LoadedFile;
use crate::real_path::real_path_or_same;

/// How far away whoever wrote a file is. A file beside the project's may come with the repository, whatever its name says.
fn distance(scope: Scope) -> u8 {
    match scope {
        Scope::Managed => 0,
        Scope::User | Scope::Code => 1,
        _ => 2,
    }
}

/// Whether a file of one scope can put hooks of another in the shadow: nobody can take the force out of what is not his.
pub(super) fn may_put(by: Scope, of: Scope) -> bool {
    distance(by) <= distance(of)
}

/// Whose word counts that what is included from here runs in the shadow.
pub(super) fn outermost(outer: Option<Scope>, inner: Option<Scope>) -> Option<Scope> {
    [outer, inner].into_iter().flatten().min_by_key(|by| distance(*by))
}

/// Leaves one of two readings of a file, in the shadow and in force: that of whoever is nearer, and of equals that in force.
pub(super) fn settle(files: &mut Vec<LoadedFile>) {
    if files.iter().all(|file| !file.in_shadow) {
        return;
    }
    let real = |file: &LoadedFile| {
        let path = &file.state.path;
        (real_path_or_same(path), file.state.dialect)
    };
    let readings: Vec<_> = files.iter().map(|file| (real(file), file.in_shadow, file.included_by)).collect();
    let loses = |at: usize| {
        let (own, in_shadow, by) = &readings[at];
        readings.iter().enumerate().any(|(other_at, (other, other_in_shadow, other_by))| {
            let same = other_at != at && own == other && in_shadow != other_in_shadow;
            let (own, other) = (distance(*by), distance(*other_by));
            same && (other < own || (other == own && *in_shadow))
        })
    };
    let lost: Vec<_> = (0..readings.len()).map(loses).collect();
    let mut lost = lost.into_iter();
    files.retain(|_| !lost.next().unwrap_or(false));
}
