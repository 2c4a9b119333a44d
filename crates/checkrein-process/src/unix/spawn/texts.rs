//! The words and variables of a new process, as the system wants them.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;

use libc::c_char;

use crate::launch::Launch;
use crate::marker::MARKER;

/// Variables for programs that would rather die than do without a file in the home directory which is there and cannot
/// be read.
const IN_A_CLOSED_HOME: &[(&str, &str)] = &[("GIT_CONFIG_GLOBAL", "/dev/null")];

/// All texts, one behind the other and each with a zero at its end, and where they are.
pub(super) struct Texts {
    /// The pointers are into it, so it stays as it is.
    bytes: Vec<u8>,
    /// The program, the directory, the words and a null, the variables and a null.
    pointers: Vec<*const c_char>,
    /// Where the variables begin.
    envp: usize,
}

const PROGRAM: usize = 0;
const CWD: usize = 1;
const ARGV: usize = 2;

impl Texts {
    pub(super) fn of(launch: &Launch<'_>) -> io::Result<Self> {
        let mut texts = Writer::default();
        texts.add(&[launch.program.as_os_str()])?;
        texts.add(&[launch.place.cwd().as_os_str()])?;
        for word in std::iter::once(launch.arg0).chain(launch.args.iter()) {
            texts.add(&[word])?;
        }
        let envp = texts.starts.len();
        for (name, value) in variables(launch) {
            texts.add(&[name, OsStr::new("="), value])?;
        }
        Ok(texts.finish(envp))
    }

    pub(super) fn program(&self) -> *const c_char {
        self.pointers[PROGRAM]
    }

    pub(super) fn cwd(&self) -> *const c_char {
        self.pointers[CWD]
    }

    /// Where the program is, seen from the host.
    pub(super) fn program_in_cwd(&self) -> PathBuf {
        let text = |number| self.bytes.split(|&byte| byte == 0).nth(number).unwrap_or_default();
        Path::new(OsStr::from_bytes(text(CWD))).join(OsStr::from_bytes(text(PROGRAM)))
    }

    pub(super) fn argv(&self) -> *const *const c_char {
        self.pointers[ARGV..].as_ptr()
    }

    pub(super) fn envp(&self) -> *const *const c_char {
        self.pointers[self.envp..].as_ptr()
    }
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl Writer {
    fn add(&mut self, parts: &[&OsStr]) -> io::Result<()> {
        self.starts.push(self.bytes.len());
        for part in parts {
            let part = part.as_bytes();
            if part.contains(&0) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            self.bytes.extend_from_slice(part);
        }
        self.bytes.push(0);
        Ok(())
    }

    fn finish(self, envp: usize) -> Texts {
        // The bytes are where they stay only now.
        let pointer = |start: &usize| self.bytes[*start..].as_ptr().cast::<c_char>();
        let (words, variables) = self.starts.split_at(envp);
        let pointers = words.iter().map(pointer).chain([ptr::null()]);
        let pointers = pointers.chain(variables.iter().map(pointer)).chain([ptr::null()]).collect();
        Texts { pointers, envp: envp + 1, bytes: self.bytes }
    }
}

/// The variables of a new process. Of a name that comes twice, the last value counts.
fn variables<'a>(launch: &Launch<'a>) -> Vec<(&'a OsStr, &'a OsStr)> {
    let own = [
        Some((OsStr::new(MARKER), launch.marker.value())),
        launch.pwd.map(|pwd| (OsStr::new("PWD"), pwd)),
        launch.temporary.map(|path| (OsStr::new("TMPDIR"), path.as_os_str())),
    ];
    let given = launch.place.variables().iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
    let closed_home = IN_A_CLOSED_HOME.iter().filter(|_| home_is_closed(launch));
    let own_wish = closed_home.filter(|(name, _)| launch.place.var(name).is_none());
    let own = own.into_iter().flatten().chain(own_wish.map(|(name, value)| (OsStr::new(name), OsStr::new(value))));
    let mut variables: Vec<(&OsStr, &OsStr)> = Vec::with_capacity(launch.place.variables().len() + 4);
    for (name, value) in given.chain(own) {
        match variables.iter_mut().find(|(have, _)| *have == name) {
            Some(variable) => variable.1 = value,
            None => variables.push((name, value)),
        }
    }
    variables
}

/// Whether the home directory is out of reach.
fn home_is_closed(launch: &Launch<'_>) -> bool {
    let (Some(files), Some(home)) =
        (launch.place.sandboxed().and_then(|sandbox| sandbox.files.as_ref()), launch.place.var("HOME").map(Path::new))
    else {
        return false;
    };
    !files.read.iter().chain(&files.write).any(|open| home.starts_with(open))
}
