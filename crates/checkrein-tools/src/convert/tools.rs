//! Translation of the tools in matchers, rules and input patterns, through the common names of the dialects' tool tables.

use checkrein_core::{EventKind, Grammar, Matcher, Syntax};
use checkrein_dialects::{Dialect, HookSpec, ToolRow, is_common_tool};

/// A hook with the tool names of another agent.
pub(super) struct Translation {
    /// The hook. Several, if one entry cannot contain all names.
    pub(super) hooks: Vec<HookSpec>,
    /// Lost parts, and `true` if the hook then guards less.
    pub(super) lost: Vec<(String, bool)>,
}

/// Translates the tool names of a hook, or returns the reason why the other agent cannot have it.
pub(super) fn translate(hook: &HookSpec, to: &'static Dialect) -> Result<Translation, String> {
    let mut translation = Translation { hooks: vec![hook.clone()], lost: Vec::new() };
    if hook.dialect.agent() == to.agent() {
        return Ok(translation);
    }
    let vocabulary = Vocabulary { from: hook.dialect, to };
    translation.hooks = vocabulary.with_matcher(hook, &mut translation.lost)?;
    if let Some(rule) = &hook.permission_rule {
        let names = vocabulary.rule_tools(&rule.tool)?;
        let with_rule = |hook: &HookSpec, name: &String| {
            let mut hook = hook.clone();
            if let Some(rule) = &mut hook.permission_rule {
                rule.tool.clone_from(name);
            }
            hook
        };
        let hooks = translation.hooks.iter().flat_map(|hook| names.iter().map(move |name| with_rule(hook, name)));
        translation.hooks = hooks.collect();
    }
    if to.has_all_events {
        let tools = vocabulary.selected_tools(|name| hook.matcher.matches(name));
        for input in translation.hooks.iter_mut().flat_map(|hook| &mut hook.input) {
            let rows = tools.iter().flat_map(|tool| tool.inputs);
            if let Some(row) = rows.into_iter().find(|row| !row.is_seen() && row.own == input.field) {
                row.common.clone_into(&mut input.field);
            }
        }
    }
    Ok(translation)
}

/// New names in a matcher.
enum Names {
    /// The pattern selects equivalent tools as it is.
    Unchanged,
    List(Vec<String>),
    Pattern(Matcher),
}

/// Tools of two agents.
struct Vocabulary {
    from: &'static Dialect,
    to: &'static Dialect,
}

/// Names that agents have for a tool of an MCP server, by their different forms.
const MCP_FORMS: [&str; 6] = ["mcp__s__t", "mcp_s_t", "s-t", "s__t", "MCP:t", "@s/t"];

impl Vocabulary {
    fn with_matcher(&self, hook: &HookSpec, lost: &mut Vec<(String, bool)>) -> Result<Vec<HookSpec>, String> {
        let to = self.to;
        let is_about_tools = |kind: &EventKind| kind.contract().matched_on.as_deref() == Some("tool_name");
        let (tool_kinds, other_kinds): (Vec<_>, Vec<_>) = hook.kinds.iter().cloned().partition(is_about_tools);
        if hook.matcher.is_everything() || tool_kinds.is_empty() {
            return Ok(vec![hook.clone()]);
        }
        // The encoder reports events that the agent does not have.
        let has_event = |kind: &&EventKind| to.has_all_events || to.row(kind).is_some();
        if let Some(kind) = tool_kinds.iter().filter(has_event).find(|kind| !to.is_matched(kind)) {
            let (name, pattern) = (to.title(), hook.matcher.pattern());
            return Err(format!("{name} has no matchers for `{kind}`, so `{pattern}` would become every tool"));
        }
        let of_kinds = |kinds: &[EventKind], matcher: Option<Matcher>| {
            let mut hook = hook.clone();
            hook.kinds = kinds.to_vec();
            if let Some(matcher) = matcher {
                hook.matcher = matcher;
            }
            hook
        };
        let mut hooks = Vec::new();
        match self.names(&hook.matcher, lost)? {
            Names::Unchanged => return Ok(vec![hook.clone()]),
            Names::Pattern(matcher) => hooks.push(of_kinds(&tool_kinds, Some(matcher))),
            Names::List(names) => {
                let all = Matcher::names(&names);
                let is_expressible = tool_kinds.iter().all(|kind| all.in_grammar(to.grammar(kind)).is_some());
                let matchers =
                    if is_expressible { vec![all] } else { names.iter().map(|name| Matcher::names([name])).collect() };
                hooks.extend(matchers.into_iter().map(|matcher| of_kinds(&tool_kinds, Some(matcher))));
            }
        }
        if !other_kinds.is_empty() {
            hooks.push(of_kinds(&other_kinds, None));
        }
        Ok(hooks)
    }

    fn names(&self, matcher: &Matcher, lost: &mut Vec<(String, bool)>) -> Result<Names, String> {
        let to = self.to.title();
        let Some(parts) = alternatives(matcher) else {
            return match self.mcp_pattern(matcher, lost)? {
                Some(names) => Ok(names),
                None => self.names_of_pattern(matcher, lost),
            };
        };
        let (mut names, mut lacking, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for part in &parts {
            let is_listed = matcher.as_names().is_some();
            let fits = |name: &str| {
                if is_listed { name == part } else { name.contains(part.as_str()) && matcher.matches(name) }
            };
            let (own, others) = (self.selected_tools(fits), self.equivalents(fits));
            let mcp = if own.is_empty() { self.from.mcp.translate(part, &self.to.mcp) } else { Vec::new() };
            if self.to.has_all_events && own.is_empty() {
                names.push(part.clone());
            } else if others.is_empty() && mcp.is_empty() {
                let is_known = !own.is_empty() || is_common_tool(part);
                if is_known { &mut lacking } else { &mut unknown }.push(format!("`{part}`"));
            }
            // A part of a name also selects tools that no table lists.
            if !is_listed && !own.is_empty() && !own.iter().any(|tool| tool.matched_names().any(|name| name == part)) {
                lost.push((format!("`{part}` selects only the tools that checkrein knows"), true));
            }
            names.extend(others.into_iter().map(str::to_owned).chain(mcp));
        }
        if names.is_empty() {
            lacking.extend(unknown);
            return Err(format!("checkrein knows no tool of {to} for {}", lacking.join(", ")));
        }
        for (parts, is_guard) in [(lacking, false), (unknown, true)] {
            if !parts.is_empty() {
                let parts = parts.join(", ");
                lost.push((format!("{parts} in its matcher, because checkrein knows no such tool of {to}"), is_guard));
            }
        }
        let mut unique: Vec<String> = Vec::new();
        for name in names {
            if !unique.contains(&name) {
                unique.push(name);
            }
        }
        if matcher.as_names() == Some(unique.as_slice()) {
            return Ok(Names::Unchanged);
        }
        Ok(Names::List(unique))
    }

    /// Names for a list with patterns for tools of MCP servers, such as `Bash|mcp__github__.*`, if both agents have the same form
    /// of these names. `None`: it is another pattern.
    fn mcp_pattern(&self, matcher: &Matcher, lost: &mut Vec<(String, bool)>) -> Result<Option<Names>, String> {
        let (from, to) = (self.from.mcp, self.to.mcp);
        let is_same = from.is_known() && (from.prefix, from.separator) == (to.prefix, to.separator);
        if !is_same || from.prefix.is_empty() || matcher.pattern().contains(['(', '[', '{', '\\']) {
            return Ok(None);
        }
        let is_mcp = |part: &&str| part.trim_start_matches('^').starts_with(from.prefix);
        let (patterns, names): (Vec<_>, Vec<_>) = matcher.pattern().split('|').partition(is_mcp);
        if patterns.is_empty() {
            return Ok(None);
        }
        if names.is_empty() {
            return Ok(Some(Names::Unchanged));
        }
        let Some(names) = plain(names.into_iter()) else { return Ok(None) };
        let names = match self.names(&Matcher::names(names.clone()), lost)? {
            Names::List(names) => names,
            Names::Unchanged | Names::Pattern(_) => names,
        };
        let is_whole = self.from.matcher.otherwise == Syntax::RegexWhole;
        let patterns: Vec<_> =
            patterns.iter().map(|part| if is_whole { format!("^(?:{part})$") } else { (*part).to_owned() }).collect();
        let names = names.iter().map(|name| regex::escape(name)).collect::<Vec<_>>().join("|");
        let text = format!("^(?:{names})$|{}", patterns.join("|"));
        Ok(Matcher::compile(&Grammar::REGEX_SEARCH, Some(&text)).ok().map(Names::Pattern))
    }

    /// Names for a pattern that is not a list of alternatives.
    fn names_of_pattern(&self, matcher: &Matcher, lost: &mut Vec<(String, bool)>) -> Result<Names, String> {
        let (to, pattern) = (self.to, matcher.pattern());
        // checkrein's own matchers apply to the names of each agent.
        if to.has_all_events {
            return Ok(Names::Unchanged);
        }
        let fits = |name: &str| matcher.matches(name);
        let wanted = self.equivalents(fits);
        let has_original = |tool: &ToolRow| {
            self.from.tools.iter().any(|own| own.shared_names().any(|name| tool.shared_names().any(|one| one == name)))
        };
        let is_same = to.tools.iter().all(|tool| {
            let selected = tool.matched_names().any(fits);
            selected == wanted.contains(&tool.name) || (selected && !has_original(tool))
        });
        let mcp = MCP_FORMS.iter().filter(|name| fits(name)).count();
        let knows_tools = !to.tools.is_empty() && !self.selected_tools(fits).is_empty();
        if is_same && knows_tools && (mcp == 0 || mcp == MCP_FORMS.len()) {
            return Ok(Names::Unchanged);
        }
        if wanted.is_empty() {
            return Err(format!("its matcher `{pattern}` selects no tool that checkrein knows of {}", to.title()));
        }
        lost.push((format!("`{pattern}` cannot be expressed, only the tools {} are left", wanted.join(", ")), true));
        Ok(Names::List(wanted.into_iter().map(str::to_owned).collect()))
    }

    /// Tools in the rule of a hook.
    fn rule_tools(&self, tool: &str) -> Result<Vec<String>, String> {
        let names = self.equivalents(|name| name == tool);
        if tool == "*" || (self.to.has_all_events && names.is_empty()) {
            return Ok(vec![tool.to_owned()]);
        }
        if names.is_empty() {
            return Err(format!("checkrein knows no tool of {} for `{tool}` in its `if`", self.to.title()));
        }
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    /// Selected tools of the original agent.
    fn selected_tools(&self, fits: impl Fn(&str) -> bool) -> Vec<&'static ToolRow> {
        self.from.tools.iter().filter(|tool| tool.matched_names().any(&fits)).collect()
    }

    /// Names of the other agent for the selected tools.
    fn equivalents(&self, fits: impl Fn(&str) -> bool) -> Vec<&'static str> {
        let own = self.selected_tools(&fits);
        let shared: Vec<_> = own.iter().flat_map(|tool| tool.shared_names()).collect();
        if self.to.has_all_events {
            let names = own.iter().flat_map(|tool| {
                let shared: Vec<_> = tool.shared_names().collect();
                if shared.is_empty() { vec![tool.name] } else { shared }
            });
            return names.collect();
        }
        let is_equivalent = |tool: &&ToolRow| match own.is_empty() {
            // checkrein's own matchers, and names that the table of the agent does not list.
            true => std::iter::once(tool.name).chain(tool.common.iter().copied()).any(&fits),
            false => tool.shared_names().any(|name| shared.contains(&name)),
        };
        self.to.tools.iter().filter(is_equivalent).map(|tool| tool.name).collect()
    }
}

/// Names that a matcher lists: `Edit|Write`, also as a regular expression with anchors and one group. `None`: it is another
/// pattern.
fn alternatives(matcher: &Matcher) -> Option<Vec<String>> {
    if let Some(names) = matcher.as_names() {
        return Some(names.to_vec());
    }
    let mut text = matcher.pattern();
    if let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        return plain(inner.split(','));
    }
    text = text.strip_prefix('^').unwrap_or(text);
    text = text.strip_suffix('$').unwrap_or(text);
    for open in ["(?:", "("] {
        if let Some(inner) = text.strip_prefix(open).and_then(|text| text.strip_suffix(')')) {
            text = inner;
            break;
        }
    }
    plain(
        text.split('|')
            .map(|part| part.strip_prefix('^').unwrap_or(part))
            .map(|part| part.strip_suffix('$').unwrap_or(part)),
    )
}

/// Names without operators. `None`: a part is a pattern.
fn plain<'a>(parts: impl Iterator<Item = &'a str>) -> Option<Vec<String>> {
    parts.map(unescaped).collect()
}

fn unescaped(part: &str) -> Option<String> {
    let mut name = String::new();
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        name.push(match c {
            '\\' => chars.next().filter(char::is_ascii_punctuation)?,
            c if c.is_alphanumeric() || c == '_' || c == '-' => c,
            _ => return None,
        });
    }
    if name.is_empty() { None } else { Some(name) }
}
