//! Whether a call may run, as the file says it: asked about, unless the operator says otherwise.

use serde_json::Value;
use tools::pattern::Pattern;
use tools::policy::{Policies, Policy};
use tools::question::Question;

use super::at::At;
use super::source::{Problem, Source};
use super::spec::Named;

/// What is said of one tool.
pub(super) fn single(
    source: &Source,
    (allow, ask, deny): (bool, Option<&At<String>>, bool),
    entry: &std::ops::Range<usize>,
    schema: &Value,
) -> Result<Policy, Problem> {
    if usize::from(allow) + usize::from(deny) + usize::from(ask.is_some()) > 1 {
        return Err(source.problem(entry, "only one of allow, ask and deny can hold"));
    }
    match ask {
        Some(template) => Ok(Policy::AskWith(question(source, template, Some(schema))?)),
        None if allow => Ok(Policy::Allow),
        None if deny => Ok(Policy::Deny),
        None => Ok(Policy::Ask),
    }
}

/// What is said of several tools, by patterns of their names.
pub(super) fn several(
    source: &Source,
    allow: &[At<String>],
    ask: &Named<At<String>>,
    deny: &[At<String>],
    problems: &mut Vec<Problem>,
) -> Policies {
    let mut policies = Policies::new();
    let allowed = allow.iter().map(|name| (name, Ok(Policy::Allow)));
    let denied = deny.iter().map(|name| (name, Ok(Policy::Deny)));
    let asked = ask
        .iter()
        .map(|(name, template)| (name, question(source, template, None).map(Policy::AskWith)));
    for (name, policy) in allowed.chain(asked).chain(denied) {
        match (pattern(source, name), policy) {
            (Ok(pattern), Ok(policy)) => policies = policies.with(pattern, policy),
            (Err(problem), _) | (_, Err(problem)) => problems.push(problem),
        }
    }
    policies
}

pub(super) fn pattern(source: &Source, text: &At<String>) -> Result<Pattern, Problem> {
    Pattern::new(text).map_err(|error| source.problem(&text.span, error.to_string()))
}

pub(super) fn question(
    source: &Source,
    template: &At<String>,
    schema: Option<&Value>,
) -> Result<Question, Problem> {
    let wrong = |message: String| source.problem(&template.span, message);
    let question = Question::new(template).map_err(|error| wrong(error.to_string()))?;
    match schema.and_then(|schema| question.undeclared_field(schema)) {
        Some(field) => Err(wrong(format!(
            "{{{{{field}}}}} is not a property of the input"
        ))),
        None => Ok(question),
    }
}
