//! What ADK is told: messages, answers, and what came of calls outside.
//!
//! ADK hides a message from its model as soon as it holds an answer to a confirmation, and drops the
//! reason of a denial. So a denied call is answered under its own id, like any other call, and its
//! confirmation is closed with a response that says nothing; and where others are approved, that goes
//! in a message of its own, before.

use gemini::{Content, Data, FunctionResponse, Part};
use serde_json::{Map, Value, json};
use turn::agent::{CallResult, OwnCall, Past, StepRequest};
use turn::call::{Outcome, Place};
use turn::gate::Decision;

use super::event::CONFIRMATION;
use super::note;
use crate::gemini::{contents, outcome_map};

/// What ADK is told before a step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Telling {
    /// To be told first. What ADK says to it is for nobody.
    pub(super) before: Option<Content>,
    /// What the step answers.
    pub(super) message: Content,
}

impl Telling {
    /// What the session has to be told for a step; nothing, if it has heard it all.
    pub(super) fn of(request: &StepRequest, open: &[(String, String)]) -> Option<Self> {
        if note::steps(request) == 0 {
            let given_up = open.iter().map(|(id, tool)| {
                let why = json!({"error": "The user wrote something else instead."});
                response(id, tool, why.as_object().cloned())
            });
            let given_up: Vec<_> = given_up.collect();
            return Some(Self {
                before: (!given_up.is_empty()).then(|| Content::user(given_up)),
                message: contents(&request.history).pop()?,
            });
        }
        let results = match request.history.last() {
            Some(Past::Step { results, .. }) => results.as_slice(),
            _ => &[],
        };
        // What a page brought stands among the results, whatever was asked before it ran.
        let brought = results.iter();
        let brought = brought.filter(|result| result.call.place == Place::Client);
        let asked: Vec<_> = request.own.iter().filter_map(Answer::of).collect();
        let refused = asked.iter().filter(|answer| answer.is_refused());
        let told = brought.map(result);
        let told: Vec<_> = told.chain(refused.map(Answer::refusal)).collect();
        if asked.iter().any(|answer| answer.is_approved) {
            let answers = asked.iter().map(Answer::confirmation);
            return Some(Self {
                before: (!told.is_empty()).then(|| Content::user(told)),
                message: Content::user(answers.collect()),
            });
        }
        if told.is_empty() {
            return None;
        }
        // Closed under another name, it hides nothing.
        let closed = asked.iter().map(Answer::closing);
        let message = Content::user(told.into_iter().chain(closed).collect());
        Some(Self {
            before: None,
            message,
        })
    }

    /// The ids of the calls that it answers.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.message
            .parts
            .iter()
            .filter_map(|part| match &part.data {
                Data::FunctionResponse(response) => response.id.as_deref(),
                _ => None,
            })
    }
}

/// What is said of a call that ADK asked about.
struct Answer<'a> {
    own: &'a OwnCall,
    confirmation: &'a str,
    is_approved: bool,
}

impl<'a> Answer<'a> {
    fn of(own: &'a OwnCall) -> Option<Self> {
        let asked = own.asked.as_ref()?;
        let is_agents = own.call.place == Place::Agent;
        let approved = is_agents && matches!(asked.decision, Some(Decision::Approved { .. }));
        // What was approved and has its result is no news.
        let is_news = !approved || own.outcome.is_none();
        is_news.then_some(Self {
            own,
            confirmation: asked.token.as_ref()?.as_str()?,
            is_approved: approved,
        })
    }

    fn is_refused(&self) -> bool {
        !self.is_approved && self.own.call.place == Place::Agent
    }

    fn confirmation(&self) -> Part {
        let confirmed = self.is_approved.then(|| json!({"confirmed": true}));
        let confirmed = confirmed.and_then(|confirmed| confirmed.as_object().cloned());
        response(self.confirmation, CONFIRMATION, confirmed)
    }

    fn refusal(&self) -> Part {
        let call = &self.own.call;
        let outcome = self.own.outcome.clone().unwrap_or(Outcome::Unknown);
        let id = call.provider_id.as_deref().unwrap_or_default();
        response(id, &call.tool, Some(outcome_map(&outcome)))
    }

    fn closing(&self) -> Part {
        let closed = Map::from_iter([("closed".to_owned(), Value::Bool(true))]);
        response(self.confirmation, &self.own.call.tool, Some(closed))
    }
}

/// Everything that was said, for a session that is made from it, and what is said last apart.
pub(super) fn retold(request: &StepRequest, root: &str) -> (Vec<Value>, Content) {
    let mut contents = said(&request.history);
    let message = contents.pop().unwrap_or_default();
    (events(&contents, root), message)
}

/// Everything that was said, as ADK would have it.
pub(super) fn said(history: &[Past]) -> Vec<Content> {
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

/// What came of a call outside.
pub(super) fn result(result: &CallResult) -> Part {
    let id = result.call.provider_id.as_deref().unwrap_or_default();
    let outcome = unwrapped(outcome_map(&result.outcome));
    response(id, &result.call.tool, Some(outcome))
}

fn response(id: &str, name: &str, response: Option<Map<String, Value>>) -> Part {
    Data::FunctionResponse(FunctionResponse {
        id: Some(id.to_owned()),
        name: Some(name.to_owned()),
        response,
        ..FunctionResponse::default()
    })
    .into()
}
