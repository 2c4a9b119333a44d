//! Recursive descent parser.

use super::lexer::{Lexer, Token};
use super::{Comprehension, Expr, ExprKind, Name, Operator, Span};
use crate::error::{Error, Problem};
use crate::limits;

/// Words that CEL keeps for later use.
const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Parses an expression.
///
/// # Errors
///
/// If the text is not an expression, or exceeds a limit.
pub(crate) fn parse(text: &str) -> Result<Expr, Error> {
    if text.len() > limits::BYTES {
        return Err(Error::new(Span::new(0, text.len()), Problem::TooLong(text.len())));
    }
    let mut lexer = Lexer::new(text);
    let (token, span) = lexer.next_token()?;
    let mut parser = Parser { lexer, token, span, before: Span::default(), nodes: 0, depth: 0, comprehensions: 0 };
    let expression = parser.expression()?;
    match parser.token {
        Token::End => Ok(expression),
        _ => Err(parser.expected("an operator or the end")),
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
    span: Span,
    /// Place of the token before.
    before: Span,
    nodes: usize,
    depth: usize,
    comprehensions: usize,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<Token, Error> {
        let (token, span) = self.lexer.next_token()?;
        self.before = std::mem::replace(&mut self.span, span);
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.token, Token::Symbol(own) if own == symbol)
    }

    fn accept(&mut self, symbol: &str) -> Result<bool, Error> {
        let is = self.is(symbol);
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), Error> {
        match self.accept(symbol)? {
            true => Ok(()),
            false => Err(self.expected(symbol)),
        }
    }

    fn expected(&self, expected: &'static str) -> Error {
        let found = match &self.token {
            Token::Name(name) => format!("`{name}`"),
            Token::Int(_) | Token::Double(_) => "a number".to_owned(),
            Token::String(_) => "a string".to_owned(),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::End => "the end".to_owned(),
        };
        let expected = match expected {
            ")" => "`)`",
            "]" => "`]`",
            "}" => "`}`",
            "(" => "`(`",
            ":" => "`:`",
            other => other,
        };
        let error = Error::new(self.span, Problem::Expected { expected, found });
        match &self.token {
            Token::Name(word) if word.eq_ignore_ascii_case("and") => error.help("write `&&`"),
            Token::Name(word) if word.eq_ignore_ascii_case("or") => error.help("write `||`"),
            // `not x`: the name `not` is before the token.
            _ if self.before.text(self.lexer.source()).eq_ignore_ascii_case("not") => error.help("write `!`"),
            _ => error,
        }
    }

    fn node(&mut self, span: Span, kind: ExprKind) -> Result<Expr, Error> {
        self.nodes += 1;
        match self.nodes > limits::NODES {
            true => Err(Error::new(span, Problem::TooManyNodes)),
            false => Ok(Expr { span, kind }),
        }
    }

    /// Runs a part of the parser one level deeper.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth == limits::DEPTH {
            return Err(Error::new(self.span, Problem::TooDeep));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Parses an expression with an optional `? … : …`.
    fn expression(&mut self) -> Result<Expr, Error> {
        self.deeper(|parser| {
            let condition = parser.binary(1)?;
            if !parser.accept("?")? {
                return Ok(condition);
            }
            let then = parser.expression()?;
            parser.expect(":")?;
            let otherwise = parser.expression()?;
            let span = condition.span.to(otherwise.span);
            let kind = ExprKind::Conditional {
                condition: Box::new(condition),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            };
            parser.node(span, kind)
        })
    }

    fn operator(&self) -> Option<Operator> {
        Some(match &self.token {
            Token::Name(name) if name == "in" => Operator::In,
            Token::Symbol(symbol) => match *symbol {
                "||" => Operator::Or,
                "&&" => Operator::And,
                "==" => Operator::Equal,
                "!=" => Operator::NotEqual,
                "<" => Operator::Less,
                "<=" => Operator::LessEqual,
                ">" => Operator::Greater,
                ">=" => Operator::GreaterEqual,
                "+" => Operator::Add,
                "-" => Operator::Subtract,
                "*" => Operator::Multiply,
                "/" => Operator::Divide,
                "%" => Operator::Remainder,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Parses operators of at least this precedence. A chain of arithmetic is a tree of the same height, so each of its operators
    /// adds one level of depth.
    fn binary(&mut self, least: u8) -> Result<Expr, Error> {
        let mut left = self.unary()?;
        let mut height = self.depth;
        while let Some(operator) = self.operator().filter(|operator| operator.precedence() >= least) {
            if matches!(operator, Operator::And | Operator::Or) {
                let mut parts = vec![left];
                while self.operator() == Some(operator) {
                    self.advance()?;
                    parts.push(self.binary(operator.precedence() + 1)?);
                    if self.nodes + parts.len() > limits::NODES {
                        return Err(Error::new(self.span, Problem::TooManyNodes));
                    }
                }
                left = self.chain(operator, parts)?;
                continue;
            }
            self.advance()?;
            height += 1;
            // The evaluation recurses once for each operator.
            if height > limits::DEPTH * 4 {
                return Err(Error::new(self.span, Problem::TooDeep));
            }
            let right = self.binary(operator.precedence() + 1)?;
            let span = left.span.to(right.span);
            left = self.node(span, ExprKind::Binary { operator, left: Box::new(left), right: Box::new(right) })?;
        }
        Ok(left)
    }

    /// Returns the tree of a chain of `&&` or `||`. A long chain is a balanced tree, because its evaluation recurses once for each
    /// level. The order of the parts is the same.
    fn chain(&mut self, operator: Operator, mut parts: Vec<Expr>) -> Result<Expr, Error> {
        if parts.len() > limits::DEPTH {
            let rest = parts.split_off(parts.len() / 2);
            parts = vec![self.chain(operator, parts)?, self.chain(operator, rest)?];
        }
        let mut parts = parts.into_iter();
        let Some(mut left) = parts.next() else { return Err(self.expected("a value")) };
        for right in parts {
            let span = left.span.to(right.span);
            left = self.node(span, ExprKind::Binary { operator, left: Box::new(left), right: Box::new(right) })?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, Error> {
        let start = self.span;
        if self.is("!") {
            return self.deeper(|parser| {
                parser.advance()?;
                let inner = parser.unary()?;
                let span = start.to(inner.span);
                parser.node(span, ExprKind::Not(Box::new(inner)))
            });
        }
        if self.is("-") {
            return self.deeper(|parser| {
                parser.advance()?;
                let inner = parser.unary()?;
                let span = start.to(inner.span);
                let kind = match inner.kind {
                    ExprKind::Int(number) => ExprKind::Int(-number),
                    ExprKind::Double(number) => ExprKind::Double(-number),
                    _ => ExprKind::Negate(Box::new(inner)),
                };
                parser.node(span, kind)
            });
        }
        self.member()
    }

    /// Parses a value with its fields, indexes and calls.
    fn member(&mut self) -> Result<Expr, Error> {
        let mut object = self.primary()?;
        let mut links = 0;
        loop {
            links += 1;
            if links > limits::DEPTH {
                return Err(Error::new(self.span, Problem::TooDeep));
            }
            if self.accept(".")? {
                let field = self.name("a field name")?;
                object = match self.is("(") {
                    true => self.method(object, field)?,
                    false => {
                        let span = object.span.to(field.span);
                        self.node(span, ExprKind::Select { object: Box::new(object), field })?
                    }
                };
            } else if self.accept("[")? {
                let index = self.expression()?;
                self.expect("]")?;
                let span = object.span.to(self.before);
                object = self.node(span, ExprKind::Index { object: Box::new(object), index: Box::new(index) })?;
            } else {
                return Ok(object);
            }
        }
    }

    fn name(&mut self, expected: &'static str) -> Result<Name, Error> {
        let Token::Name(text) = &self.token else { return Err(self.expected(expected)) };
        let name = Name { text: text.clone(), span: self.span };
        self.advance()?;
        Ok(name)
    }

    fn method(&mut self, object: Expr, name: Name) -> Result<Expr, Error> {
        let Some(kind) = Comprehension::from_name(&name.text) else {
            let arguments = self.arguments()?;
            let span = object.span.to(self.before);
            return self.node(span, ExprKind::Call { object: Some(Box::new(object)), name, arguments });
        };
        if self.comprehensions == limits::COMPREHENSIONS {
            return Err(Error::new(name.span, Problem::TooManyComprehensions));
        }
        self.comprehensions += 1;
        let arguments = self.arguments();
        self.comprehensions -= 1;
        let mut arguments = arguments?;
        let span = object.span.to(self.before);
        let invalid = || Error::new(span, Problem::ComprehensionArguments(kind.name()));
        let (Some(body), Some(variable), true) = (arguments.pop(), arguments.pop(), arguments.is_empty()) else {
            return Err(invalid());
        };
        let ExprKind::Name(text) = variable.kind else { return Err(invalid()) };
        let variable = Name { text, span: variable.span };
        let kind = ExprKind::Comprehension { kind, list: Box::new(object), variable, body: Box::new(body) };
        self.node(span, kind)
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, Error> {
        self.expect("(")?;
        self.items(")")
    }

    /// Parses expressions with commas between them, up to a closing bracket.
    fn items(&mut self, close: &'static str) -> Result<Vec<Expr>, Error> {
        let mut items = Vec::new();
        while !self.is(close) {
            items.push(self.expression()?);
            if !self.accept(",")? {
                break;
            }
        }
        self.expect(close)?;
        Ok(items)
    }

    fn primary(&mut self) -> Result<Expr, Error> {
        let start = self.span;
        let kind = match &self.token {
            Token::Int(number) => ExprKind::Int(*number),
            Token::Double(number) => ExprKind::Double(*number),
            Token::String(text) => ExprKind::String(text.clone()),
            Token::Name(name) => match name.as_str() {
                "null" => ExprKind::Null,
                "true" => ExprKind::Bool(true),
                "false" => ExprKind::Bool(false),
                word if RESERVED.contains(&word) => {
                    return Err(Error::new(start, Problem::ReservedWord(word.to_owned())));
                }
                _ => return self.name_or_call(),
            },
            Token::Symbol("(") => {
                self.advance()?;
                let mut inner = self.expression()?;
                self.expect(")")?;
                inner.span = start.to(self.before);
                return Ok(inner);
            }
            Token::Symbol("[") => {
                self.advance()?;
                let items = self.items("]")?;
                return self.node(start.to(self.before), ExprKind::List(items));
            }
            Token::Symbol("{") => return self.map(),
            _ => return Err(self.expected("a value")),
        };
        self.advance()?;
        self.node(start, kind)
    }

    fn map(&mut self) -> Result<Expr, Error> {
        let start = self.span;
        self.expect("{")?;
        let mut entries = Vec::new();
        while !self.is("}") {
            let Token::String(key) = &self.token else { return Err(Error::new(self.span, Problem::MapKey)) };
            let key = key.clone();
            self.advance()?;
            self.expect(":")?;
            entries.push((key, self.expression()?));
            if !self.accept(",")? {
                break;
            }
        }
        self.expect("}")?;
        self.node(start.to(self.before), ExprKind::Map(entries))
    }

    fn name_or_call(&mut self) -> Result<Expr, Error> {
        let name = self.name("a name")?;
        let start = name.span;
        if !self.is("(") {
            return self.node(start, ExprKind::Name(name.text));
        }
        let mut arguments = self.arguments()?;
        let span = start.to(self.before);
        if name.text != "has" {
            return self.node(span, ExprKind::Call { object: None, name, arguments });
        }
        match (arguments.pop().map(|argument| argument.kind), arguments.is_empty()) {
            (Some(ExprKind::Select { object, field }), true) => self.node(span, ExprKind::Has { object, field }),
            _ => Err(Error::new(span, Problem::HasArgument)),
        }
    }
}
