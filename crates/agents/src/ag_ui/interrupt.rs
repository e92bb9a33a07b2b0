//! What an agent asks by an interrupt, and the answer that it gets.
//!
//! Where yes or no is enough for the interrupt's schema, a person is asked for that, and the answer has the
//! form that the schema wants: `{approved, reason?}` as pydantic-ai has it, a flag of another name, a plain
//! boolean, or the decisions that LangChain's middleware wants. Otherwise a person is asked for data that
//! fits the schema, and the data is the answer.

use serde_json::{Map, Value, json};
use turn::agent::{HistoryItem, OwnCall, Part, StepRequest};
use turn::call::Outcome;
use turn::gate::Decision;
use wire::ag_ui::{Interrupt, ResumeEntry, ResumeStatus};

use super::kept;
use super::langgraph::actions;

/// The field of what is kept of a call: how its interrupt is answered.
pub(super) const INTERRUPT: &str = "interrupt";

/// The names under which schemas have yes or no.
const FLAGS: [&str; 3] = ["approved", "confirmed", "accepted"];

/// How many calls one interrupt may ask about.
pub(super) const MAX_ACTIONS: usize = 64;

/// The reason of a call that must not run because its approval expired, while others of the interrupt
/// were decided.
const UNDECIDED: &str = "Nobody answered in time.";

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
    /// A decision of those that LangChain's middleware wants of the calls that it asks about.
    Decision {
        /// Its place among them.
        place: usize,
        /// How many they are.
        count: usize,
    },
    /// What a person was asked for.
    Data,
}

impl Question {
    /// How an interrupt is answered that asks one thing.
    pub(super) fn of(interrupt: &Interrupt) -> Self {
        let call = interrupt.tool_call_id.as_deref();
        Self {
            id: interrupt.id.clone(),
            form: form(interrupt),
            is_result: call.is_none_or(|call| call == interrupt.id),
            is_named: call.is_some_and(|call| call != interrupt.id),
        }
    }

    /// How one of several calls is answered that LangChain's middleware asks about at once.
    pub(super) fn of_action(interrupt: &Interrupt, place: usize, count: usize) -> Self {
        Self {
            id: interrupt.id.clone(),
            form: Form::Decision { place, count },
            is_result: false,
            is_named: false,
        }
    }

    /// Whether a person is asked for data, and not for a yes or a no.
    pub(super) fn asks_for_data(&self) -> bool {
        self.form == Form::Data
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
            Form::Decision { place, count } => json!({"decision": place, "of": count}),
            Form::Data => json!("data"),
        };
        json!({"id": self.id, "form": form, "isResult": self.is_result, "isNamed": self.is_named})
    }

    fn from_token(token: &Value) -> Option<Self> {
        let is = |field: &str| token.get(field) == Some(&Value::Bool(true));
        let form = token.get("form")?;
        let number = |field: &str| usize::try_from(form.get(field)?.as_u64()?).ok();
        Some(Self {
            id: token.get("id")?.as_str()?.to_owned(),
            form: match (form.as_str(), number("decision"), number("of")) {
                (Some("boolean"), ..) => Form::Boolean,
                (Some("data"), ..) => Form::Data,
                // As it was written while one call at a time could be asked about.
                (Some("decisions"), ..) => Form::Decision { place: 0, count: 1 },
                (_, Some(place), Some(count)) if place < count && count <= MAX_ACTIONS => {
                    Form::Decision { place, count }
                }
                _ => Form::Flag(form.get("flag")?.as_str()?.to_owned()),
            },
            is_result: is("isResult"),
            is_named: is("isNamed"),
        })
    }

    /// The answer, as far as a decision gives one.
    fn payload(&self, decision: &Decision) -> Option<Value> {
        let (is_approved, reason) = match decision {
            Decision::Approved { reason, .. } => (true, reason.as_deref()),
            Decision::Denied { reason } => (false, reason.as_deref()),
            Decision::Output { output } if self.form == Form::Data => return Some(output.clone()),
            // It has no answer.
            _ => return None,
        };
        match &self.form {
            Form::Flag(flag) => {
                let mut payload = Map::from_iter([(flag.clone(), json!(is_approved))]);
                payload.extend(reason.map(|reason| ("reason".to_owned(), json!(reason))));
                Some(payload.into())
            }
            Form::Boolean => Some(json!(is_approved)),
            Form::Decision { .. } => Some(match (is_approved, reason) {
                (true, _) => json!({"type": "approve"}),
                (false, None) => json!({"type": "reject"}),
                (false, Some(reason)) => json!({"type": "reject", "message": reason}),
            }),
            // Who declines gives nothing that fits the schema.
            Form::Data => None,
        }
    }
}

/// Adds what was decided to the answers of a run.
fn add(entries: &mut Vec<ResumeEntry>, question: Question, decision: Option<&Decision>) {
    let payload = decision.and_then(|decision| question.payload(decision));
    let Form::Decision { place, count } = question.form else {
        return entries.push(entry(question.id, payload));
    };
    if count == 1 {
        let payload = payload.map(|decision| json!({ "decisions": [decision] }));
        return entries.push(entry(question.id, payload));
    }
    // All of them are one answer, and an undecided call must not run.
    let is_same = |entry: &ResumeEntry| entry.interrupt_id == question.id;
    let known = entries.iter().position(is_same).unwrap_or_else(|| {
        let undecided = json!({"type": "reject", "message": UNDECIDED});
        let payload = json!({ "decisions": vec![undecided; count] });
        entries.push(entry(question.id.clone(), Some(payload)));
        entries.len() - 1
    });
    if let (Some(all), Some(decision)) = (&mut entries[known].payload, payload) {
        all["decisions"][place] = decision;
    }
}

fn entry(interrupt_id: String, payload: Option<Value>) -> ResumeEntry {
    ResumeEntry {
        interrupt_id,
        status: match payload {
            Some(_) => ResumeStatus::Resolved,
            None => ResumeStatus::Cancelled,
        },
        payload,
        metadata: None,
    }
}

/// What the answer to an interrupt looks like.
fn form(interrupt: &Interrupt) -> Form {
    let Some(schema) = interrupt.response_schema.as_ref() else {
        return match actions(interrupt) {
            [_] => Form::Decision { place: 0, count: 1 },
            _ => Form::Flag(FLAGS[0].to_owned()),
        };
    };
    if schema.get("type") == Some(&json!("boolean")) {
        return Form::Boolean;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let flag = FLAGS.into_iter().find(|flag| {
        let property = properties.and_then(|all| all.get(*flag));
        property.is_some_and(|property| property.get("type") == Some(&json!("boolean")))
    });
    let required = schema.get("required").and_then(Value::as_array);
    let mut required = required.into_iter().flatten();
    match flag {
        Some(flag) if required.all(|field| field == flag) => Form::Flag(flag.to_owned()),
        _ => Form::Data,
    }
}

/// The answers that the next run gets: to everything that the agent has asked in the last step.
pub(super) fn answers(request: &StepRequest) -> Vec<ResumeEntry> {
    let mut entries = Vec::new();
    for asked in request.own.iter().filter_map(|own| own.asked.as_ref()) {
        let question = asked.token.as_ref().and_then(Question::from_token);
        if let Some(question) = question {
            add(&mut entries, question, asked.decision.as_ref());
        }
    }
    entries.extend(abandoned(request));
    entries
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
        (is_unanswered && !question.is_named).then_some(question.id)
    });
    let mut ids: Vec<_> = questions.collect();
    ids.dedup();
    ids.into_iter().map(|id| entry(id, None)).collect()
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
        let output = question.payload(asked.decision.as_ref()?)?;
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
        let question = Question::from_token(&Question::of(interrupt).token()).unwrap();
        let reason = Some("why".to_owned());
        let decision = match is_approved {
            true => Decision::Approved {
                reason,
                input: None,
            },
            false => Decision::Denied { reason },
        };
        let mut entries = Vec::new();
        add(&mut entries, question, Some(&decision));
        entries.remove(0).payload.unwrap()
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

    fn asking_about(actions: usize) -> Interrupt {
        Interrupt {
            response_schema: None,
            metadata: Some(json!({"langgraph": {"raw": {"action_requests": vec![1; actions]}}})),
            ..interrupt(Value::Null)
        }
    }

    #[test]
    fn middleware_gets_its_decision() {
        let no = json!({"decisions": [{"type": "reject", "message": "why"}]});
        assert_eq!(answered(&asking_about(1), false), no);
        // As a journal has it that was written while one call at a time could be asked about.
        let stored = json!({"id": "i", "form": "decisions", "isResult": false, "isNamed": true});
        let question = Question::from_token(&stored).unwrap();
        let decision = Decision::Denied { reason: None };
        let mut entries = Vec::new();
        add(&mut entries, question, Some(&decision));
        let no = json!({"decisions": [{"type": "reject"}]});
        assert_eq!(entries[0].payload, Some(no));
    }

    #[test]
    fn middleware_gets_all_decisions_at_once_and_in_its_order() {
        let interrupt = asking_about(3);
        let yes = Decision::Approved {
            reason: None,
            input: None,
        };
        let no = Decision::Denied { reason: None };
        let mut entries = Vec::new();
        for (place, decision) in [(2, Some(&no)), (0, Some(&yes)), (1, None)] {
            let question = Question::of_action(&interrupt, place, 3);
            let question = Question::from_token(&question.token()).unwrap();
            add(&mut entries, question, decision);
        }
        let decisions = json!({"decisions": [
            {"type": "approve"},
            {"type": "reject", "message": UNDECIDED},
            {"type": "reject"},
        ]});
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].payload, Some(decisions));
    }

    #[test]
    fn interrupt_that_wants_more_than_yes_or_no_asks_for_data() {
        for schema in [
            json!({"type": "string"}),
            json!({"type": "object", "properties": {"city": {"type": "string"}}}),
            json!({
                "properties": {"approved": {"type": "boolean"}, "amount": {"type": "number"}},
                "required": ["approved", "amount"],
            }),
        ] {
            let question = Question::of(&interrupt(schema.clone()));
            assert!(question.asks_for_data(), "{schema}");
            let question = Question::from_token(&question.token()).unwrap();
            let output = json!({"city": "Oslo"});
            let given = Decision::Output { output };
            let mut entries = Vec::new();
            add(&mut entries, question.clone(), Some(&given));
            let declined = Decision::Denied { reason: None };
            add(&mut entries, question, Some(&declined));
            assert_eq!(entries[0].payload, Some(json!({"city": "Oslo"})));
            assert_eq!(
                (&entries[1].status, &entries[1].payload),
                (&ResumeStatus::Cancelled, &None)
            );
        }
    }
}
