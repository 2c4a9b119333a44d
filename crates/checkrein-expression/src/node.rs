//! The checked form of an expression: names are resolved and patterns are compiled.

use crate::pattern::{Globs, Pattern};
use crate::syntax::{Comprehension, Operator, Span};
use crate::types::Function;
use crate::value::Value;

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) kind: NodeKind,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    Constant(Value),
    /// A field of the facts, by its index.
    Fact(usize),
    /// A variable of the rule, by its index.
    Variable(usize),
    /// The variable of a comprehension, by its nesting.
    Local(usize),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
    /// A field of an object, by its index.
    Field {
        object: Box<Node>,
        index: usize,
    },
    /// A key of a map, or of a value whose type is known only when the rule runs.
    Key {
        object: Box<Node>,
        key: String,
    },
    Index {
        object: Box<Node>,
        index: Box<Node>,
    },
    HasKey {
        object: Box<Node>,
        key: String,
    },
    IsPresent(Box<Node>),
    Method {
        object: Box<Node>,
        index: usize,
        arguments: Vec<Node>,
    },
    /// A method of the facts, by its index.
    FactMethod {
        index: usize,
        arguments: Vec<Node>,
    },
    Function {
        function: &'static Function,
        arguments: Vec<Node>,
    },
    /// `startsWith`, `endsWith`, `contains` and `under`, which keep what is known of a text.
    Search {
        search: Search,
        text: Box<Node>,
        part: Box<Node>,
    },
    Matches {
        text: Box<Node>,
        pattern: Box<Pattern>,
    },
    Globs {
        text: Box<Node>,
        patterns: Box<Globs>,
    },
    Comprehension {
        kind: Comprehension,
        list: Box<Node>,
        body: Box<Node>,
    },
    Not(Box<Node>),
    Negate(Box<Node>),
    Binary {
        operator: Operator,
        left: Box<Node>,
        right: Box<Node>,
    },
    Conditional {
        condition: Box<Node>,
        then: Box<Node>,
        otherwise: Box<Node>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Search {
    StartsWith,
    EndsWith,
    Contains,
    Under,
}

impl Search {
    pub(crate) const NAMES: &[(&str, Self)] = &[
        ("startsWith", Self::StartsWith),
        ("endsWith", Self::EndsWith),
        ("contains", Self::Contains),
        ("under", Self::Under),
    ];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(own, _)| *own == name).map(|(_, search)| *search)
    }
}
