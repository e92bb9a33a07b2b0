//! Agents that run side by side: their calls are shown in one step.
//!
//! What they say comes mixed. A step ends with calls, and the next begins when all of them are settled;
//! so a call that comes from one agent while another's waits for a person would never be shown.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::timeout;

use super::event::Event;
use super::stream::Run;
use crate::gemini::Failure;

/// How long the other agents have to make their calls while a tool of one is at work.
const SIDE_BY_SIDE: Duration = Duration::from_secs(1);

/// The events of agents that run side by side, up to where one of them continues by itself.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Their output before their calls.
    pub(super) said: Vec<Event>,
    /// The events with their calls.
    pub(super) calls: Vec<Event>,
    /// Responses to the calls, and all that comes after.
    pub(super) rest: Vec<Event>,
}

/// Reads on from a call of one of several agents, until all have called something or are done.
pub(super) async fn gather(first: Event, run: &mut Run) -> Result<Gathered, Failure> {
    let mut gathered = Gathered::default();
    let mut open = Open::default();
    open.call(&first);
    gathered.calls.push(first);
    loop {
        let next = match open.is_working() {
            // A tool may ask by itself, and has to be known by then.
            true => match timeout(SIDE_BY_SIDE, run.next()).await {
                Ok(next) => next?,
                Err(_) => break,
            },
            false => run.next().await?,
        };
        let Some(event) = next else { break };
        let is_call = !event.is_partial() && event.calls().next().is_some();
        if event.error_code.is_some() || (event.is_said() && open.has_called(&event)) {
            gathered.rest.push(event);
            break;
        }
        match event.is_said() {
            true if is_call => {
                open.call(&event);
                gathered.calls.push(event);
            }
            true => gathered.said.push(event),
            false => {
                open.observe(&event);
                gathered.rest.push(event);
            }
        }
    }
    Ok(gathered)
}

/// The open calls, with their agents.
#[derive(Debug, Default)]
struct Open {
    branches: HashSet<Option<String>>,
    /// Calls that are neither settled nor wait for an approval.
    working: HashSet<String>,
}

impl Open {
    fn call(&mut self, event: &Event) {
        self.branches.insert(event.branch.clone());
        let ids = event.calls().filter_map(|call| call.id.clone());
        self.working.extend(ids);
    }

    fn observe(&mut self, event: &Event) {
        // The placeholder of a call that waits for an approval counts as its question, too.
        for id in event
            .responses()
            .filter_map(|response| response.id.as_ref())
        {
            self.working.remove(id);
        }
    }

    fn is_working(&self) -> bool {
        !self.working.is_empty()
    }

    fn has_called(&self, event: &Event) -> bool {
        self.branches.contains(&event.branch)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(branch: &str, part: &Value) -> Event {
        let content = json!({"role": "model", "parts": [part]});
        let event = json!({"author": branch, "branch": branch, "content": content});
        serde_json::from_value(event).unwrap()
    }

    fn call(branch: &str) -> Event {
        event(
            branch,
            &json!({"functionCall": {"id": branch, "name": "pay"}}),
        )
    }

    fn answer(branch: &str) -> Event {
        event(
            branch,
            &json!({"functionResponse": {"id": branch, "name": "pay"}}),
        )
    }

    fn ask(branch: &str) -> Event {
        let call = json!({"id": "conf", "name": "adk_request_confirmation"});
        event(branch, &json!({ "functionCall": call }))
    }

    fn text(branch: &str) -> Event {
        event(branch, &json!({"text": "Hello."}))
    }

    async fn gathered(events: Vec<Event>) -> (Vec<Event>, Vec<Event>, Vec<Event>) {
        let mut run = Run::stored(events);
        let first = run.next().await.unwrap().unwrap();
        let gathered = gather(first, &mut run).await.unwrap();
        (gathered.said, gathered.calls, gathered.rest)
    }

    #[tokio::test]
    async fn calls_come_together_however_late_the_second_is() {
        let events = vec![call("l"), ask("l"), answer("l"), call("r"), ask("r")];
        let (said, calls, rest) = gathered(events).await;
        assert_eq!((said, calls), (vec![], vec![call("l"), call("r")]));
        assert_eq!(rest, [ask("l"), answer("l"), ask("r")]);
    }

    #[tokio::test]
    async fn what_another_says_comes_before_the_calls() {
        let (said, calls, rest) = gathered(vec![call("l"), text("r"), answer("l")]).await;
        assert_eq!((said, calls), (vec![text("r")], vec![call("l")]));
        assert_eq!(rest, [answer("l")]);
    }

    #[tokio::test]
    async fn agent_that_continues_by_itself_ends_the_step() {
        let (_, calls, rest) = gathered(vec![call("l"), answer("l"), text("l"), call("r")]).await;
        assert_eq!(calls, [call("l")]);
        assert_eq!(rest, [answer("l"), text("l")]);
    }
}
