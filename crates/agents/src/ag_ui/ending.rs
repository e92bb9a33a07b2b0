//! How a run ends: with an answer, or with something that it waits for.

use serde_json::{Value, json};
use turn::agent::{AgentEvent, Asking};
use turn::call::Outcome as CallOutcome;
use turn::event::Finish;
use turn::metadata::{OURS, PATH};
use wire::ag_ui::{Interrupt, Outcome, TokenUsage};

use super::KEPT;
use super::calls::OpenCall;
use super::interrupt::{INTERRUPT, Question};
use super::reading::Reading;
use crate::model::Failure;
use crate::model::metadata::{self, Usage};
use crate::question::about_call;
use crate::upstream::{CallState, ProposedCall, Said};

impl Reading {
    /// The run ends, and did not fail.
    pub(super) fn finish(
        &mut self,
        outcome: Option<Outcome>,
        result: Option<Value>,
        usage: Option<Vec<TokenUsage>>,
        said: &mut Vec<Said>,
    ) -> Result<(), Failure> {
        self.is_finished = true;
        self.end_step(said);
        said.extend(usage.and_then(|usage| tokens(&usage)).map(Said::Output));
        if let Some(data) = result {
            let name = "agui-result".to_owned();
            said.push(Said::Output(AgentEvent::Data { name, data }));
        }
        let custom = std::mem::take(&mut self.custom_interrupts);
        let interrupts = match outcome {
            Some(Outcome::Interrupt { interrupts }) => interrupts,
            Some(Outcome::Cancelled {}) => {
                let message = "The agent stopped before its answer was complete.";
                return Err(Failure::new("agent_failed", message));
            }
            Some(Outcome::Success { .. } | Outcome::Other(_)) | None => custom,
        };
        if !interrupts.is_empty() {
            self.ask(&interrupts, said)?;
        }
        said.push(Said::Finish(Finish::Stop));
        Ok(())
    }

    /// Asks what the run waits for. Calls that it has not run, and that nobody is asked about, it will
    /// tell of again.
    fn ask(&mut self, interrupts: &[Interrupt], said: &mut Vec<Said>) -> Result<(), Failure> {
        let named = |call: &OpenCall| {
            let mut all = interrupts.iter();
            all.any(|interrupt| interrupt.tool_call_id.as_ref() == Some(&call.id))
        };
        let open: Vec<OpenCall> = std::mem::take(&mut self.calls.open);
        let mut others = open.iter().filter(|call| !call.is_offered && !named(call));
        // Where it can be meant of one call only, it is.
        let alone = match (interrupts, others.next(), others.next()) {
            ([interrupt], Some(call), None) if interrupt.tool_call_id.is_none() => Some(call),
            _ => None,
        };
        for interrupt in interrupts {
            let by_name = open
                .iter()
                .find(|call| interrupt.tool_call_id.as_ref() == Some(&call.id));
            let Some(question) = Question::of(interrupt) else {
                return Err(refused(by_name.or(alone), said));
            };
            match by_name.or(alone) {
                Some(call) => {
                    // The result of a call that the agent has to run comes with the next run.
                    let question = match by_name {
                        Some(_) => question,
                        None => question.of_open_call(),
                    };
                    let token = question.token();
                    let mut metadata = call.metadata.clone();
                    metadata[KEPT][INTERRUPT] = token.clone();
                    said.push(Said::Ask {
                        id: call.id.clone(),
                        asking: Asking {
                            question: words(interrupt, Some(call)),
                            token: Some(token),
                        },
                        metadata,
                    });
                }
                None => said.push(self.question(interrupt, &question)),
            }
        }
        let is_asked = |call: &OpenCall| named(call) || alone.is_some_and(|one| one.id == call.id);
        let waiting = open
            .iter()
            .filter(|call| !call.is_offered && !is_asked(call));
        said.extend(waiting.map(|call| Said::Withdraw(call.id.clone())));
        Ok(())
    }

    /// An interrupt that is about no call, as a call of its own.
    fn question(&self, interrupt: &Interrupt, question: &Question) -> Said {
        let token = question.token();
        let mut metadata = json!({ KEPT: { INTERRUPT: token, "isOurs": true } });
        let path = self.path(interrupt.subagent_run_id.as_deref());
        if !path.is_empty() {
            metadata[OURS] = json!({ PATH: path });
        }
        let mut input = json!({});
        for (field, value) in [
            (
                "message",
                interrupt.message.as_ref().map(|text| json!(text)),
            ),
            ("metadata", interrupt.metadata.clone()),
        ] {
            if let Some(value) = value {
                input[field] = value;
            }
        }
        let reason = Some(interrupt.reason.clone()).filter(|reason| !reason.is_empty());
        Said::Call(ProposedCall {
            id: interrupt.id.clone(),
            tool: reason.unwrap_or_else(|| INTERRUPT.to_owned()),
            input,
            metadata,
            is_agents: true,
            state: CallState::Asked(Asking {
                question: words(interrupt, None),
                token: Some(token),
            }),
        })
    }
}

/// What a person is asked.
fn words(interrupt: &Interrupt, call: Option<&OpenCall>) -> String {
    let message = interrupt.message.clone().filter(|words| !words.is_empty());
    let description = || {
        let first = "/langgraph/raw/action_requests/0/description";
        let words = interrupt.metadata.as_ref()?.pointer(first)?.as_str()?;
        Some(words.to_owned())
    };
    let own = || match call {
        Some(call) => about_call(&call.tool, Some(&call.input)),
        None => "The agent asks whether it may go on. May it?".to_owned(),
    };
    message.or_else(description).unwrap_or_else(own)
}

/// An interrupt that yes or no does not answer. The call that it is about did not run.
fn refused(call: Option<&OpenCall>, said: &mut Vec<Said>) -> Failure {
    let message = "The agent asks for more than yes or no, and nobody can be asked that here.";
    said.extend(call.map(|call| Said::Result {
        id: call.id.clone(),
        outcome: CallOutcome::Error {
            error: format!("It did not run: {message}"),
        },
    }));
    Failure::new("agent_question_unsupported", message)
}

/// The tokens of a run, for the message's metadata.
fn tokens(all: &[TokenUsage]) -> Option<AgentEvent> {
    let sum = |count: fn(&TokenUsage) -> Option<u64>| {
        let counts = all.iter().filter_map(count);
        counts.reduce(u64::saturating_add)
    };
    let (prompt, completion) = (
        sum(|usage| usage.input_tokens),
        sum(|usage| usage.output_tokens),
    );
    if prompt.is_none() && completion.is_none() {
        return None;
    }
    let (prompt, completion) = (prompt.unwrap_or_default(), completion.unwrap_or_default());
    let total = sum(|usage| usage.total_tokens);
    let usage = Usage {
        prompt,
        completion,
        total: total.unwrap_or(prompt.saturating_add(completion)),
        reasoning: sum(|usage| usage.reasoning_tokens),
        cached: sum(|usage| usage.cached_input_tokens),
    };
    let model = all.iter().find_map(|usage| usage.model.as_deref());
    metadata::event(Some(usage), model, None)
}
