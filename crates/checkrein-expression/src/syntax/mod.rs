//! Syntax of expressions: tokens, the tree, and the parser.
//!
//! The grammar is that of CEL (Common Expression Language). Byte strings, unsigned numbers, messages and qualified names with a
//! leading dot are rejected with a message, because no fact needs them.

mod lexer;
mod parser;

pub(crate) use parser::parse;

/// Byte range of a text, without the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Byte after the last one.
    pub end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: position(start), end: position(end) }
    }

    pub(crate) fn to(self, end: Self) -> Self {
        Self { start: self.start, end: end.end }
    }

    /// Returns the part of a text. Empty if the span is not in the text.
    pub fn text(self, source: &str) -> &str {
        source.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// One node of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expr {
    pub(crate) span: Span,
    pub(crate) kind: ExprKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ExprKind {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    String(String),
    Name(String),
    List(Vec<Expr>),
    /// Keys are string literals.
    Map(Vec<(String, Expr)>),
    Select {
        object: Box<Expr>,
        field: Name,
    },
    Index {
        object: Box<Expr>,
        index: Box<Expr>,
    },
    /// `has(object.field)`.
    Has {
        object: Box<Expr>,
        field: Name,
    },
    /// A call of a function, or of a method if there is an object.
    Call {
        object: Option<Box<Expr>>,
        name: Name,
        arguments: Vec<Expr>,
    },
    /// `list.exists(variable, body)` and similar macros.
    Comprehension {
        kind: Comprehension,
        list: Box<Expr>,
        variable: Name,
        body: Box<Expr>,
    },
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary {
        operator: Operator,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Conditional {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
}

/// A name with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comprehension {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

impl Comprehension {
    pub(crate) const NAMES: &[(&str, Self)] = &[
        ("all", Self::All),
        ("exists", Self::Exists),
        ("exists_one", Self::ExistsOne),
        ("filter", Self::Filter),
        ("map", Self::Map),
    ];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(own, _)| *own == name).map(|(_, kind)| *kind)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Operator {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::In => "in",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }

    /// Returns how strongly the operator binds. Operators of equal strength associate to the left.
    pub(crate) fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Equal
            | Self::NotEqual
            | Self::Less
            | Self::LessEqual
            | Self::Greater
            | Self::GreaterEqual
            | Self::In => 3,
            Self::Add | Self::Subtract => 4,
            Self::Multiply | Self::Divide | Self::Remainder => 5,
        }
    }
}

impl Expr {
    /// Calls a function for each direct part.
    pub(crate) fn for_each_part<'a>(&'a self, mut visit: impl FnMut(&'a Self)) {
        match &self.kind {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Double(_)
            | ExprKind::String(_)
            | ExprKind::Name(_) => {}
            ExprKind::List(items) => items.iter().for_each(visit),
            ExprKind::Map(entries) => entries.iter().for_each(|(_, value)| visit(value)),
            ExprKind::Select { object, .. } | ExprKind::Has { object, .. } => visit(object),
            ExprKind::Index { object, index } => {
                visit(object);
                visit(index);
            }
            ExprKind::Call { object, arguments, .. } => {
                if let Some(object) = object {
                    visit(object);
                }
                arguments.iter().for_each(visit);
            }
            ExprKind::Comprehension { list, body, .. } => {
                visit(list);
                visit(body);
            }
            ExprKind::Not(inner) | ExprKind::Negate(inner) => visit(inner),
            ExprKind::Binary { left, right, .. } => {
                visit(left);
                visit(right);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                visit(condition);
                visit(then);
                visit(otherwise);
            }
        }
    }
}
