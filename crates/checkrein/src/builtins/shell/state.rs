//! Variables, arguments and directories of the interpreted shell.

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use super::ParseError;
use super::expanded::Expanded;
use super::work::Work;

/// Maximum number of known values of a variable.
pub(super) const VALUES: usize = 256;

/// Maximum number of known directories.
const DIRECTORIES: usize = 32;

/// Variables that a shell sets by itself. Their values are never known.
const DYNAMIC: &[&str] = &[
    "_",
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "BASHPID",
    "PPID",
    "UID",
    "EUID",
    "GROUPS",
    "FUNCNAME",
    "PIPESTATUS",
    "DIRSTACK",
    "SHELLOPTS",
    "BASHOPTS",
    "REPLY",
    "OPTARG",
    "OPTIND",
    "OLDPWD",
    "BASH_REMATCH",
    "BASH_COMMAND",
    "BASH_SUBSHELL",
    "BASH_ARGV",
    "BASH_ARGC",
    "BASH_LINENO",
    "BASH_SOURCE",
    "BASH_ARGV0",
    "BASH_ALIASES",
    "BASH_CMDS",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "COPROC",
    "COPROC_PID",
    "MAPFILE",
    "COMP_WORDBREAKS",
    "HISTCMD",
];

/// Possible values of a variable. An array has several elements.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Values {
    pub(super) known: Vec<Rc<[String]>>,
    /// `true` if other values are possible.
    pub(super) other: bool,
    pub(super) exported: bool,
    /// `true` if assignments may fail or change the value: `readonly`, `declare -i`.
    pub(super) fixed: bool,
}

impl Values {
    pub(super) fn one(text: impl Into<String>) -> Self {
        Self { known: vec![[text.into()].into()], ..Self::default() }
    }

    pub(super) fn unknown() -> Self {
        Self { other: true, ..Self::default() }
    }

    /// Adds the values of another variable.
    pub(super) fn join(&mut self, others: &Self, work: &mut Work) -> Result<(), ParseError> {
        let own = self.known.len();
        work.spend(others.known.len() * (1 + own))?;
        for value in &others.known {
            // The values of one variable differ from each other.
            if !self.known[..own].contains(value) {
                self.known.push(value.clone());
            }
        }
        self.other |= others.other;
        self.exported &= others.exported;
        self.fixed |= others.fixed;
        if self.known.len() > VALUES {
            self.known.clear();
            self.other = true;
        }
        Ok(())
    }
}

/// Knowledge of a running shell at one point of the text.
#[derive(Debug, Clone)]
pub(super) struct State {
    vars: Rc<HashMap<Rc<str>, Values>>,
    /// The arguments `$1` and so on, if known.
    pub(super) args: Option<Rc<[Expanded]>>,
    pub(super) cwds: Arc<[PathBuf]>,
    pub(super) cwd_known: bool,
    /// Directories before a `cd` that has succeeded if the next command runs, and whether there were no others.
    pub(super) before_cd: Option<(Arc<[PathBuf]>, bool)>,
}

impl State {
    pub(super) fn new(cwd: PathBuf) -> Self {
        Self { vars: Rc::default(), args: None, cwds: [cwd].into(), cwd_known: true, before_cd: None }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Values> {
        self.vars.get(name)
    }

    pub(super) fn set(&mut self, name: &str, mut values: Values, work: &mut Work) -> Result<(), ParseError> {
        if DYNAMIC.contains(&name) {
            return Ok(());
        }
        let shared = if Rc::strong_count(&self.vars) > 1 { self.vars.len() * COPY } else { 0 };
        work.spend(shared + COPY)?;
        if let Some(old) = self.vars.get(name) {
            values.exported |= old.exported;
            if old.fixed {
                values.other = true;
                values.join(old, work)?;
            }
        }
        Rc::make_mut(&mut self.vars).insert(name.into(), values);
        Ok(())
    }

    pub(super) fn update(
        &mut self,
        name: &str,
        work: &mut Work,
        change: impl FnOnce(&mut Values),
    ) -> Result<(), ParseError> {
        let mut values = self.get(name).cloned().unwrap_or_else(Values::unknown);
        work.spend(values.known.len())?;
        change(&mut values);
        self.set(name, values, work)
    }

    /// Puts a variable back.
    pub(super) fn restore(&mut self, name: &str, values: Option<Values>, work: &mut Work) -> Result<(), ParseError> {
        let shared = if Rc::strong_count(&self.vars) > 1 { self.vars.len() * COPY } else { 0 };
        work.spend(shared + COPY)?;
        let vars = Rc::make_mut(&mut self.vars);
        match values {
            Some(values) => vars.insert(name.into(), values),
            None => vars.remove(name),
        };
        Ok(())
    }

    /// Returns the names of variables that have other values in another state.
    pub(super) fn differences(&self, other: &Self, work: &mut Work) -> Result<Vec<Rc<str>>, ParseError> {
        if Rc::ptr_eq(&self.vars, &other.vars) {
            return Ok(Vec::new());
        }
        work.spend(self.vars.len() + other.vars.len())?;
        Ok(other
            .vars
            .iter()
            .filter(|(name, values)| self.get(name) != Some(values))
            .map(|(name, _)| name.clone())
            .collect())
    }

    /// Forgets all variables, except those for which `keeps` is true.
    pub(super) fn forget(&mut self, work: &mut Work, keeps: impl Fn(&str, &Values) -> bool) -> Result<(), ParseError> {
        work.spend(self.vars.len() * COPY)?;
        let kept = self.vars.iter().filter(|(name, values)| keeps(name, values));
        self.vars = Rc::new(kept.map(|(name, values)| (name.clone(), values.clone())).collect());
        Ok(())
    }

    /// Makes other values possible for all variables for which `is_open` is true.
    pub(super) fn open(&mut self, work: &mut Work, is_open: impl Fn(&str, &Values) -> bool) -> Result<(), ParseError> {
        let names: Vec<_> = self
            .vars
            .iter()
            .filter(|(name, values)| !values.other && is_open(name, values))
            .map(|(n, _)| n.clone())
            .collect();
        work.spend(self.vars.len())?;
        for name in names {
            self.update(&name, work, |values| values.other = true)?;
        }
        Ok(())
    }

    /// Adds all that is possible in another state.
    pub(super) fn join(&mut self, other: &Self, work: &mut Work) -> Result<(), ParseError> {
        if !Rc::ptr_eq(&self.vars, &other.vars) {
            work.spend((self.vars.len() + other.vars.len()) * COPY)?;
            let mut joined = HashMap::with_capacity(self.vars.len());
            for (name, values) in self.vars.iter() {
                let mut values = values.clone();
                match other.vars.get(name) {
                    Some(others) if *others == values => {}
                    Some(others) => values.join(others, work)?,
                    None => values.join(&Values::unknown(), work)?,
                }
                joined.insert(name.clone(), values);
            }
            for (name, values) in other.vars.iter().filter(|(name, _)| !self.vars.contains_key(*name)) {
                joined.insert(name.clone(), Values { other: true, exported: false, ..values.clone() });
            }
            self.vars = Rc::new(joined);
        }
        if self.args != other.args {
            self.args = None;
        }
        self.add_directories(&other.cwds, work)?;
        self.cwd_known &= other.cwd_known;
        self.before_cd = None;
        Ok(())
    }

    /// Returns the variables that programs get, sorted by name. A variable with several possible values is unknown.
    pub(super) fn exported(&self, work: &mut Work) -> Result<Vec<(String, Expanded)>, ParseError> {
        work.spend(self.vars.len())?;
        let mut exported = Vec::new();
        for (name, values) in self.vars.iter().filter(|(_, values)| values.exported) {
            let value = match (values.known.as_slice(), values.other) {
                ([known], false) if known.len() == 1 => Expanded::literal(known[0].as_str()),
                _ => Expanded::unknown_text(&format!("${name}")),
            };
            work.spend(16 + name.len() + value.text.len())?;
            exported.push((name.as_ref().to_owned(), value));
        }
        exported.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(exported)
    }

    /// Makes it possible that the last `cd` has failed.
    pub(super) fn add_failed_cd(&mut self, work: &mut Work) -> Result<(), ParseError> {
        if let Some((left, was_known)) = self.before_cd.take() {
            self.add_directories(&left, work)?;
            self.cwd_known &= was_known;
        }
        Ok(())
    }

    /// Adds possible directories.
    fn add_directories(&mut self, others: &Arc<[PathBuf]>, work: &mut Work) -> Result<(), ParseError> {
        if Arc::ptr_eq(&self.cwds, others) {
            return Ok(());
        }
        let mut all = self.cwds.to_vec();
        for cwd in others.iter() {
            work.spend(4 * all.len() + cwd.as_os_str().len())?;
            // The comparison of paths by their components takes long.
            if !all.iter().any(|own| own.as_os_str() == cwd.as_os_str()) {
                all.push(cwd.clone());
            }
        }
        self.limit(all, work)
    }

    /// Sets the directories. Too many are unknown.
    pub(super) fn limit(&mut self, mut all: Vec<PathBuf>, work: &mut Work) -> Result<(), ParseError> {
        if all.len() > DIRECTORIES {
            all.truncate(DIRECTORIES);
            self.cwd_known = false;
        }
        work.spend(all.iter().map(|cwd| cwd.as_os_str().len()).sum())?;
        self.cwds = all.into();
        Ok(())
    }

    /// `true` if everything that is possible in the other state is possible here.
    pub(super) fn covers(&self, other: &Self, work: &mut Work) -> Result<bool, ParseError> {
        if !Rc::ptr_eq(&self.vars, &other.vars) {
            work.spend(self.vars.len())?;
            let covered = |(name, values): (&Rc<str>, &Values)| {
                values.other || other.vars.get(name).is_some_and(|others| others == values)
            };
            if !self.vars.iter().all(covered) {
                return Ok(false);
            }
        }
        let same_args = self.args.is_none() || self.args == other.args;
        let has = |cwd: &PathBuf| self.cwds.iter().any(|own| own.as_os_str() == cwd.as_os_str());
        work.spend(4 * self.cwds.len() * other.cwds.len())?;
        let same_cwds = !self.cwd_known || (other.cwd_known && other.cwds.iter().all(has));
        Ok(same_args && same_cwds)
    }

    /// Makes everything unknown in which the other state differs.
    pub(super) fn widen(&mut self, other: &Self, work: &mut Work) -> Result<(), ParseError> {
        let before = self.clone();
        self.join(other, work)?;
        let differs = |name: &str, _: &Values| before.get(name) != other.get(name);
        self.open(work, differs)?;
        if before.args != other.args {
            self.args = None;
        }
        let is_same = |(own, other): (&PathBuf, &PathBuf)| own.as_os_str() == other.as_os_str();
        if before.cwds.len() != other.cwds.len()
            || !before.cwds.iter().zip(other.cwds.iter()).all(is_same)
            || !other.cwd_known
        {
            self.cwd_known = false;
        }
        Ok(())
    }
}

/// Work of copying one variable.
const COPY: usize = 8;
