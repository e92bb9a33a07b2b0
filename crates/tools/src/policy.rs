//! Whether a call may run: what an operator says of tools that need no Rust.
//!
//! The default is to ask: a tool without an explicit permission runs only after a person said yes.
//! Conditions on the input are to become a fourth kind of [`Policy`]; until then, a tool written in Rust
//! decides by its input with [`crate::Tool::policy`].

use serde_json::Value;
use turn::policy::Verdict;

use crate::pattern::Pattern;
use crate::question::{Question, plain_question};

/// What an operator says of the calls of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// They run.
    Allow,
    /// A person is asked before each: the default.
    #[default]
    Ask,
    /// The same, in words of the operator's.
    AskWith(Question),
    /// They do not run, and a model is not offered the tool.
    Deny,
}

impl Policy {
    /// What it says of a call. A claim is what somebody else says of the tool; it is shown to who is asked,
    /// where the operator has not said what to show.
    pub fn verdict(&self, tool: &str, input: &Value, claim: Option<&str>) -> Verdict {
        match self {
            Self::Allow => Verdict::Allow,
            Self::Ask => {
                let mut question = plain_question(tool, input);
                if let Some(claim) = claim {
                    question.push(' ');
                    question.push_str(claim);
                }
                Verdict::Ask { question }
            }
            Self::AskWith(question) => Verdict::Ask {
                question: question.about(input),
            },
            Self::Deny => Verdict::Deny {
                reason: format!("{tool} is not allowed here."),
            },
        }
    }

    /// Where two say something else of one tool, the stricter one counts.
    fn strictness(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Ask => 1,
            Self::AskWith(_) => 2,
            Self::Deny => 3,
        }
    }
}

/// What an operator says of several tools, by patterns of their names.
///
/// The pattern that says most of the name counts: the name itself, then the one with the most characters
/// beside `*`. Of two that say as much, the stricter one counts. What none fits is asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policies(Vec<(Pattern, Policy)>);

impl Policies {
    /// Every call is asked about.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more.
    #[must_use]
    pub fn with(mut self, pattern: Pattern, policy: Policy) -> Self {
        self.0.push((pattern, policy));
        self
    }

    /// What is said of a tool.
    pub fn of(&self, tool: &str) -> Policy {
        let fitting = self.0.iter().filter(|(pattern, _)| pattern.matches(tool));
        let rank = |rule: &&(Pattern, Policy)| (rule.0.precision(), rule.1.strictness());
        let policy = fitting.max_by_key(rank).map(|(_, policy)| policy.clone());
        policy.unwrap_or_default()
    }

    /// The patterns that fit none of some tools: most often misspelled.
    pub fn unused<'a>(&'a self, tools: &[&str]) -> impl Iterator<Item = &'a Pattern> {
        let patterns = self.0.iter().map(|(pattern, _)| pattern);
        patterns.filter(move |pattern| !tools.iter().any(|tool| pattern.matches(tool)))
    }
}

impl FromIterator<(Pattern, Policy)> for Policies {
    fn from_iter<T: IntoIterator<Item = (Pattern, Policy)>>(rules: T) -> Self {
        Self(rules.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn policies(rules: &[(&str, Policy)]) -> Policies {
        let rules = rules.iter();
        rules
            .map(|(pattern, policy)| (Pattern::new(pattern).unwrap(), policy.clone()))
            .collect()
    }

    #[test]
    fn what_nobody_allowed_is_asked_about() {
        assert_eq!(Policies::new().of("anything"), Policy::Ask);
        let said = policies(&[("get_*", Policy::Allow)]);
        assert_eq!(said.of("get_order"), Policy::Allow);
        assert_eq!(said.of("cancel_order"), Policy::Ask);
    }

    #[test]
    fn pattern_that_says_more_counts_then_the_stricter_one() {
        let question = Policy::AskWith(Question::new("Sure?").unwrap());
        let said = policies(&[
            ("*", question.clone()),
            ("get_*", Policy::Allow),
            ("*_secret", Policy::Deny),
            ("get_known_secret", Policy::Allow),
            ("a*", Policy::Deny),
            ("*a", Policy::Allow),
        ]);
        assert_eq!(said.of("pay"), question);
        assert_eq!(said.of("get_order"), Policy::Allow);
        assert_eq!(said.of("get_secret"), Policy::Deny);
        assert_eq!(said.of("get_known_secret"), Policy::Allow);
        assert_eq!(said.of("aa"), Policy::Deny);
    }

    #[test]
    fn claim_is_shown_and_changes_nothing() {
        let claim = Some("The server says that it only reads.");
        let asked = Policy::Ask.verdict("crm.find", &json!({}), claim);
        let question = "Run crm.find? The server says that it only reads.".to_owned();
        assert_eq!(asked, Verdict::Ask { question });
        let denied = Policy::Deny.verdict("crm.find", &json!({}), claim);
        assert!(matches!(denied, Verdict::Deny { .. }));
    }

    #[test]
    fn patterns_that_fit_nothing_are_found() {
        let said = policies(&[("get_*", Policy::Allow), ("gte_x", Policy::Deny)]);
        let unused: Vec<_> = said.unused(&["get_x"]).map(Pattern::as_str).collect();
        assert_eq!(unused, ["gte_x"]);
    }
}
