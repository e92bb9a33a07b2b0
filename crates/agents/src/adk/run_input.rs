//! What is sent to ADK: messages, answers, and outcomes of calls that ran elsewhere.
//!
//! ADK hides a message from its model as soon as it holds an answer to a confirmation, and drops the
//! reason of a denial. So a denied call is answered under its own id, like any other call; and where
//! others are approved, that goes in a message of its own, before.
//!
//! Most versions take the answers to the calls of one event alone: a message that answers anything
//! besides is an error, and stays in the session. Some apps say nothing, though, until the question
//! about a call is closed too. So a question is closed in a message of its own, after a run that has
//! said nothing.

use gemini::{Content, Data, FunctionResponse, Part};
use serde_json::{Map, Value, json};
use turn::agent::{CallResult, HistoryItem, OwnCall, StepRequest};
use turn::call::{Outcome, Place, UnknownReason};
use turn::gate::Decision;

use super::event::CONFIRMATION;
use super::note;
use crate::gemini::{contents, outcome_map};

/// What agents that run side by side know of each other's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Siblings {
    /// A result goes to the agent that waits for it.
    Together,
    /// Each gets every result, and fails at one that is another's: a denial is sent in ADK's own form.
    Apart,
}

/// What is sent to ADK for a step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RunInput {
    /// Sent first. ADK's output to it is dropped.
    pub(super) before: Option<Content>,
    /// What the step answers.
    pub(super) message: Content,
    /// Sent when its run is over. Agents that run side by side get their answers one by one.
    pub(super) after: Vec<Content>,
    /// Sent if the agent has no output.
    pub(super) closing: Option<Content>,
}

impl RunInput {
    /// What the session lacks for a step; none, if it has everything.
    pub(super) fn of(
        request: &StepRequest,
        open: &[(String, String)],
        siblings: Siblings,
    ) -> Option<Self> {
        if note::steps(request) == 0 {
            let given_up = open.iter().map(|(id, tool)| {
                let why = Value::from("The user wrote something else instead.");
                response(id, tool, Map::from_iter([("error".to_owned(), why)]))
            });
            let given_up: Vec<_> = given_up.collect();
            return Some(Self {
                before: (!given_up.is_empty()).then(|| Content::user(given_up)),
                message: contents(&request.history).pop()?,
                after: Vec::new(),
                closing: None,
            });
        }
        let results = match request.history.last() {
            Some(HistoryItem::Step { results, .. }) => results.as_slice(),
            _ => &[],
        };
        // Outputs of pages are among the results, whatever was asked before they ran.
        let brought = results.iter();
        let brought = brought.filter(|result| result.call.place == Place::Client);
        let asked: Vec<_> = request.own.iter().filter_map(Answer::of).collect();
        let is_rejected = |answer: &&Answer| {
            siblings == Siblings::Apart && answer.is_refused() && answer.branch.is_some()
        };
        let refused = asked.iter().filter(|answer| answer.is_refused());
        let refused = refused.filter(|answer| !is_rejected(answer));
        let parts = brought.map(result);
        let parts: Vec<_> = parts.chain(refused.map(Answer::refusal)).collect();
        // Under another name than its own, a question that is closed hides nothing.
        let closed = asked.iter().filter(|answer| !answer.is_approved);
        let closed = closed.filter(|answer| !is_rejected(answer));
        let closed: Vec<_> = closed.map(Answer::closing).collect();
        let closing = (!closed.is_empty()).then(|| Content::user(closed));
        let is_confirmed = |answer: &&Answer| answer.is_approved || is_rejected(answer);
        let confirmed = asked.iter().filter(is_confirmed);
        let mut confirmed = by_branch(confirmed).into_iter();
        if let Some(message) = confirmed.next() {
            return Some(Self {
                before: (!parts.is_empty()).then(|| Content::user(parts)),
                message,
                after: confirmed.collect(),
                closing,
            });
        }
        (!parts.is_empty()).then(|| Self {
            before: None,
            message: Content::user(parts),
            after: Vec::new(),
            closing,
        })
    }

    /// The ids of the calls that it answers.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        answered_ids(&self.message)
    }
}

/// The ids of the calls that a message answers.
pub(super) fn answered_ids(message: &Content) -> impl Iterator<Item = &str> {
    let parts = message.parts.iter();
    parts.filter_map(|part| match &part.data {
        Data::FunctionResponse(response) => response.id.as_deref(),
        _ => None,
    })
}

/// The answer about a call that ADK asked about.
struct Answer<'a> {
    own: &'a OwnCall,
    confirmation: &'a str,
    /// The agent that asked, of agents that run side by side.
    branch: Option<&'a str>,
    is_approved: bool,
}

impl<'a> Answer<'a> {
    fn of(own: &'a OwnCall) -> Option<Self> {
        let asked = own.asked.as_ref()?;
        let is_agents = own.call.place == Place::Agent;
        let approved = is_agents && matches!(asked.decision, Some(Decision::Approved { .. }));
        // What was approved and has its result is no news.
        let is_news = !approved || own.outcome.is_none();
        let token = asked.token.as_ref()?;
        let confirmation = token.get("id").unwrap_or(token).as_str()?;
        is_news.then_some(Self {
            own,
            confirmation,
            branch: token.get("branch").and_then(Value::as_str),
            is_approved: approved,
        })
    }

    fn is_refused(&self) -> bool {
        !self.is_approved && self.own.call.place == Place::Agent
    }

    /// The answer as ADK has it: without a reason.
    fn confirmation(&self) -> Part {
        let confirmed = Value::Bool(self.is_approved);
        let confirmed = Map::from_iter([("confirmed".to_owned(), confirmed)]);
        response(self.confirmation, CONFIRMATION, confirmed)
    }

    fn refusal(&self) -> Part {
        let call = &self.own.call;
        let reason = UnknownReason::NoResult;
        let outcome = self.own.outcome.clone();
        let outcome = outcome.unwrap_or(Outcome::Unknown { reason });
        let id = call.provider_id.as_deref().unwrap_or_default();
        response(id, &call.tool, outcome_map(&outcome))
    }

    fn closing(&self) -> Part {
        let closed = Map::from_iter([("closed".to_owned(), Value::Bool(true))]);
        response(self.confirmation, &self.own.call.tool, closed)
    }
}

/// Answers, those to each agent in a message of its own.
fn by_branch<'a>(answers: impl Iterator<Item = &'a Answer<'a>>) -> Vec<Content> {
    let mut groups: Vec<(Option<&str>, Vec<Part>)> = Vec::new();
    for answer in answers {
        match groups
            .iter_mut()
            .find(|(branch, _)| *branch == answer.branch)
        {
            Some((_, parts)) => parts.push(answer.confirmation()),
            None => groups.push((answer.branch, vec![answer.confirmation()])),
        }
    }
    groups
        .into_iter()
        .map(|(_, parts)| Content::user(parts))
        .collect()
}

/// The history as events, for a session that is made with it, and the last message.
pub(super) fn history_events(request: &StepRequest, root: &str) -> (Vec<Value>, Content) {
    let mut contents = history_contents(&request.history);
    let message = contents.pop().unwrap_or_default();
    (events(&contents, root), message)
}

/// The same for a session that can hold no history: one message with the history as text.
pub(super) fn history_as_text(request: &StepRequest) -> Content {
    let mut contents = history_contents(&request.history);
    let is_message = |content: &Content| {
        let is_response = |part: &Part| matches!(part.data, Data::FunctionResponse(_));
        !content.parts.iter().any(is_response)
    };
    let message = contents.pop_if(|content| is_message(content));
    let mut text = String::from("This is what was said before, in another session:\n");
    for content in &contents {
        let who = match content.role {
            Some(gemini::Role::Model) => "You",
            _ => "The user",
        };
        let lines = content.parts.iter().filter_map(|part| as_text(who, part));
        lines.for_each(|line| text += &format!("\n{line}"));
    }
    text += match message {
        Some(_) => "\n\nNow the user says:",
        None => "\n\nGo on from there.",
    };
    let parts = message.into_iter().flat_map(|message| message.parts);
    Content::user(
        [Part::from(Data::Text(text))]
            .into_iter()
            .chain(parts)
            .collect(),
    )
}

/// A part of the history, as text.
fn as_text(who: &str, part: &Part) -> Option<String> {
    let json = |value: Option<&Map<String, Value>>| {
        value.map_or_else(|| "{}".to_owned(), |value| json!(value).to_string())
    };
    match &part.data {
        _ if part.is_thought() => None,
        Data::Text(text) => Some(format!("{who}: {text}")),
        Data::FunctionCall(call) => {
            let name = call.name.as_deref().unwrap_or_default();
            Some(format!(
                "You called {name} with {}",
                json(call.args.as_ref())
            ))
        }
        Data::FunctionResponse(response) => {
            let name = response.name.as_deref().unwrap_or_default();
            Some(format!(
                "{name} returned {}",
                json(response.response.as_ref())
            ))
        }
        _ => Some(format!("{who}: (a file)")),
    }
}

/// The history as ADK's contents.
pub(super) fn history_contents(history: &[HistoryItem]) -> Vec<Content> {
    contents(history).into_iter().map(plain).collect()
}

/// Contents as the events of a session.
pub(super) fn events(contents: &[Content], root: &str) -> Vec<Value> {
    let events = contents.iter().map(|content| {
        let is_response = |part: &Part| matches!(part.data, Data::FunctionResponse(_));
        let is_agent =
            content.role == Some(gemini::Role::Model) || content.parts.iter().any(is_response);
        let author = if is_agent { root } else { "user" };
        json!({"author": author, "content": content})
    });
    events.collect()
}

/// Responses as ADK gives them: a tool's output is the response itself.
fn plain(mut content: Content) -> Content {
    for part in &mut content.parts {
        if let Data::FunctionResponse(FunctionResponse {
            response: Some(response),
            ..
        }) = &mut part.data
        {
            *response = unwrapped(std::mem::take(response));
        }
    }
    content
}

fn unwrapped(mut response: Map<String, Value>) -> Map<String, Value> {
    match response.remove("output") {
        Some(Value::Object(output)) => output,
        Some(output) => Map::from_iter([("result".to_owned(), output)]),
        None => response,
    }
}

/// The outcome of a call that ran elsewhere.
pub(super) fn result(result: &CallResult) -> Part {
    let id = result.call.provider_id.as_deref().unwrap_or_default();
    let outcome = unwrapped(outcome_map(&result.outcome));
    response(id, &result.call.tool, outcome)
}

fn response(id: &str, name: &str, response: Map<String, Value>) -> Part {
    Data::FunctionResponse(FunctionResponse {
        id: Some(id.to_owned()),
        name: Some(name.to_owned()),
        response: Some(response),
        ..FunctionResponse::default()
    })
    .into()
}

#[cfg(test)]
mod tests {
    use turn::agent::OwnQuestion;
    use turn::call::Call;
    use turn::{CallId, ChatId, Principal, TurnId};

    use super::*;

    /// A call that needs an approval, of an agent beside others.
    fn asked(name: &str, decision: Decision) -> OwnCall {
        let outcome = match &decision {
            Decision::Denied { reason } => Some(Outcome::Denied {
                reason: reason.clone(),
            }),
            _ => None,
        };
        OwnCall {
            call: Call {
                id: CallId::from(name),
                provider_id: Some(name.to_owned()),
                tool: "pay".to_owned(),
                input: json!({}),
                place: Place::Agent,
                parent: None,
                provider_metadata: None,
            },
            asked: Some(OwnQuestion {
                token: Some(json!({"id": format!("ask-{name}"), "branch": format!("all.{name}")})),
                decision: Some(decision),
            }),
            outcome,
        }
    }

    /// The ids that are answered, message by message.
    fn messages(siblings: Siblings) -> Vec<Vec<String>> {
        let (yes, no) = (
            Decision::Approved {
                reason: None,
                input: None,
            },
            Decision::Denied {
                reason: Some("too much".to_owned()),
            },
        );
        let step = HistoryItem::Step {
            parts: Vec::new(),
            results: Vec::new(),
        };
        let request = StepRequest {
            chat: ChatId::from("chat"),
            turn: TurnId::from("turn"),
            principal: Principal::from("ann"),
            history: vec![step].into(),
            tools: Vec::new(),
            session: None,
            own: vec![asked("left", yes), asked("right", no)],
            is_again: false,
            trace: None,
        };
        let input = RunInput::of(&request, &[], siblings).unwrap();
        let contents = input.before.into_iter().chain([input.message]);
        let contents = contents.chain(input.after).chain(input.closing);
        let ids = |content: Content| {
            let parts = content.parts.into_iter();
            parts.filter_map(|part| match part.data {
                Data::FunctionResponse(response) => response.id,
                _ => None,
            })
        };
        contents.map(|content| ids(content).collect()).collect()
    }

    #[test]
    fn denial_goes_with_its_reason_to_who_asked_where_the_server_knows_who_that_is() {
        let together = messages(Siblings::Together);
        assert_eq!(together, [["right"], ["ask-left"], ["ask-right"]]);
    }

    #[test]
    fn denial_answers_the_question_itself_where_others_would_fail_at_the_result() {
        assert_eq!(messages(Siblings::Apart), [["ask-left"], ["ask-right"]]);
    }
}
