//! How far a client has come in a transcript, by its own copy of the message.

use turn::{CallId, GateId};
use wire::{Message, Part, ToolPart, ToolState};

use super::closing::Closing;
use super::line::{CallLine, CallUpdate, Line, Settlement};

/// How far a client has come that sends back its message: the position after the last park that it
/// has seen, or the first thing behind that which it lacks.
pub(crate) fn client_position(transcript: &[Line], message: &Message) -> usize {
    Comparison {
        lines: transcript,
        copy: ClientCopy(message),
    }
    .position()
}

/// A transcript, and a client's copy of the message that it makes.
struct Comparison<'a> {
    lines: &'a [Line],
    copy: ClientCopy<'a>,
}

impl Comparison<'_> {
    fn position(&self) -> usize {
        let (park, end) = self.seen();
        // Of steps that the client has not begun it has seen nothing.
        let begun = self.copy.steps();
        let starts: Vec<usize> = self.starts().collect();
        let end = starts.get(begun).map_or(end, |next| end.min(*next));
        // What was decided since its last step, or the last park, is sent, whatever it has answered itself.
        let last = begun.checked_sub(1).and_then(|last| starts.get(last));
        let since = last.map_or(park, |last| park.max(*last)).min(end);
        let mut calls = self
            .calls()
            .filter(|(index, _)| (since..end).contains(index));
        let decided = calls.find(|(_, line)| is_decision(line) && !self.copy.shows_denial(line));
        let end = decided.map_or(end, |(index, _)| index);
        match end >= park && self.has_all_before(end) {
            true => end,
            false => self.steps_seen(park),
        }
    }

    /// What follows the last park that the client has seen, and the first thing that it has not.
    fn seen(&self) -> (usize, usize) {
        // A client that has a call was sent, or spared, all that was said before it.
        let begun = self.calls().filter(|(_, line)| {
            line.update == CallUpdate::Begun && self.copy.call(&line.call.id).is_some()
        });
        let begun = begun.map(|(index, _)| index).max().unwrap_or(0);
        let mut park = 0;
        for (index, line) in self.lines.iter().enumerate() {
            match line {
                Line::Call(line) if index >= begun && !self.has(index, line) => {
                    return (park, index);
                }
                Line::Close(Closing::Parked(_)) => park = index + 1,
                Line::Close(_) => return (park, index),
                _ => {}
            }
        }
        (park, self.lines.len())
    }

    /// Whether the client has what a line says about a call.
    fn has(&self, index: usize, line: &CallLine) -> bool {
        let id = &line.call.id;
        let part = self.copy.call(id);
        let is_settled = part.is_some_and(ToolPart::is_settled);
        match &line.update {
            CallUpdate::Begun => part.is_some(),
            CallUpdate::Asked(_) => {
                let is_announced = part.is_some_and(|part| part.state == ToolState::InputAvailable);
                is_settled
                    || self.last_question(id).is_some_and(|last| index <= last)
                    || is_announced && self.is_announced_after(id, index)
            }
            // A call that was asked about and is then announced was held until its approval.
            CallUpdate::Announced => {
                let is_asked = part.is_some_and(|part| {
                    matches!(
                        part.state,
                        ToolState::ApprovalRequested | ToolState::ApprovalResponded
                    )
                });
                !(is_asked && self.last_question(id).is_some_and(|asked| asked < index))
            }
            CallUpdate::Settled(..) => is_settled,
            CallUpdate::InputShown | CallUpdate::Answered { .. } | CallUpdate::Progressed(_) => {
                true
            }
        }
    }

    /// Where the last question is asked that the client has of a call.
    fn last_question(&self, call: &CallId) -> Option<usize> {
        let gate = GateId::from(self.copy.call(call)?.approval.as_ref()?.id.as_str());
        let mut calls = self.calls();
        let asked = calls.find(|(_, line)| {
            let is_asked = matches!(&line.update, CallUpdate::Asked(id) if *id == gate);
            line.call.id == *call && is_asked
        });
        asked.map(|(index, _)| index)
    }

    /// Whether a call is announced behind a place, and not before it: a client that has it as announced
    /// has seen what was asked there.
    fn is_announced_after(&self, call: &CallId, place: usize) -> bool {
        let mut calls = self.calls();
        let first =
            calls.find(|(_, line)| line.call.id == *call && line.update == CallUpdate::Announced);
        first.is_some_and(|(first, _)| first > place)
    }

    /// Whether a client that lacks what is at a place has all that was said before it: its connection
    /// was lost while calls of the last step ran.
    fn has_all_before(&self, place: usize) -> bool {
        let (before, behind) = self.lines.split_at(place);
        let Some(start) = before.iter().rposition(is_step_start) else {
            return false;
        };
        let steps = before.iter().filter(|line| is_step_start(line)).count();
        if self.copy.steps() != steps {
            return false;
        }
        let end = behind.iter().position(is_step_start);
        let step = &self.lines[start..end.map_or(self.lines.len(), |end| place + end)];
        let calls = step.iter().filter_map(Line::as_call);
        let mut begun = calls.filter(|line| line.update == CallUpdate::Begun);
        begun.all(|line| self.copy.has_in_last_step(&line.call.id))
            && self.copy.last_text() == text(step)
    }

    /// How far a client has come that has begun steps beyond the last park: it lost its connection in
    /// the middle of a window, or has it all and sends again.
    fn steps_seen(&self, park: usize) -> usize {
        let begun = self.copy.steps();
        let starts: Vec<usize> = self.starts().collect();
        let before_park = starts.iter().filter(|start| **start < park).count();
        if begun <= before_park || begun > starts.len() {
            return park;
        }
        let (start, end) = (starts[begun - 1], starts.get(begun).copied());
        let end = end.unwrap_or_else(|| {
            let is_end = |line: &Line| matches!(line, Line::Close(closing) if closing.is_final());
            let end = self.lines.iter().position(is_end);
            end.unwrap_or(self.lines.len())
        });
        let step = &self.lines[start..end];
        let mut calls = step.iter().filter_map(Line::as_call);
        if calls.any(|line| line.update == CallUpdate::Begun) {
            // What became of calls is for the parks to say.
            return park.max(start);
        }
        match self.copy.last_text() == text(step) {
            true => end,
            false => start,
        }
    }

    fn starts(&self) -> impl Iterator<Item = usize> {
        let lines = self.lines.iter().enumerate();
        lines.filter_map(|(index, line)| is_step_start(line).then_some(index))
    }

    fn calls(&self) -> impl Iterator<Item = (usize, &CallLine)> {
        let lines = self.lines.iter().enumerate();
        lines.filter_map(|(index, line)| Some((index, line.as_call()?)))
    }
}

/// A client's own copy of the assistant's message.
struct ClientCopy<'a>(&'a Message);

impl<'a> ClientCopy<'a> {
    fn calls(&self) -> impl Iterator<Item = &'a ToolPart> {
        self.0.parts.iter().filter_map(Part::as_tool)
    }

    fn call(&self, id: &CallId) -> Option<&'a ToolPart> {
        self.calls().find(|part| part.tool_call_id == id.as_str())
    }

    /// How many steps it has begun.
    fn steps(&self) -> usize {
        let parts = self.0.parts.iter();
        parts
            .filter(|part| matches!(part, Part::StepStart(_)))
            .count()
    }

    /// The parts of its last step.
    fn last_step(&self) -> &'a [Part] {
        let parts = &self.0.parts;
        let start = parts
            .iter()
            .rposition(|part| matches!(part, Part::StepStart(_)));
        &parts[start.unwrap_or(0)..]
    }

    /// The text of its last step.
    fn last_text(&self) -> String {
        let texts = self.last_step().iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Whether its last step has a call with its input.
    fn has_in_last_step(&self, id: &CallId) -> bool {
        let mut calls = self.last_step().iter().filter_map(Part::as_tool);
        calls
            .any(|part| part.tool_call_id == id.as_str() && part.state != ToolState::InputStreaming)
    }

    /// Whether a line says that a call was denied which it shows as denied.
    fn shows_denial(&self, line: &CallLine) -> bool {
        let mut denied = self
            .calls()
            .filter(|part| part.state == ToolState::OutputDenied);
        match &line.update {
            CallUpdate::Settled(Settlement::Denied, _) => {
                denied.any(|part| part.tool_call_id == line.call.id.as_str())
            }
            CallUpdate::Answered { gate, .. } => denied.any(|part| {
                let asked = part.approval.as_ref();
                asked.is_some_and(|asked| asked.id == gate.as_str())
            }),
            _ => false,
        }
    }
}

fn is_step_start(line: &Line) -> bool {
    matches!(line, Line::StepBegun)
}

/// Whether a line says what became of a question or of a call.
fn is_decision(line: &CallLine) -> bool {
    matches!(
        line.update,
        CallUpdate::Settled(..) | CallUpdate::Answered { .. }
    )
}

/// The text of some lines.
fn text(lines: &[Line]) -> String {
    let texts = lines.iter().filter_map(|line| match line {
        Line::Text(delta) => Some(delta.as_str()),
        _ => None,
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};
    use turn::call::Outcome;

    use super::super::specimen::{asked, begun, settled, text};
    use super::*;

    fn position(transcript: &[Line], parts: &[Value]) -> usize {
        let message = json!({"id": "m", "role": "assistant", "parts": parts});
        client_position(transcript, &Message::decode(message).unwrap())
    }

    #[test]
    fn step_that_was_cut_off_is_sent_again_and_a_whole_one_is_not() {
        let mut transcript = vec![Line::StepBegun];
        transcript.extend(text("Hello."));
        transcript.extend([Line::StepEnded, Line::Close(Closing::Stopped)]);
        let position_of = |text: &str| {
            let parts = [
                json!({"type": "step-start"}),
                json!({"type": "text", "text": text}),
            ];
            position(&transcript, &parts)
        };
        assert_eq!(position(&transcript, &[]), 0);
        assert_eq!(position_of("Hel"), 0);
        assert_eq!(position_of("Hello."), 5);
    }

    fn part(id: &str, state: &str) -> Value {
        json!({"type": "tool-t", "toolCallId": id, "state": state, "input": {}, "output": 1})
    }

    #[test]
    fn client_that_was_spared_an_answered_question_has_seen_what_came_after_it() {
        let parked = || Line::Close(Closing::Parked(Arc::default()));
        let transcript = [begun("a"), asked("a"), parked(), begun("b"), parked()];
        let a = || part("a", "input-available");
        assert_eq!(position(&transcript, &[a()]), 0);
        let b = part("b", "output-available");
        assert_eq!(position(&transcript, &[a(), b]), 5);
    }

    #[test]
    fn client_that_answers_while_a_call_runs_is_not_sent_its_step_again() {
        let mut transcript = vec![Line::StepBegun];
        transcript.extend(text("Well."));
        transcript.extend([begun("a"), begun("b"), asked("b")]);
        let begun_lines = transcript.len();
        let mut answered = part("b", "approval-responded");
        answered["approval"] = json!({"id": "gate of b", "approved": false});
        let parts = [
            json!({"type": "step-start"}),
            json!({"type": "text", "text": "Well."}),
            part("a", "input-available"),
            answered,
        ];
        assert_eq!(position(&transcript, &parts), begun_lines);
        // Its server died, and the next one says so.
        let error = "unknown".to_owned();
        transcript.push(settled("a", &Outcome::Error { error }));
        assert_eq!(position(&transcript, &parts), begun_lines);
        // A step that the client has not begun is sent whole.
        transcript.truncate(begun_lines);
        transcript.extend([Line::StepBegun, begun("c")]);
        assert_eq!(position(&transcript, &parts), begun_lines);
    }
}
