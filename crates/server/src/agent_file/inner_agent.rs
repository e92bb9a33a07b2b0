//! `agents` of an agent: others of the file that it uses as tools.

use engine::InnerAgent;
use tools::pattern::Pattern;
use tools::policy::Policy;
use tools::{AnyTool, Tools};
use turn::call::Place;

use super::Entry;
use super::agent::{Builder, FileAgent};
use super::at::At;
use super::source::nearest;
use super::spec::AgentSpec;
use crate::config::Remote;

/// How many agents may be inside of one another, the first included.
const MAX_DEPTH: usize = 4;

/// An agent that another one uses as a tool.
#[derive(Debug)]
pub(crate) struct UsedAgent {
    pub(crate) agent: FileAgent,
    /// What it does, for the agent that uses it.
    pub(crate) description: String,
}

impl UsedAgent {
    /// The tool by which an agent uses it, given its own tools.
    pub(super) fn tool_of(&self, caller: &str, tools: Tools) -> AnyTool {
        let inner = InnerAgent {
            name: self.agent.name.clone(),
            description: self.description.clone(),
            agent: self.agent.remote.agent(),
            tools,
        };
        inner.tool_of(caller)
    }
}

/// The agents that an agent uses, each with everything that it needs. `above` are those that use it.
pub(super) fn build<'a>(
    builder: &mut Builder<'a>,
    name: &str,
    entry: &'a Entry<AgentSpec>,
    above: &[&str],
) -> Vec<UsedAgent> {
    let spec = &entry.spec;
    if let Some(first) = spec.agents.first().filter(|_| spec.model.is_none()) {
        let message = "an agent behind adk-stream can't use agents of this file";
        builder.problem(entry.source, &first.span, message);
        return Vec::new();
    }
    let path = [above, &[name]].concat();
    let used = spec.agents.iter();
    used.filter_map(|named| one(builder, entry, named, &path))
        .collect()
}

fn one<'a>(
    builder: &mut Builder<'a>,
    entry: &'a Entry<AgentSpec>,
    named: &'a At<String>,
    path: &[&str],
) -> Option<UsedAgent> {
    let wrong = |builder: &mut Builder<'a>, message: String| {
        builder.problem(entry.source, &named.span, message);
        None
    };
    let file = builder.file;
    let name = named.value.as_str();
    let Some(used) = file.agents.get(name) else {
        let meant = nearest(name, file.agents.keys().map(String::as_str));
        let meant = meant.map(|meant| format!("; did you mean `{meant}`?"));
        let meant = meant.unwrap_or_default();
        return wrong(builder, format!("there is no agent `{name}`{meant}"));
    };
    if path.contains(&name) {
        let circle = [path, &[name]].concat().join(" → ");
        return wrong(builder, format!("an agent can't use itself: {circle}"));
    }
    if path.len() >= MAX_DEPTH {
        let path = [path, &[name]].concat().join(" → ");
        let message = format!("more than {MAX_DEPTH} agents inside of one another: {path}");
        return wrong(builder, message);
    }
    if file.http.contains_key(name) || file.client.contains_key(name) {
        return wrong(builder, format!("`{name}` is the name of a tool too"));
    }
    let Some(description) = used.spec.description.clone() else {
        let message = format!("[agents.{name}] needs a description to be used as a tool");
        return wrong(builder, message);
    };
    let agent = builder.agent(name, used, path)?;
    if !matches!(
        agent.remote,
        Remote::Gemini(_) | Remote::OpenAi(_) | Remote::Anthropic(_)
    ) {
        let message = format!(
            "`{name}` is {}: only an agent with a model that is not live can be a tool",
            agent.model
        );
        return wrong(builder, message);
    }
    let mut tools = agent.tools.iter();
    let asked =
        tools.find(|built| built.tool.place() == Place::Client && built.policy != Policy::Allow);
    if let Some(asked) = asked {
        let message = format!(
            "`{name}` has the page's tool `{}`, which needs an approval: nested agents can use only tools of the page with allow = true",
            asked.tool.name()
        );
        return wrong(builder, message);
    }
    Some(UsedAgent { agent, description })
}

/// The names of the agents as patterns of tools.
pub(super) fn patterns(used: &[UsedAgent]) -> impl Iterator<Item = Pattern> {
    // A name of the file is a pattern, which fits itself alone.
    used.iter()
        .filter_map(|used| Pattern::new(&used.agent.name).ok())
}
