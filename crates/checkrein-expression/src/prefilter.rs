//! Prefilter of a condition: the texts that an element of a list of facts must have, so that the condition can be true.
//!
//! `commands.exists(c, c.program == "git" && …)` is false for a call without git, whatever the rest of the condition is. The texts
//! come from the checked expression. An unknown element of the list excludes nothing. A field that is a condition itself, as in
//! `paths.exists(p, p.secret)`, must have the text `true`.

use std::sync::Arc;

use crate::expression::Expression;
use crate::node::{Node, NodeKind};
use crate::syntax::{Comprehension, Operator};
use crate::types::{Field, Schema, Type};
use crate::value::{Object, Value};
use crate::variables::Variables;

/// Maximum number of demands, and of texts of one demand. A longer list takes as long as the evaluation.
const MOST: usize = 32;

/// Text of a field that is a condition itself.
const TRUE: &str = "true";

/// Demands on the elements of a list. If no element meets one of them, the condition is false, without a failure and without an
/// unknown part. The limit of steps is not reached either, because the condition is not evaluated.
#[derive(Debug, Clone)]
pub struct Prefilter {
    list: usize,
    demands: Vec<Demand>,
}

/// Texts of fields that one element must have: one text of each.
type Demand = Vec<(usize, Arc<[Arc<str>]>)>;

/// Names of fields, and the texts that one element must have: one text of each field.
pub type DemandTexts = Vec<(&'static str, Vec<Arc<str>>)>;

/// Demands without which a condition is false.
#[derive(Clone)]
struct Guard {
    /// The variable of a comprehension whose element must meet one of the demands. `None`: any element of the list.
    local: Option<usize>,
    demands: Vec<Demand>,
}

/// Properties of an expression.
#[derive(Default, Clone)]
struct Excluded {
    /// Set if a condition is false without its demands.
    guard: Option<Guard>,
    /// Set if a list has only elements that meet one of these demands.
    elements: Option<Vec<Demand>>,
    /// `true` for the list of the prefilter, and for a part of it that is known if the fields of `elements` are.
    is_part: bool,
}

struct Search<'a> {
    list: usize,
    fields: Vec<usize>,
    nodes: &'a [Node],
    /// Properties of the variables of the rule. Each is computed once, because variables can use others several times.
    variables: Vec<Excluded>,
    /// `true` for variables of comprehensions that are elements of the list. The outermost is the first.
    locals: Vec<bool>,
}

impl Prefilter {
    /// Returns the prefilter of a condition for a list of facts and fields of its elements, the cheapest first. `None`: other facts
    /// can make the condition true.
    pub fn new(
        condition: &Expression,
        variables: &Variables,
        facts: &'static Schema,
        list: &str,
        fields: &[&str],
    ) -> Option<Self> {
        let list = facts.fields.iter().position(|own| own.name == list)?;
        let own = element_fields(facts, list)?;
        let fields = fields.iter().filter_map(|name| own.iter().position(|own| own.name == *name)).collect();
        let mut search = Search { list, fields, nodes: &variables.nodes, variables: Vec::new(), locals: Vec::new() };
        for node in &variables.nodes {
            let excluded = search.excluded(node);
            search.variables.push(excluded);
        }
        let demands = search.excluded(&condition.node).guard?.demands;
        Some(Self { list, demands })
    }

    /// Returns the prefilter with these demands, as [`texts`](Self::texts) returns them. `None`: the facts have no such list or field.
    pub fn from_texts(facts: &'static Schema, list: &str, demands: &[&[(&str, &[&str])]]) -> Option<Self> {
        let list = facts.fields.iter().position(|own| own.name == list)?;
        let fields = element_fields(facts, list)?;
        let field = |(name, texts): &(&str, &[&str])| {
            let index = fields.iter().position(|own| own.name == *name)?;
            Some((index, texts.iter().map(|text| Arc::from(*text)).collect()))
        };
        let demands = demands.iter().map(|demand| demand.iter().map(field).collect()).collect::<Option<_>>()?;
        Some(Self { list, demands })
    }

    /// Returns the name of the list of facts.
    pub fn list(&self, facts: &'static Schema) -> &'static str {
        facts.fields.get(self.list).map_or("", |field| field.name)
    }

    /// Returns the demands: names of fields, and the texts that they can have.
    pub fn texts(&self, facts: &'static Schema) -> Vec<DemandTexts> {
        let fields = element_fields(facts, self.list).unwrap_or_default();
        let field = |(index, texts): &(usize, Arc<[Arc<str>]>)| {
            let name = fields.get(*index).map_or("", |field| field.name);
            (name, texts.iter().cloned().collect::<Vec<_>>())
        };
        self.demands.iter().map(|demand| demand.iter().map(field).collect()).collect()
    }

    /// `true` if the condition is false for these facts.
    pub fn excludes(&self, facts: &dyn Object) -> bool {
        let Value::List(list) = facts.field(self.list) else { return false };
        let is_excluded = |element: &Value| match element {
            Value::Object(object) => {
                // Demands of one rule usually begin with the same field.
                let mut first = None;
                !self.demands.iter().any(|demand| may_meet(&**object, demand, &mut first))
            }
            _ => false,
        };
        list.rest.is_none() && list.elements.iter().all(is_excluded)
    }
}

/// Returns the fields of the elements of a list of facts.
fn element_fields(facts: &'static Schema, list: usize) -> Option<&'static [Field]> {
    let Type::List(element) = &facts.fields.get(list)?.kind else { return None };
    let Type::Object(schema) = &**element else { return None };
    Some(schema.fields)
}

/// `true` unless a field has another text, and all fields before it are known.
///
/// `read` is the field that was read last, with its value.
fn may_meet(object: &dyn Object, demand: &Demand, read: &mut Option<(usize, Value)>) -> bool {
    for (field, texts) in demand {
        if read.as_ref().is_none_or(|(known, _)| known != field) {
            *read = Some((*field, object.field(*field)));
        }
        match read {
            Some((_, Value::String(own))) if texts.contains(own) => {}
            Some((_, Value::Bool(true))) if texts.iter().any(|text| **text == *TRUE) => {}
            Some((_, Value::String(_) | Value::Bool(_))) => return false,
            _ => return true,
        }
    }
    true
}

impl Search<'_> {
    fn excluded(&mut self, node: &Node) -> Excluded {
        match &node.kind {
            NodeKind::Fact(index) if *index == self.list => Excluded { is_part: true, ..Excluded::default() },
            NodeKind::Variable(index) => self.variables.get(*index).cloned().unwrap_or_default(),
            NodeKind::Binary { operator, left, right } => {
                Excluded { guard: self.binary(*operator, left, right), ..Excluded::default() }
            }
            NodeKind::Comprehension { kind, list, body } => self.comprehension(*kind, list, body),
            NodeKind::Field { .. } => Excluded { guard: self.guard(node, [TRUE.into()].into()), ..Excluded::default() },
            _ => Excluded::default(),
        }
    }

    fn binary(&mut self, operator: Operator, left: &Node, right: &Node) -> Option<Guard> {
        match operator {
            // A side that fails or is unknown has no effect if the other one is false.
            Operator::And => match (self.excluded(left).guard, self.excluded(right).guard) {
                (Some(one), Some(other)) if one.local.is_some() && one.local == other.local => {
                    match product(&one.demands, &other.demands) {
                        Some(demands) => Some(Guard { demands, ..one }),
                        None => Some(one),
                    }
                }
                (one, other) => one.or(other),
            },
            Operator::Or => {
                let (mut one, other) = (self.excluded(left).guard?, self.excluded(right).guard?);
                if one.local != other.local {
                    one.local = None;
                }
                one.demands.extend(other.demands);
                if one.demands.len() > MOST { None } else { Some(one) }
            }
            Operator::Equal => match (&left.kind, &right.kind) {
                (_, NodeKind::Constant(Value::String(text))) => self.guard(left, [text.clone()].into()),
                (NodeKind::Constant(Value::String(text)), _) => self.guard(right, [text.clone()].into()),
                _ => None,
            },
            Operator::In => match &self.resolved(right).kind {
                NodeKind::Constant(Value::List(list)) if list.rest.is_none() && list.elements.len() <= MOST => {
                    let text = |value: &Value| match value {
                        Value::String(text) => Some(text.clone()),
                        _ => None,
                    };
                    let texts: Option<Vec<_>> = list.elements.iter().map(text).collect();
                    self.guard(left, texts?.into())
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn comprehension(&mut self, kind: Comprehension, list: &Node, body: &Node) -> Excluded {
        let list = self.excluded(list);
        let mut elements = list.elements;
        let mut is_part = false;
        if list.is_part && kind != Comprehension::Map {
            let node = body;
            self.locals.push(true);
            let body = self.excluded(node).guard;
            self.locals.pop();
            let own = self.locals.len();
            // Any other condition may be unknown for an element, and then the rest of the filtered list is.
            is_part = matches!(operator(node), Some(Operator::Equal | Operator::In))
                && body.as_ref().is_some_and(|body| body.local == Some(own));
            elements = match (elements, body) {
                (Some(of_list), Some(body)) if body.local == Some(own) => {
                    product(&of_list, &body.demands).or(Some(of_list))
                }
                (Some(of_list), _) => Some(of_list),
                // A condition on other elements says nothing about those that a filter keeps.
                (None, Some(body)) if body.local == Some(own) || kind != Comprehension::Filter => Some(body.demands),
                (None, _) => None,
            };
        }
        match kind {
            Comprehension::Exists | Comprehension::ExistsOne => {
                let guard = elements.map(|demands| Guard { local: None, demands });
                Excluded { guard, ..Excluded::default() }
            }
            Comprehension::Filter => Excluded { elements, is_part, ..Excluded::default() },
            Comprehension::Map => Excluded { elements, ..Excluded::default() },
            Comprehension::All => Excluded::default(),
        }
    }

    /// Returns the expression of a variable, or else the expression itself.
    fn resolved<'n>(&'n self, node: &'n Node) -> &'n Node {
        match &node.kind {
            NodeKind::Variable(index) => self.nodes.get(*index).unwrap_or(node),
            _ => node,
        }
    }

    /// Returns the guard of a comparison with a field of an element of the list.
    fn guard(&self, node: &Node, texts: Arc<[Arc<str>]>) -> Option<Guard> {
        let NodeKind::Field { object, index } = &node.kind else { return None };
        let NodeKind::Local(local) = object.kind else { return None };
        let is_element = self.locals.get(local).copied().unwrap_or_default();
        if !is_element || !self.fields.contains(index) {
            return None;
        }
        Some(Guard { local: Some(local), demands: vec![vec![(*index, texts)]] })
    }
}

fn operator(node: &Node) -> Option<Operator> {
    match node.kind {
        NodeKind::Binary { operator, .. } => Some(operator),
        _ => None,
    }
}

/// Returns the demands that one element meets if it meets one of each list. `None`: there are too many.
fn product(one: &[Demand], other: &[Demand]) -> Option<Vec<Demand>> {
    if one.len().saturating_mul(other.len()) > MOST {
        return None;
    }
    let both = |left: &Demand, right: &Demand| left.iter().chain(right).cloned().collect();
    Some(one.iter().flat_map(|left| other.iter().map(move |right| both(left, right))).collect())
}
