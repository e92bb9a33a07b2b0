//! What an agent asks by an interrupt, and the answer that it gets.
//!
//! A person says yes or no. The answer has the form that the interrupt's schema wants, where yes or no is
//! enough for it: `{approved, reason?}` as pydantic-ai has it, a flag of another name, a plain boolean, or
//! the decision that LangChain's middleware wants. An interrupt that wants more is refused.

use serde_json::{Map, Value, json};
use turn::agent::{HistoryItem, OwnCall, Part, StepRequest};
use turn::call::Outcome;
use turn::gate::Decision;
use wire::ag_ui::{Interrupt, ResumeEntry, ResumeStatus};

use super::kept;

/// The field of what is kept of a call: how its interrupt is answered.
pub(super) const INTERRUPT: &str = "interrupt";

/// The names under which schemas have yes or no.
const FLAGS: [&str; 3] = ["approved", "confirmed", "accepted"];

/// How an interrupt is answered. It comes back with the decision, as the gate's token.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    id: String,
    form: Form,
    /// Whether the answer is all that becomes of the call: the agent will not say more of it.
    is_result: bool,
    /// Whether the agent said which call it is about. A result of that call answers it, too.
    is_named: bool,
}

/// What an answer looks like.
#[derive(Debug, Clone, PartialEq)]
enum Form {
    /// An object with a flag of this name, and the reason.
    Flag(String),
    /// True or false.
    Boolean,
    /// What LangChain's middleware wants of the one call that it asks about.
    Decisions,
}

impl Question {
    /// How an interrupt is answered; nothing, if yes or no is not enough.
    pub(super) fn of(interrupt: &Interrupt) -> Option<Self> {
        let call = interrupt.tool_call_id.as_deref();
        Some(Self {
            id: interrupt.id.clone(),
            form: form(interrupt)?,
            is_result: call.is_none_or(|call| call == interrupt.id),
            is_named: call.is_some_and(|call| call != interrupt.id),
        })
    }

    /// The same, of a call that the agent has yet to run.
    pub(super) fn of_open_call(self) -> Self {
        Self {
            is_result: false,
            ..self
        }
    }

    pub(super) fn token(&self) -> Value {
        let form = match &self.form {
            Form::Flag(name) => json!({ "flag": name }),
            Form::Boolean => json!("boolean"),
            Form::Decisions => json!("decisions"),
        };
        json!({"id": self.id, "form": form, "isResult": self.is_result, "isNamed": self.is_named})
    }

    fn from_token(token: &Value) -> Option<Self> {
        let is = |field: &str| token.get(field) == Some(&Value::Bool(true));
        let form = token.get("form")?;
        Some(Self {
            id: token.get("id")?.as_str()?.to_owned(),
            form: match form.as_str() {
                Some("boolean") => Form::Boolean,
                Some("decisions") => Form::Decisions,
                _ => Form::Flag(form.get("flag")?.as_str()?.to_owned()),
            },
            is_result: is("isResult"),
            is_named: is("isNamed"),
        })
    }

    fn payload(&self, is_approved: bool, reason: Option<&str>) -> Value {
        match &self.form {
            Form::Flag(flag) => {
                let mut payload = Map::from_iter([(flag.clone(), json!(is_approved))]);
                payload.extend(reason.map(|reason| ("reason".to_owned(), json!(reason))));
                payload.into()
            }
            Form::Boolean => json!(is_approved),
            Form::Decisions => {
                let decision = match (is_approved, reason) {
                    (true, _) => json!({"type": "approve"}),
                    (false, None) => json!({"type": "reject"}),
                    (false, Some(reason)) => json!({"type": "reject", "message": reason}),
                };
                json!({ "decisions": [decision] })
            }
        }
    }

    fn entry(self, decision: Option<&Decision>) -> ResumeEntry {
        let payload = match decision {
            Some(Decision::Approved { reason, .. }) => Some(self.payload(true, reason.as_deref())),
            Some(Decision::Denied { reason }) => Some(self.payload(false, reason.as_deref())),
            // Nobody has answered it.
            _ => None,
        };
        ResumeEntry {
            interrupt_id: self.id,
            status: match payload {
                Some(_) => ResumeStatus::Resolved,
                None => ResumeStatus::Cancelled,
            },
            payload,
        }
    }
}

/// What the answer to an interrupt looks like; nothing, if yes or no is not enough.
fn form(interrupt: &Interrupt) -> Option<Form> {
    let raw = interrupt
        .metadata
        .as_ref()
        .and_then(|all| all.pointer("/langgraph/raw"));
    let actions = raw.and_then(|raw| raw.get("action_requests")?.as_array());
    let Some(schema) = interrupt.response_schema.as_ref() else {
        return match actions.map(Vec::len) {
            None => Some(Form::Flag(FLAGS[0].to_owned())),
            Some(1) => Some(Form::Decisions),
            Some(_) => None,
        };
    };
    if schema.get("type") == Some(&json!("boolean")) {
        return Some(Form::Boolean);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let flag = FLAGS.into_iter().find(|flag| {
        let property = properties.and_then(|all| all.get(*flag));
        property.is_some_and(|property| property.get("type") == Some(&json!("boolean")))
    })?;
    let required = schema.get("required").and_then(Value::as_array);
    let mut required = required.into_iter().flatten();
    required
        .all(|field| field == flag)
        .then(|| Form::Flag(flag.to_owned()))
}

/// The answers that the next run gets: to everything that the agent has asked in the last step.
pub(super) fn answers(request: &StepRequest) -> Vec<ResumeEntry> {
    let asked = request.own.iter().filter_map(|own| {
        let asked = own.asked.as_ref()?;
        let question = Question::from_token(asked.token.as_ref()?)?;
        Some(question.entry(asked.decision.as_ref()))
    });
    asked.chain(abandoned(request)).collect()
}

/// What was asked before a message that came in place of an answer. An agent that keeps its interrupts
/// would else ask again, or refuse to go on; one that named the call has a result of it.
fn abandoned(request: &StepRequest) -> Vec<ResumeEntry> {
    let [
        ..,
        HistoryItem::Step { parts, results },
        HistoryItem::Message(_),
    ] = request.history.as_slice()
    else {
        return Vec::new();
    };
    let questions = parts.iter().filter_map(|part| {
        let Part::Call { call, .. } = part else {
            return None;
        };
        let result = results.iter().find(|result| result.call.id == call.id)?;
        let is_unanswered = matches!(
            result.outcome,
            Outcome::Denied { .. } | Outcome::Error { .. }
        );
        let token = kept(call.provider_metadata.as_ref())?.get(INTERRUPT)?;
        let question = Question::from_token(token)?;
        (is_unanswered && !question.is_named).then(|| question.entry(None))
    });
    questions.collect()
}

/// Whether the agent gets a decision in this run, and says by itself what becomes of the call.
pub(super) fn is_answered_now(own: &OwnCall) -> bool {
    let asked = own.asked.as_ref();
    asked.is_some_and(|asked| asked.token.is_some() && asked.decision.is_some())
}

/// The calls whose answer is all that becomes of them, with what that is.
pub(super) fn results(request: &StepRequest) -> Vec<(String, Outcome)> {
    let approved = request.own.iter().filter(|own| own.outcome.is_none());
    let results = approved.filter_map(|own| {
        let asked = own.asked.as_ref()?;
        let question = Question::from_token(asked.token.as_ref()?)?;
        if !question.is_result {
            return None;
        }
        let output = question.entry(asked.decision.as_ref()).payload?;
        Some((own.call.provider_id.clone()?, Outcome::Output { output }))
    });
    results.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interrupt(schema: Value) -> Interrupt {
        Interrupt {
            id: "i".to_owned(),
            tool_call_id: Some("c".to_owned()),
            response_schema: Some(schema),
            ..Interrupt::default()
        }
    }

    fn answered(interrupt: &Interrupt, is_approved: bool) -> Value {
        let question = Question::of(interrupt).unwrap();
        let question = Question::from_token(&question.token()).unwrap();
        question.payload(is_approved, Some("why"))
    }

    #[test]
    fn answer_has_the_form_that_the_schema_wants() {
        let pydantic_ai = json!({
            "type": "object",
            "properties": {
                "approved": {"type": "boolean"},
                "editedArgs": {"type": "object"},
                "reason": {"type": "string"},
            },
            "required": ["approved"],
        });
        let confirmed = json!({"properties": {"confirmed": {"type": "boolean"}}});
        for (schema, yes) in [
            (pydantic_ai, json!({"approved": true, "reason": "why"})),
            (confirmed, json!({"confirmed": true, "reason": "why"})),
            (json!({"type": "boolean"}), json!(true)),
        ] {
            assert_eq!(answered(&interrupt(schema), true), yes);
        }
        let plain = Interrupt {
            response_schema: None,
            ..interrupt(Value::Null)
        };
        let no = json!({"approved": false, "reason": "why"});
        assert_eq!(answered(&plain, false), no);
    }

    #[test]
    fn middleware_gets_its_decision() {
        let asking = |actions: usize| Interrupt {
            response_schema: None,
            metadata: Some(json!({"langgraph": {"raw": {"action_requests": vec![1; actions]}}})),
            ..interrupt(Value::Null)
        };
        let no = json!({"decisions": [{"type": "reject", "message": "why"}]});
        assert_eq!(answered(&asking(1), false), no);
        assert_eq!(Question::of(&asking(2)), None);
    }

    #[test]
    fn interrupt_that_wants_more_than_yes_or_no_is_refused() {
        for schema in [
            json!({"type": "string"}),
            json!({"type": "object", "properties": {"city": {"type": "string"}}}),
            json!({
                "properties": {"approved": {"type": "boolean"}, "amount": {"type": "number"}},
                "required": ["approved", "amount"],
            }),
        ] {
            assert_eq!(Question::of(&interrupt(schema.clone())), None, "{schema}");
        }
    }
}
