//! Names of tools, as an API accepts them.
//!
//! OpenAI and Anthropic refuse a whole request for one name with a dot in it. So each request has a
//! table: names that are accepted stay as they are, others get one that is, and what the model calls is
//! read back through the same table.

use std::collections::{HashMap, HashSet};

use turn::agent::{HistoryItem, Part, StepRequest};

/// How long a name may be.
const LONGEST: usize = 64;

/// The names of one request.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolNames {
    sent: HashMap<String, String>,
    ours: HashMap<String, String>,
}

impl ToolNames {
    /// The names of the tools and of all calls in a request.
    pub(crate) fn new(request: &StepRequest) -> Self {
        let offered = request.tools.iter().map(|tool| tool.name.as_str());
        let called = request.history.iter().flat_map(called);
        let names: Vec<_> = offered.chain(called).collect();
        let mut table = Self::default();
        // Those that need no other name keep theirs, also from those that come before them.
        for name in names.iter().filter(|name| is_accepted(name)) {
            table.insert(name, (*name).to_owned());
        }
        let mut taken: HashSet<String> = table.ours.keys().cloned().collect();
        for name in names.iter().filter(|name| !is_accepted(name)) {
            if !table.sent.contains_key(*name) {
                let sent = free(&accepted(name), &taken);
                taken.insert(sent.clone());
                table.insert(name, sent);
            }
        }
        table
    }

    fn insert(&mut self, name: &str, sent: String) {
        self.ours.insert(sent.clone(), name.to_owned());
        self.sent.insert(name.to_owned(), sent);
    }

    /// The name to send for a tool.
    pub(crate) fn sent(&self, name: &str) -> String {
        let sent = self.sent.get(name).cloned();
        sent.unwrap_or_else(|| accepted(name))
    }

    /// The tool that is meant by a name that the model gives, which may be none of ours.
    pub(crate) fn ours(&self, sent: &str) -> String {
        self.ours.get(sent).map_or(sent, String::as_str).to_owned()
    }
}

fn called(past: &HistoryItem) -> impl Iterator<Item = &str> {
    let parts: &[Part] = match past {
        HistoryItem::Step { parts, .. } => parts,
        _ => &[],
    };
    parts.iter().filter_map(|part| match part {
        Part::Call { call, .. } => Some(call.tool.as_str()),
        _ => None,
    })
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn is_accepted(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(is_plain)
}

/// A name like another that is accepted.
fn accepted(name: &str) -> String {
    let plain = |c: char| if is_plain(c) { c } else { '_' };
    let name: String = name.chars().map(plain).take(LONGEST).collect();
    match name.is_empty() {
        true => "_".to_owned(),
        false => name,
    }
}

/// A name that nothing else has.
fn free(name: &str, taken: &HashSet<String>) -> String {
    if !taken.contains(name) {
        return name.to_owned();
    }
    let numbered = (2_usize..).map(|number| {
        let end = format!("_{number}");
        // Accepted names are ASCII.
        format!("{}{end}", &name[..name.len().min(LONGEST - end.len())])
    });
    let mut free = numbered.filter(|name| !taken.contains(name));
    // There are more numbers than names.
    free.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use turn::agent::{Behavior, ToolDeclaration};

    use super::*;

    fn names(tools: &[&str]) -> ToolNames {
        let tool = |name: &&str| ToolDeclaration {
            name: (*name).to_owned(),
            description: String::new(),
            input_schema: json!({}),
            behavior: Behavior::Blocking,
        };
        ToolNames::new(&StepRequest {
            chat: "c".into(),
            turn: "t".into(),
            principal: "p".into(),
            history: Arc::default(),
            tools: tools.iter().map(tool).collect(),
            session: None,
            own: Vec::new(),
            is_again: false,
            trace: None,
        })
    }

    #[test]
    fn accepted_names_stay_and_others_are_mapped_both_ways() {
        let long = "x".repeat(70);
        let tools = [
            "crm.lookup",
            "crm_lookup",
            "crm/lookup",
            "größe",
            "",
            &long,
            &format!("{long}y"),
        ];
        let names = names(&tools);
        let sent: Vec<_> = tools.iter().map(|tool| names.sent(tool)).collect();
        assert_eq!(
            sent[..5],
            ["crm_lookup_2", "crm_lookup", "crm_lookup_3", "gr__e", "_"]
        );
        assert_eq!(sent[5], "x".repeat(64));
        assert_eq!(sent[6], format!("{}_2", "x".repeat(62)));
        for (tool, sent) in tools.iter().zip(&sent) {
            assert!(is_accepted(sent), "{sent}");
            assert_eq!(names.ours(sent), *tool);
        }
    }

    #[test]
    fn a_name_that_nobody_offered_is_kept_as_it_came() {
        let names = names(&["crm.lookup"]);
        assert_eq!(names.ours("nothing"), "nothing");
        assert_eq!(names.ours("crm.lookup"), "crm.lookup");
        assert_eq!(names.sent("no such"), "no_such");
    }
}
