//! The expression language of checkrein: expressions over facts about an event.
//!
//! The language is CEL (Common Expression Language) with three differences. Every name is checked before any event: an
//! expression with a misspelt field does not compile. A fact can be unknown, and the result then is unknown unless the known
//! parts decide. The work of an expression is limited.
//!
//! [`Expression::compile`] checks a text against an [`Environment`], and [`Expression::evaluate`] computes its value for the facts
//! of one event. The crate has no I/O and does not know hooks or agents.
//!
//! ```
//! use checkrein_expression::{Environment, Expression, Field, Object, Schema, Type, Value};
//!
//! static FACTS: Schema = Schema {
//!     name: "facts",
//!     doc: "",
//!     fields: &[Field { name: "program", kind: Type::String, doc: "Program that runs." }],
//!     methods: &[],
//! };
//!
//! #[derive(Debug)]
//! struct Facts(&'static str);
//!
//! impl Object for Facts {
//!     fn schema(&self) -> &'static Schema {
//!         &FACTS
//!     }
//!     fn field(&self, _: usize) -> Value {
//!         self.0.into()
//!     }
//! }
//!
//! let environment = Environment::new(&FACTS);
//! let rule = Expression::compile(r#"program in ["rm", "shred"]"#, &environment)?;
//! assert_eq!(rule.evaluate(&Facts("rm"))?.to_string(), "true");
//!
//! let error = Expression::compile(r#"prog == "rm""#, &environment).unwrap_err();
//! assert_eq!(error.to_string(), "unknown name `prog`; known names: program");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod ascii_classes;
mod check;
mod environment;
mod error;
mod evaluate;
mod expression;
mod failure;
mod functions;
pub mod limits;
mod node;
mod parts;
mod pattern;
mod prefilter;
mod syntax;
mod template;
mod testing;
mod types;
mod value;
mod variables;

#[cfg(test)]
mod tests;

pub use environment::{Environment, LiteralCheck};
pub use error::{Error, Problem};
pub use evaluate::{Inside, Step};
pub use expression::Expression;
pub use failure::{Failure, FailureKind};
pub use parts::PartRole;
pub use prefilter::{DemandTexts, Prefilter};
pub use syntax::Span;
pub use template::Template;
#[doc(hidden)]
pub use testing::exercise;
pub use types::{Field, Fit, Format, Function, Inner, Method, Schema, Type};
pub use value::{List, Object, PartialText, Unknown, Value};
pub use variables::Variables;
