//! What was over when a window opened, and how its client is shown it.
//!
//! A client that has seen none of it must take it for history: a question that was answered is not to be
//! asked, and a call that has run is not to be run.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use turn::reason::denial;
use turn::{CallId, GateId};
use wire::chunk::ToolOutputError;
use wire::frame::ShownApproval;
use wire::{Chunk, Message, Profile, ToolState};

use super::chunks;
use super::line::{CallLine, CallUpdate, Line, Settlement};

/// What a window knows of calls and questions.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    calls: HashMap<CallId, CallHistory>,
    /// Questions that were answered.
    answers: HashMap<GateId, Answer>,
    /// Questions that the client has passed without being shown them: they were answered by then.
    unshown: HashSet<GateId>,
}

#[derive(Debug, Clone, Default)]
struct CallHistory {
    /// As what it was over when the window opened.
    settled: Option<Settlement>,
    /// Whether the client has its input.
    has_input: bool,
    /// The question that it was held by last.
    question: Option<GateId>,
    /// Whether any question about it was answered with a yes.
    is_approved: bool,
    /// What the client itself has answered, and to which question, unless the call is settled for it.
    client_answer: Option<(GateId, bool)>,
}

#[derive(Debug, Clone)]
struct Answer {
    approved: bool,
    reason: Option<String>,
}

impl History {
    /// What is over in a transcript that a client has seen up to a position.
    pub(super) fn of(transcript: &[Line], position: usize) -> Self {
        let mut history = Self::default();
        for (index, line) in transcript.iter().enumerate() {
            let Line::Call(line) = line else {
                continue;
            };
            match &line.update {
                CallUpdate::InputShown | CallUpdate::Announced => {
                    if index < position {
                        history.call_mut(&line.call.id).has_input = true;
                    }
                }
                CallUpdate::Asked(gate) => {
                    history.call_mut(&line.call.id).question = Some(gate.clone());
                }
                CallUpdate::Answered {
                    gate,
                    approved,
                    reason,
                } => history.note_answer(&line.call.id, gate, *approved, reason.as_ref()),
                CallUpdate::Settled(settlement, _) => {
                    history.call_mut(&line.call.id).settled = Some(*settlement);
                }
                CallUpdate::Begun | CallUpdate::Progressed(_) => {}
            }
        }
        history
    }

    /// Adds what a client has answered itself, by its own copy of the message.
    pub(super) fn add_client_state(&mut self, message: &Message) {
        for part in message.parts.iter().filter_map(wire::Part::as_tool) {
            let is_open = !part.is_settled() || part.state == ToolState::OutputDenied;
            let asked = part.approval.as_ref().filter(|_| is_open);
            if let Some((asked, approved)) = asked.and_then(|asked| Some((asked, asked.approved?)))
            {
                let call = CallId::from(part.tool_call_id.as_str());
                let gate = GateId::from(asked.id.as_str());
                self.call_mut(&call).client_answer = Some((gate, approved));
            }
        }
    }

    /// Adds which questions a client shows of those in the lines that it has seen, and what it has
    /// answered itself.
    pub(super) fn add_shown_approvals(&mut self, seen: &[Line], shown: &[ShownApproval]) {
        for line in seen.iter().filter_map(Line::as_call) {
            if let CallUpdate::Asked(gate) = &line.update
                && !shown.iter().any(|shown| shown.approval_id == gate.as_str())
            {
                self.unshown.insert(gate.clone());
            }
        }
        for shown in shown {
            let (call, gate) = (&*shown.tool_call_id, &*shown.approval_id);
            if let Some(approved) = shown.approved {
                self.call_mut(&call.into()).client_answer = Some((gate.into(), approved));
            }
        }
    }

    /// What the client is sent for a line, if anything.
    pub(super) fn render(&mut self, line: &CallLine, profile: Profile) -> Option<Arc<Chunk>> {
        let unchanged = || profile.narrow_shared(&line.chunk);
        let id = &line.call.id;
        match &line.update {
            CallUpdate::Begun | CallUpdate::Progressed(_) => unchanged(),
            CallUpdate::Asked(gate) => {
                let call = self.call_mut(id);
                call.question = Some(gate.clone());
                let settled = call.settled;
                match self.answers.get(gate) {
                    None if settled.is_some() => None,
                    None => unchanged(),
                    // Only a denial can't be shown without its question, and only 7 shows it with one.
                    Some(Answer {
                        approved: false, ..
                    }) if profile == Profile::V7 && settled == Some(Settlement::Denied) => {
                        unchanged()
                    }
                    Some(_) => None,
                }
            }
            CallUpdate::Answered {
                gate,
                approved,
                reason,
            } => match self.answers.get(gate) {
                _ if self.unshown.contains(gate) => None,
                // Its question was not shown, so the answer is not; but a client that has answered
                // otherwise is corrected.
                Some(Answer { approved: true, .. }) if !self.is_contradicted(gate) => None,
                Some(Answer {
                    approved: false, ..
                }) if !self.is_denied(gate) => None,
                Some(_) => unchanged(),
                // It came while the client watched.
                None => {
                    self.note_answer(id, gate, *approved, reason.as_ref());
                    unchanged()
                }
            },
            CallUpdate::InputShown => {
                let call = self.call_mut(id);
                let is_repeated = call.settled.is_some() && call.has_input;
                call.has_input |= call.settled.is_some();
                (!is_repeated).then(unchanged).flatten()
            }
            CallUpdate::Announced => {
                let call = self.call_mut(id);
                if call.settled.is_none() {
                    return unchanged();
                }
                // Announced, a page would run it again: its input is sent as if it were still written.
                let is_first = !std::mem::replace(&mut call.has_input, true);
                is_first.then(|| Arc::new(chunks::input_delta(&line.call)))
            }
            // A call that was approved may have run: that is shown, whatever the client has answered.
            CallUpdate::Settled(Settlement::Error, _)
                if self.client_denied(id) && !self.is_approved(id) =>
            {
                Some(Arc::new(chunks::denied(id)))
            }
            // Clients show a denial only behind a no: their own, or one that they were sent. They
            // accept an error without a question, and behind a yes.
            CallUpdate::Settled(Settlement::Denied, _)
                if !self.client_denied(id) && (profile != Profile::V7 || self.is_unshown(id)) =>
            {
                let reason = self
                    .answer_of(id)
                    .and_then(|answer| answer.reason.as_deref());
                Some(Arc::new(Chunk::from(ToolOutputError {
                    tool_call_id: id.to_string(),
                    error_text: denial(reason),
                    ..ToolOutputError::default()
                })))
            }
            CallUpdate::Settled(..) => unchanged(),
        }
    }

    fn note_answer(
        &mut self,
        call: &CallId,
        gate: &GateId,
        approved: bool,
        reason: Option<&String>,
    ) {
        self.call_mut(call).is_approved |= approved;
        let reason = reason.cloned();
        self.answers
            .insert(gate.clone(), Answer { approved, reason });
    }

    /// Whether a question is the one that a denied call was last held by.
    fn is_denied(&self, gate: &GateId) -> bool {
        // Its own call, or a proxy of that.
        self.calls.values().any(|call| {
            call.question.as_ref() == Some(gate) && call.settled == Some(Settlement::Denied)
        })
    }

    /// Whether the client has said no to a question that was answered with a yes.
    fn is_contradicted(&self, gate: &GateId) -> bool {
        let mut answers = self.calls.values().flat_map(|call| &call.client_answer);
        answers.any(|(answered, approved)| answered == gate && !approved)
    }

    /// Whether a call was approved, by whichever of its questions.
    fn is_approved(&self, id: &CallId) -> bool {
        self.calls.get(id).is_some_and(|call| call.is_approved)
    }

    fn answer_of(&self, call: &CallId) -> Option<&Answer> {
        let question = self.calls.get(call)?.question.as_ref()?;
        self.answers.get(question)
    }

    /// Whether the client was not shown the question that a call was last held by.
    fn is_unshown(&self, call: &CallId) -> bool {
        let question = self.calls.get(call).and_then(|call| call.question.as_ref());
        question.is_some_and(|question| self.unshown.contains(question))
    }

    fn client_denied(&self, call: &CallId) -> bool {
        let call = self.calls.get(call);
        call.is_some_and(|call| matches!(call.client_answer, Some((_, false))))
    }

    fn call_mut(&mut self, call: &CallId) -> &mut CallHistory {
        self.calls.entry(call.clone()).or_default()
    }
}
