//! When an answer of the model is complete.
//!
//! It hands over by `turnComplete`, which is not always the end. A model that does not wait for its
//! calls hands over while they run, and answers again for each result. One that was interrupted hands
//! over what it did not finish, and then answers.

use std::time::Duration;

use gemini::Data;

use super::super::event::Event;

/// How long a model may take to begin an answer. A socket that was good a while ago may
/// have lost its model unnoticed, and gets less time.
const FIRST: Duration = Duration::from_secs(30);
const DOUBT: Duration = Duration::from_secs(15);

/// How long it may pause in the middle of an answer.
const IDLE: Duration = Duration::from_secs(20);

/// How long one that has handed over, and has yet to answer, may be silent before it is taken to have
/// nothing to say.
const REMARK: Duration = Duration::from_secs(5);

/// How long one that has called tools, and has handed over, is read for more: its answer to
/// a result may be a turn of its own.
const GRACE: Duration = Duration::from_millis(400);

/// What is known of the model's turn.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// An answer has begun.
    is_answering: bool,
    /// Something was sent that is not answered yet.
    is_answer_due: bool,
    /// It has handed over since something was sent.
    has_handed_over: bool,
    /// It has called tools since the last message.
    has_called: bool,
    /// It has reported that it is done.
    is_done: bool,
}

/// How long to wait for a model, and what it means when nothing comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeLimit {
    /// The answer is complete.
    Over,
    /// If nothing comes, the answer is complete.
    OverAfter(Duration),
    /// If nothing comes, it is lost.
    LostAfter(Duration),
}

impl Pace {
    /// A message was sent.
    pub(super) fn message_sent(&mut self) {
        *self = Self {
            is_answer_due: true,
            ..Self::default()
        };
    }

    /// The result of a call was sent.
    pub(super) fn result_sent(&mut self) {
        self.is_answer_due = true;
        self.has_handed_over = false;
        self.is_done = false;
    }

    /// Whether it is in the middle of saying something.
    pub(super) fn is_answering(&self) -> bool {
        self.is_answering
    }

    pub(super) fn take(&mut self, event: &Event) {
        if event.interrupted == Some(true) {
            // What interrupted it is to be answered.
            self.is_answering = false;
            self.is_answer_due = true;
        } else if event.calls().next().is_some() && !event.is_partial() {
            self.is_answering = false;
            self.is_answer_due = false;
            self.has_handed_over = false;
            self.has_called = true;
        } else if event.responses().next().is_some() {
            self.result_sent();
        } else if is_speech(event) {
            // What was begun before a result came is not about it.
            self.is_answer_due &= self.is_answering;
            self.is_answering = true;
        }
        if event.turn_complete == Some(true) {
            self.is_answering = false;
            match event.interaction_status.as_deref() {
                Some("IN_PROGRESS") => self.result_sent(),
                status => {
                    self.has_handed_over = true;
                    self.is_done = status == Some("IDLE");
                }
            }
        }
    }

    pub(super) fn time_limit(&self, is_fresh: bool) -> TimeLimit {
        match (self.is_answer_due, self.has_handed_over) {
            _ if self.is_answering => TimeLimit::LostAfter(IDLE),
            (false, true) if self.is_done || !self.has_called => TimeLimit::Over,
            (false, true) => TimeLimit::OverAfter(GRACE),
            (true, true) => TimeLimit::OverAfter(REMARK),
            (_, false) if is_fresh => TimeLimit::LostAfter(FIRST),
            (_, false) => TimeLimit::LostAfter(DOUBT),
        }
    }
}

/// Whether it contains output of the model. The whole of a transcript may come late, and adds nothing.
fn is_speech(event: &Event) -> bool {
    let content = event.content.as_ref().filter(|_| !event.is_from_user());
    let mut parts = content.into_iter().flat_map(|content| &content.parts);
    let is_said = parts.any(|part| match &part.data {
        Data::Text(text) => !text.is_empty(),
        data => matches!(data, Data::InlineData(_)),
    });
    is_said || (event.is_partial() && event.output_transcription.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn after(events: &[Value]) -> TimeLimit {
        let mut pace = Pace::default();
        pace.message_sent();
        for event in events {
            pace.take(&serde_json::from_value(event.clone()).unwrap());
        }
        pace.time_limit(true)
    }

    fn text(text: &str) -> Value {
        json!({"author": "root", "partial": true, "content": {"role": "model", "parts": [{"text": text}]}})
    }

    fn call(id: &str) -> Value {
        let call = json!({"functionCall": {"id": id, "name": "pay", "args": {}}});
        json!({"author": "root", "content": {"role": "model", "parts": [call]}})
    }

    fn response(id: &str) -> Value {
        let response = json!({"functionResponse": {"id": id, "name": "pay", "response": {}}});
        json!({"author": "root", "content": {"role": "user", "parts": [response]}})
    }

    fn complete() -> Value {
        json!({"author": "root", "turnComplete": true})
    }

    #[test]
    fn answer_is_over_when_the_model_hands_over() {
        assert_eq!(after(&[]), TimeLimit::LostAfter(FIRST));
        assert_eq!(after(&[text("Hi")]), TimeLimit::LostAfter(IDLE));
        assert_eq!(after(&[text("Hi"), complete()]), TimeLimit::Over);
        assert_eq!(after(&[complete()]), TimeLimit::OverAfter(REMARK));
    }

    #[test]
    fn model_that_waits_for_its_call_answers_once() {
        let events = [text("Let me see."), call("1"), response("1")];
        assert_eq!(after(&events), TimeLimit::LostAfter(FIRST));
        let events = [call("1"), response("1"), text("18."), complete()];
        assert_eq!(after(&events), TimeLimit::OverAfter(GRACE));
    }

    #[test]
    fn model_that_does_not_wait_hands_over_before_it_answers() {
        let events = [call("1"), complete(), response("1")];
        assert_eq!(after(&events), TimeLimit::LostAfter(FIRST));
        let events = [call("1"), response("1"), complete()];
        assert_eq!(after(&events), TimeLimit::OverAfter(REMARK));
        let events = [
            call("1"),
            complete(),
            response("1"),
            text("18."),
            complete(),
        ];
        assert_eq!(after(&events), TimeLimit::OverAfter(GRACE));
    }

    #[test]
    fn what_is_said_while_a_result_comes_is_not_about_it() {
        let busy = [
            call("1"),
            text("Meanwhile"),
            response("1"),
            text("…"),
            complete(),
        ];
        assert_eq!(after(&busy), TimeLimit::OverAfter(REMARK));
        let done = [&busy[..], &[text("18."), complete()]].concat();
        assert_eq!(after(&done), TimeLimit::OverAfter(GRACE));
    }

    #[test]
    fn interrupted_model_has_not_answered() {
        let interrupted = json!({"author": "root", "interrupted": true});
        let events = [text("Once upon"), interrupted, complete()];
        assert_eq!(after(&events), TimeLimit::OverAfter(REMARK));
    }

    #[test]
    fn model_may_say_whether_it_is_done() {
        let status = |status: &str| json!({"author": "root", "turnComplete": true, "interactionStatus": status});
        let events = [text("Let me think."), status("IN_PROGRESS")];
        assert_eq!(after(&events), TimeLimit::LostAfter(FIRST));
        let events = [call("1"), response("1"), text("18."), status("IDLE")];
        assert_eq!(after(&events), TimeLimit::Over);
    }

    #[test]
    fn late_transcript_of_what_was_said_before_a_call_is_no_answer() {
        let whole = json!({
            "author": "root", "partial": false,
            "outputTranscription": {"text": "Let me see.", "finished": true},
        });
        let events = [call("1"), response("1"), whole, complete()];
        assert_eq!(after(&events), TimeLimit::OverAfter(REMARK));
    }
}
