//! `[agents.NAME.ai-sdk]` and `[agents.NAME.ag-ui]`: agents that run elsewhere.

use agents::ai_sdk::Config;
use agents::{AgUi, AiSdk};

use super::Entry;
use super::agent::{Builder, Written};
use super::at::At;
use super::mcp_server::values;
use super::spec::{AgentSpec, RouteSpec};
use crate::config::Remote;
use crate::model_probe::{Probe, Shows};

/// What people call an agent, the agent, and how to try it.
type Built = (String, Remote, Written<Probe>);

/// A route of the AI SDK's. It can't be offered tools.
pub(super) fn ai_sdk(
    builder: &mut Builder<'_>,
    entry: &Entry<AgentSpec>,
    route: &At<RouteSpec>,
) -> Option<Built> {
    let spec = &entry.spec;
    if let Some(tool) = spec.tools.first() {
        let message = "an agent behind adk-stream has tools of its own";
        builder.problem(entry.source, &tool.span, message);
        return None;
    }
    if spec.page_tools.is_some() {
        let message = "an agent behind adk-stream has tools of its own, and takes none of a page";
        builder.problem(entry.source, &entry.span, message);
        return None;
    }
    let probe = reach(builder, entry, route)?;
    let agent = AiSdk::new(config(builder, route, &probe));
    let agent = builder.note_at(entry.source, &route.url.span, agent)?;
    let name = format!("ai-sdk {}", route.url.value);
    Some((name, Remote::AiSdk(agent), probe))
}

/// An agent that speaks AG-UI. The tools of the file and of pages are offered to it as front-end tools.
pub(super) fn ag_ui(
    builder: &mut Builder<'_>,
    entry: &Entry<AgentSpec>,
    route: &At<RouteSpec>,
) -> Option<Built> {
    let probe = reach(builder, entry, route)?;
    let agent = AgUi::new(config(builder, route, &probe));
    let agent = builder.note_at(entry.source, &route.url.span, agent)?;
    let name = format!("ag-ui {}", route.url.value);
    Some((name, Remote::AgUi(agent), probe))
}

fn config(builder: &Builder<'_>, route: &RouteSpec, probe: &Written<Probe>) -> Config {
    let config = Config::new(&route.url.value);
    Config {
        headers: probe.what.headers.clone(),
        client_tools: route.client_tools.clone(),
        reruns: route.rerun,
        forward: route.forward.clone(),
        tool_timeout: builder.tool_timeout.or(config.tool_timeout),
        ..config
    }
}

/// How to try an agent, with the headers of every request to it. It has an instruction of its own.
fn reach(
    builder: &mut Builder<'_>,
    entry: &Entry<AgentSpec>,
    route: &At<RouteSpec>,
) -> Option<Written<Probe>> {
    if let Some(instruction) = &entry.spec.instruction {
        let message = "an agent behind adk-stream has an instruction of its own";
        builder.problem(entry.source, &instruction.span, message);
        return None;
    }
    let headers = values(builder, entry.source, &route.headers)?;
    let probe = Probe {
        url: route.url.value.clone(),
        headers: headers.into_iter().collect(),
        shows: Shows::Route,
    };
    Some(builder.written(entry.source, &route.url.span, probe))
}
