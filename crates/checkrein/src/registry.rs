//! [`Registry`]: handler kinds, functions and dialects by name.
//!
//! Hosts register their own; the engine looks up the handler of each hook when it loads the hook. Each engine has its own
//! registry, and there is no global one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, LazyLock};

use checkrein_dialects::Dialect;

use crate::handler::{Builtin, BuiltinFactory, CommandFactory, HandlerFactory};
use crate::policy::RuleFactory;

/// Kinds of handlers, functions and dialects by name. Each engine has its own registry.
///
/// ```
/// use checkrein::handler::Builtin;
/// use checkrein::{Opinion, Registry};
///
/// let mut registry = Registry::new();
/// registry.register_builtin("be_kind", Builtin::immediate(|_| Ok(Opinion::context("be kind"))))?;
/// assert!(registry.builtin("be_kind").is_some());
/// assert!(registry.handler("command").is_some());
/// # Ok::<(), checkrein::handler::RegisterError>(())
/// ```
#[derive(Clone)]
pub struct Registry {
    handlers: BTreeMap<String, Arc<dyn HandlerFactory>>,
    builtins: BTreeMap<String, Builtin>,
    dialects: Vec<&'static Dialect>,
    /// Builtins of checkrein, created on first use. Clones share them, because some have state.
    included: Option<IncludedBuiltins>,
}

type IncludedBuiltins = Arc<LazyLock<BTreeMap<&'static str, Builtin>>>;

/// Error of registering a handler or a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is empty.
    #[error("the name is empty; a handler or builtin needs a name")]
    EmptyName,
}

/// Error of registering a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DialectNameError {
    /// The dialect has no name.
    #[error("the dialect has no name; files cannot refer to it")]
    Empty,
    /// Another dialect has the name.
    #[error("the dialect name `{0}` is taken; choose another name")]
    Taken(&'static str),
}

impl Registry {
    /// Creates a registry with the handlers `command`, `builtin`, `rule` and `http`, and the functions of checkrein. `http` needs the
    /// cargo feature of that name.
    pub fn new() -> Self {
        let mut registry = Self::empty();
        registry.handlers.insert("command".to_owned(), Arc::new(CommandFactory));
        #[cfg(feature = "http")]
        registry.handlers.insert("http".to_owned(), Arc::new(crate::handler::HttpFactory::new()));
        registry.handlers.insert("builtin".to_owned(), Arc::new(BuiltinFactory));
        registry.handlers.insert("rule".to_owned(), Arc::new(RuleFactory));
        registry.included = Some(Arc::new(LazyLock::new(|| crate::builtins::all().into_iter().collect())));
        registry
    }

    /// Creates an empty registry.
    pub fn empty() -> Self {
        Self { handlers: BTreeMap::new(), builtins: BTreeMap::new(), dialects: Vec::new(), included: None }
    }

    /// Adds a kind of handler, or replaces the one of that name.
    ///
    /// # Errors
    /// The name is empty.
    pub fn register(&mut self, kind: impl Into<String>, factory: impl HandlerFactory) -> Result<(), RegisterError> {
        self.handlers.insert(checked(kind.into())?, Arc::new(factory));
        Ok(())
    }

    /// Adds a function, or replaces the one of that name.
    ///
    /// # Errors
    /// The name is empty.
    pub fn register_builtin(&mut self, name: impl Into<String>, builtin: Builtin) -> Result<(), RegisterError> {
        self.builtins.insert(checked(name.into())?, builtin);
        Ok(())
    }

    /// Adds a dialect of the host. Hook files that the engine reads can name it in `include`.
    ///
    /// # Errors
    /// The dialect has no name, or another dialect has it: one of checkrein's or one that was registered before.
    pub fn register_dialect(&mut self, dialect: &'static Dialect) -> Result<(), DialectNameError> {
        if dialect.name.trim().is_empty() {
            return Err(DialectNameError::Empty);
        }
        if self.dialect(dialect.name).is_some() {
            return Err(DialectNameError::Taken(dialect.name));
        }
        self.dialects.push(dialect);
        Ok(())
    }

    /// Returns the dialect of this name: one of checkrein's, or a registered one.
    pub fn dialect(&self, name: &str) -> Option<&'static Dialect> {
        checkrein_dialects::find(name).or_else(|| self.dialects().find(|dialect| dialect.name == name))
    }

    /// Returns the registered dialects, without those of checkrein.
    pub fn dialects(&self) -> impl Iterator<Item = &'static Dialect> {
        self.dialects.iter().copied()
    }

    /// Returns the kind of handler with this name.
    pub fn handler(&self, kind: &str) -> Option<Arc<dyn HandlerFactory>> {
        self.handlers.get(kind).cloned()
    }

    /// Returns the function of this name. A registered function takes precedence over one of checkrein.
    pub fn builtin(&self, name: &str) -> Option<Builtin> {
        let included = || self.included.as_ref()?.get(name);
        self.builtins.get(name).or_else(included).cloned()
    }

    /// Returns the names of all kinds of handlers.
    pub fn handler_kinds(&self) -> impl Iterator<Item = &str> {
        self.handlers.keys().map(String::as_str)
    }

    /// Returns the names of all functions, sorted.
    pub fn builtin_names(&self) -> impl Iterator<Item = &str> {
        let included = self.included.iter().flat_map(|included| included.keys().copied());
        self.builtins.keys().map(String::as_str).chain(included).collect::<BTreeSet<_>>().into_iter()
    }
}

fn checked(name: String) -> Result<String, RegisterError> {
    if name.trim().is_empty() { Err(RegisterError::EmptyName) } else { Ok(name) }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("handlers", &self.handlers.keys())
            .field("builtins", &self.builtin_names().collect::<Vec<_>>())
            .field("dialects", &self.dialects)
            .finish()
    }
}
