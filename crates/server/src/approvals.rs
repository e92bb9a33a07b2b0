//! Approvals over HTTP: open questions, for a yes or a no or for data, and their answers.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use engine::Approval;
use engine::{Engine, EngineError};
use serde_json::{Value, json};
use store::{Closed, OpenGate};
use turn::gate::Decision;
use turn::{GateId, Principal};
use wire::{ApprovalReply, Given};

use crate::api::{Api, fresh};
use crate::body::read;
use crate::caller::Caller;
use crate::paging;
use crate::problem::Problem;
use crate::reads::Reads;

/// How many approvals a page of the list holds, unless the client asks for more or fewer.
const PAGE: usize = 50;

/// How many it may ask for.
const MOST: usize = 200;

/// The open approvals of the principal, oldest first: `?limit=N&cursor=CURSOR`.
pub(crate) async fn list(
    State(engine): State<Engine>,
    State(reads): State<Reads>,
    Caller(principal): Caller,
    uri: Uri,
) -> Result<Response, Problem> {
    let limit = paging::limit(&uri, PAGE, MOST)?;
    let after = paging::cursor(&uri)?;
    let _turn = reads.turn(&principal).await?;
    let page = engine.approvals_page(&principal, after, limit).await?;
    let waiting: Vec<Value> = page.gates.iter().map(approval).collect();
    let mut body = json!({"approvals": waiting});
    if let Some(next) = page.next {
        body["nextCursor"] = paging::encode(next).into();
    }
    Ok(fresh(body))
}

/// One approval, open or closed.
pub(crate) async fn one(
    State(engine): State<Engine>,
    Caller(principal): Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let found = engine.approval(&principal, &GateId::from(id)).await?;
    Ok(fresh(approval_and_decision(&found)))
}

fn approval_and_decision(found: &Approval) -> Value {
    let mut body = approval(&found.asked);
    if let Some(closed) = &found.closed {
        let asks = Asks::of(&found.asked);
        body["decision"] = decided(&found.asked.gate.id, closed, asks);
    }
    body
}

fn approval(open: &OpenGate) -> Value {
    let kind = &open.gate.kind;
    let mut approval = json!({
        "approvalId": open.gate.id,
        "chatId": open.chat,
        "toolCallId": open.call.id,
        "toolName": open.call.tool,
        "input": open.gate.shown_input(&open.call),
        "question": kind.question(),
        "askedAt": open.asked,
        "editable": open.gate.policy(&open.call).is_editable,
        "within": open.gate.policy(&open.call).is_tools(),
        "digest": open.gate.digest(&open.call),
    });
    if let Some(schema) = kind.schema() {
        approval["kind"] = "question".into();
        approval["schema"] = schema.clone();
    }
    if let Some(expires) = open.gate.expires {
        approval["expiresAt"] = json!(expires);
    }
    let path = open.call.path();
    if !path.is_empty() {
        approval["path"] = json!(path);
    }
    approval
}

/// Answers an approval, from anywhere.
pub(crate) async fn answer(
    State(api): State<Api>,
    Caller(principal): Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let body = read(&api, Some(&principal), &headers, body).await?;
    let limits = api.limits;
    let parse = move |bytes: &[u8]| Ok(ApprovalReply::from_slice(bytes, &limits)?);
    let (reply, _room) = body.parse(parse).await?;
    // An answer of the other kind is refused, also where it is late.
    let (asks, decision) = match reply.given {
        Given::Approved { reason, input } => (Asks::Approval, Decision::Approved { reason, input }),
        Given::Denied { reason } => (Asks::Approval, Decision::Denied { reason }),
        Given::Declined { reason } => (Asks::Data, Decision::Denied { reason }),
        Given::Answer(output) => (Asks::Data, Decision::Output { output }),
    };
    let (engine, gate) = (&api.engine, GateId::from(id));
    let answered = engine.answer_to(&principal, &gate, decision, reply.digest);
    let answered = match answered.await {
        Ok(answered) => answered,
        Err(error) => return Err(explain(engine, &principal, error).await),
    };
    let body = decided(&gate, &answered.closed, asks);
    Ok(if answered.agrees {
        fresh(body)
    } else {
        Problem::already_decided(body).into_response()
    })
}

/// Why something can't be done; an answer to another question gets the current one.
pub(crate) async fn explain(engine: &Engine, principal: &Principal, error: EngineError) -> Problem {
    let changed = match &error {
        EngineError::Refused(refusal) => refusal.approval.clone(),
        _ => None,
    };
    let problem = Problem::from(error);
    match changed {
        Some(gate) => match engine.approval(principal, &gate).await {
            Ok(found) => problem.with_approval(approval_and_decision(&found)),
            Err(_) => problem,
        },
        None => problem,
    }
}

/// What a person is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// A yes or a no.
    Approval,
    /// Data.
    Data,
}

impl Asks {
    fn of(open: &OpenGate) -> Self {
        match open.gate.kind.schema() {
            Some(_) => Self::Data,
            None => Self::Approval,
        }
    }
}

fn decided(gate: &GateId, closed: &Closed, asks: Asks) -> Value {
    let mut body = json!({"approvalId": gate, "decidedAt": closed.at});
    if closed.decision != Decision::TimedOut {
        body["decidedBy"] = json!(closed.by);
    }
    match &closed.decision {
        Decision::Approved { reason, input } => {
            body["approved"] = true.into();
            if let Some(reason) = reason {
                body["reason"] = reason.as_str().into();
            }
            if let Some(input) = input {
                body["input"] = input.clone();
            }
        }
        Decision::Output { output } => body["answer"] = output.clone(),
        Decision::Denied { reason } => {
            match asks {
                Asks::Approval => body["approved"] = false.into(),
                Asks::Data => body["declined"] = true.into(),
            }
            if let Some(reason) = reason {
                body["reason"] = reason.as_str().into();
            }
        }
        Decision::TimedOut => body["decision"] = "timed-out".into(),
        Decision::Superseded => body["decision"] = "superseded".into(),
        _ => body["decision"] = "cancelled".into(),
    }
    body
}
