//! The path to an agent from the first agent of its app.
//!
//! No server reports all of it. An event of newer versions has the path of its author where models hand
//! over to each other, one of agents that run side by side has a branch, and any other its author
//! alone. The agents above come from the server's description of its app, or from transfers that were seen. Where no
//! server names the first agent, as in a sequence or a loop, the app's own name is used.

use std::collections::HashMap;

use serde_json::Value;

use super::event::Event;

/// How long a path may be.
const DEEPEST: usize = 16;

/// The agents of an app, as far as its server describes them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Agents {
    app: String,
    /// The first agent, where the server names it.
    pub(super) root: Option<String>,
    /// Who is above an agent.
    parents: HashMap<String, String>,
}

impl Agents {
    /// Unknown agents.
    pub(super) fn of_app(app: &str) -> Self {
        Self {
            app: app.to_owned(),
            ..Self::default()
        }
    }

    /// Those that `app-info` names.
    pub(super) fn of_info(app: &str, info: &Value) -> Self {
        let field = |value: &Value, camel: &str, snake: &str| {
            let found = value.get(camel).or_else(|| value.get(snake));
            found.cloned().unwrap_or_default()
        };
        let root = field(info, "rootAgentName", "root_agent_name");
        let mut agents = Self::of_app(app);
        agents.root = root.as_str().map(str::to_owned);
        for (name, agent) in info
            .get("agents")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let below = field(agent, "subAgents", "sub_agents");
            for below in below
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
            {
                agents.parents.insert(below.to_owned(), name.clone());
            }
        }
        agents
    }

    /// Notes that an agent hands over to another.
    pub(super) fn hand_over(&mut self, event: &Event, to: &str) {
        let path = self.path(event);
        // It may hand back, and the server's description of its app takes precedence.
        if let Some(from) = path.last().filter(|_| !path.iter().any(|name| name == to)) {
            let from = from.clone();
            self.parents.entry(to.to_owned()).or_insert(from);
        }
    }

    /// The path to the author of an event; empty, if no agent is.
    pub(super) fn path(&self, event: &Event) -> Vec<String> {
        let Some(author) = event.author.as_ref().filter(|_| !event.is_from_user()) else {
            return Vec::new();
        };
        let node = event
            .node_info
            .as_ref()
            .and_then(|node| node.path.as_deref());
        let mut path: Vec<String> = match (node.filter(|path| !path.is_empty()), &event.branch) {
            // Each with how often it ran: `root@1/helper@2`.
            (Some(path), _) => path.split('/').map(without_count).collect(),
            (None, Some(branch)) => branch.split('.').map(without_count).collect(),
            (None, None) => Vec::new(),
        };
        path.retain(|name| !name.is_empty());
        if path.last() != Some(author) {
            path.push(author.clone());
        }
        let root = self.root.as_ref().unwrap_or(&self.app);
        while path.len() < DEEPEST && path[0] != *root {
            match self.parents.get(&path[0]) {
                Some(above) if !path.contains(above) => path.insert(0, above.clone()),
                _ => break,
            }
        }
        if path[0] != *root && !root.is_empty() {
            path.insert(0, root.clone());
        }
        path
    }
}

fn without_count(name: &str) -> String {
    name.split('@').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(event: Value) -> Event {
        serde_json::from_value(event).unwrap()
    }

    fn path(agents: &Agents, of: Value) -> String {
        agents.path(&event(of)).join(" › ")
    }

    #[test]
    fn path_is_what_the_event_says_where_it_says_it() {
        let agents = Agents::of_info("app", &json!({"rootAgentName": "root"}));
        let says = json!({"author": "helper", "nodeInfo": {"path": "root@1/helper@2"}});
        assert_eq!(path(&agents, says), "root › helper");
        let plain = json!({"author": "root", "nodeInfo": {"path": "root@1"}});
        assert_eq!(path(&agents, plain), "root");
        assert_eq!(path(&agents, json!({"author": "user"})), "");
    }

    #[test]
    fn branch_names_agents_that_run_side_by_side() {
        let agents = Agents::of_app("parallel");
        let left = json!({"author": "left", "branch": "parallel.left", "nodeInfo": {"path": ""}});
        assert_eq!(path(&agents, left), "parallel › left");
        let deep = json!({"author": "clerk", "branch": "team.left"});
        assert_eq!(path(&agents, deep), "parallel › team › left › clerk");
    }

    #[test]
    fn app_name_replaces_a_first_agent_that_no_server_names() {
        let agents = Agents::of_app("sequence");
        assert_eq!(
            path(&agents, json!({"author": "first"})),
            "sequence › first"
        );
        let agents = Agents::of_app("assistant");
        assert_eq!(path(&agents, json!({"author": "assistant"})), "assistant");
    }

    #[test]
    fn what_the_server_says_of_its_app_is_above_what_the_event_says() {
        let agents =
            json!({"root": {"subAgents": ["office"]}, "office": {"sub_agents": ["clerk"]}});
        let agents = Agents::of_info("app", &json!({"rootAgentName": "root", "agents": agents}));
        assert_eq!(
            path(&agents, json!({"author": "clerk"})),
            "root › office › clerk"
        );
    }

    #[test]
    fn agent_that_was_handed_over_to_is_below_who_did_so() {
        let mut agents = Agents::of_app("app");
        agents.hand_over(&event(json!({"author": "root"})), "helper");
        assert_eq!(
            path(&agents, json!({"author": "helper"})),
            "app › root › helper"
        );
        // Handing back makes no agent a parent of its own parent.
        agents.hand_over(&event(json!({"author": "helper"})), "root");
        assert_eq!(path(&agents, json!({"author": "root"})), "app › root");
    }

    #[test]
    fn agents_that_name_each_other_end() {
        let agents = json!({"a": {"subAgents": ["b"]}, "b": {"subAgents": ["a"]}});
        let agents = Agents::of_info("app", &json!({ "agents": agents }));
        assert_eq!(path(&agents, json!({"author": "a"})), "app › b › a");
    }
}
