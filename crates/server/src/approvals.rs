//! Approvals over HTTP: open questions, for a yes or a no or for data, and their answers.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use engine::{Engine, EngineError};
use store::{Closed, OpenGate};
use turn::gate::Decision;
use turn::{GateId, Principal};
use wire::{ApprovalReply, Given};

use crate::api::{Api, fresh};
use crate::body::read;
use crate::caller::Caller;
#[cfg(feature = "cli")]
use crate::document::{ApprovalPath, PageQuery};
use crate::paging;
use crate::path_id::PathId;
use crate::problem::Problem;
use crate::reads::Reads;
use crate::replies::{self, Approval, ApprovalKind, ApprovalList, Unanswered};

/// How many approvals a page of the list holds, unless the client asks for more or fewer.
const PAGE: usize = 50;

/// How many it may ask for.
const MOST: usize = 200;

/// The open approvals of the principal, oldest first.
#[cfg_attr(feature = "cli", utoipa::path(
    get, path = "/api/approvals", tag = "Approvals and calls", operation_id = "listApprovals",
    params(PageQuery),
    responses(
        (status = 200, description = "A page of the list.", body = ApprovalList),
        (status = 400, description = "bad_request"),
    )
))]
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
    Ok(fresh(ApprovalList {
        approvals: page.gates.iter().map(approval).collect(),
        next_cursor: page.next.map(paging::encode),
    }))
}

/// One approval, open or decided.
#[cfg_attr(feature = "cli", utoipa::path(
    get, path = "/api/approvals/{id}", tag = "Approvals and calls", operation_id = "readApproval",
    params(ApprovalPath),
    responses(
        (status = 200, description = "The approval.", body = Approval),
        (status = 404, description = "unknown_approval"),
    )
))]
pub(crate) async fn one(
    State(engine): State<Engine>,
    Caller(principal): Caller,
    PathId(id): PathId,
) -> Result<Response, Problem> {
    let found = engine.approval(&principal, &GateId::from(id)).await?;
    Ok(fresh(approval_and_decision(&found)))
}

fn approval_and_decision(found: &engine::Approval) -> Approval {
    let decision = found.closed.as_ref().map(|closed| {
        let asks = Asks::of(&found.asked);
        decided(&found.asked.gate.id, closed, asks)
    });
    Approval {
        decision,
        ..approval(&found.asked)
    }
}

fn approval(open: &OpenGate) -> Approval {
    let OpenGate { gate, call, .. } = open;
    let policy = gate.policy(call);
    let schema = gate.kind.schema();
    Approval {
        approval_id: gate.id.to_string(),
        chat_id: open.chat.to_string(),
        tool_call_id: call.id.to_string(),
        tool_name: call.tool.clone(),
        input: gate.shown_input(call).clone(),
        question: gate.kind.question().map(str::to_owned),
        asked_at: open.asked.0,
        expires_at: gate.expires.map(|expires| expires.0),
        editable: policy.is_editable,
        within: policy.is_tools(),
        digest: gate.digest(call),
        path: call.path().into_iter().map(str::to_owned).collect(),
        kind: schema.map(|_| ApprovalKind::Question),
        schema: schema.cloned(),
        decision: None,
    }
}

/// Answers an approval, from anywhere. The first answer wins.
#[cfg_attr(feature = "cli", utoipa::path(
    post, path = "/api/approvals/{id}", tag = "Approvals and calls", operation_id = "answerApproval",
    params(ApprovalPath),
    request_body(content = ref("#/components/schemas/ApprovalAnswer"), content_type = "application/json"),
    responses(
        (status = 200, description = "The decision, which this answer made or agrees with.", body = replies::Decision),
        (status = 400, description = "bad_request, invalid_answer, invalid_input"),
        (status = 404, description = "unknown_approval"),
        (status = 409, description = "already_decided, approval_changed"),
    )
))]
pub(crate) async fn answer(
    State(api): State<Api>,
    Caller(principal): Caller,
    PathId(id): PathId,
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

fn decided(gate: &GateId, closed: &Closed, asks: Asks) -> replies::Decision {
    let is_in_time = closed.decision != Decision::TimedOut;
    let body = replies::Decision {
        approval_id: gate.to_string(),
        decided_at: closed.at.0,
        decided_by: is_in_time.then(|| closed.by.to_string()),
        ..replies::Decision::default()
    };
    let unanswered = match &closed.decision {
        Decision::Approved { reason, input } => {
            return replies::Decision {
                approved: Some(true),
                reason: reason.clone(),
                input: input.clone(),
                ..body
            };
        }
        Decision::Output { output } => {
            return replies::Decision {
                answer: Some(output.clone()),
                ..body
            };
        }
        Decision::Denied { reason } => {
            return replies::Decision {
                approved: (asks == Asks::Approval).then_some(false),
                declined: (asks == Asks::Data).then_some(true),
                reason: reason.clone(),
                ..body
            };
        }
        Decision::TimedOut => Unanswered::TimedOut,
        Decision::Superseded => Unanswered::Superseded,
        _ => Unanswered::Cancelled,
    };
    replies::Decision {
        decision: Some(unanswered),
        ..body
    }
}
