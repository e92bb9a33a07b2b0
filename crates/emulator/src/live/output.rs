//! The model's answer, frame by frame, with the faults among the frames.

use std::time::Duration;

use gemini::live::{
    ServerContent, ServerMessage, SessionResumptionUpdate, ToolCall, ToolCallCancellation,
};
use gemini::{Data, FunctionCall, ModalityTokenCount, Part, UsageMetadata};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::answer::{Answer, Next, Source, content};
use super::session::Session;
use super::session_end::SessionEnd;
use crate::generate::last_said;
use crate::responder::{self, OutputStream};
use crate::script::Moment;
use crate::tokens::{self, Tokens};

/// What is sent in place of a frame.
const MALFORMED: &str = r#"{"serverContent": {"modelTurn": {"parts": [{"text": "bro"#;

impl Session {
    /// Begins to answer.
    pub(super) fn answer(&mut self) {
        self.speaks_next = false;
        let contents = &self.conversation.contents;
        let mut rule = self
            .core
            .playbook
            .follow(Moment::Answer, &last_said(contents));
        let source = match rule.respond.take() {
            Some(frames) => Source::Script(frames.into()),
            None => {
                let responder = &self.core.options.responder;
                let agent = if self.config.waits() {
                    &responder.one_by_one
                } else {
                    &responder.parallel
                };
                let request = responder::step_request(contents, &self.config.tools, None);
                Source::Responder(OutputStream::new(agent.step(request)))
            }
        };
        self.speaking = Some(Answer::new(source, rule));
    }

    /// Sends the next piece of the answer.
    pub(super) async fn speak(&mut self, next: Next) -> Result<(), SessionEnd> {
        match next {
            Next::Frame(frame) => self.say(frame).await.map(|_| ()),
            Next::Calls(calls) => self.call(calls).await,
            Next::Ended => self.finish().await,
            Next::Played => self.played().await,
            Next::Failed(refusal) => Err(SessionEnd::refused(&refusal)),
            Next::Cut => Err(SessionEnd::Cut),
        }
    }

    /// Sends a frame of the answer, unless a fault ends the answer first: whether it was sent.
    async fn say(&mut self, frame: Value) -> Result<bool, SessionEnd> {
        if !self.fault().await? {
            return Ok(false);
        }
        if matches!(
            &self.speaking,
            Some(Answer {
                source: Source::Script(_),
                ..
            })
        ) {
            self.note(&frame);
        }
        self.send_frame(frame).await?;
        if let Some(speaking) = &mut self.speaking {
            speaking.sent += 1;
        }
        Ok(true)
    }

    /// Plays the fault that is due here: whether the answer continues.
    async fn fault(&mut self) -> Result<bool, SessionEnd> {
        let Some(speaking) = &mut self.speaking else {
            return Ok(false);
        };
        let (rule, sent) = (&mut speaking.rule, speaking.sent);
        if rule.cut.is_some_and(|cut| cut.after == sent) {
            return Err(SessionEnd::Cut);
        }
        if let Some(close) = rule.close.take_if(|close| close.after == sent) {
            return Err(SessionEnd::close(close.code, close.reason));
        }
        let malformed = rule.malformed.take_if(|it| it.after == sent);
        let go_away = rule.go_away.take_if(|it| it.after == sent);
        let interrupt = rule.interrupt.take_if(|it| it.after == sent);
        if malformed.is_some() {
            self.send_frame(Value::String(MALFORMED.to_owned())).await?;
        }
        if let Some(go_away) = go_away {
            self.warn(go_away).await?;
        }
        if interrupt.is_some() {
            self.interrupt().await?;
        }
        Ok(self.speaking.is_some())
    }

    /// Takes note of what a script has the model say, so that its calls can be answered.
    fn note(&mut self, frame: &Value) {
        let Ok(message) = serde_json::from_value::<ServerMessage>(frame.clone()) else {
            return;
        };
        let turn = message
            .server_content
            .and_then(|content| content.model_turn);
        let parts = turn.map(|turn| turn.parts).unwrap_or_default();
        if let Some(speaking) = &mut self.speaking {
            for part in &parts {
                if let (Data::Text(text), false) = (&part.data, part.is_thought()) {
                    speaking.said.push_str(text);
                }
            }
        }
        if let Some(call) = message.tool_call {
            self.remember();
            let config = &self.config;
            self.conversation
                .calls(&call.function_calls, |name| config.is_blocking(name));
        }
        if let Some(cancelled) = message.tool_call_cancellation {
            self.conversation
                .open
                .retain(|call| !cancelled.ids.contains(&call.id));
        }
    }

    /// Adds the answer so far to the conversation.
    fn remember(&mut self) {
        if let Some(speaking) = &mut self.speaking {
            let said = std::mem::take(&mut speaking.said);
            if !said.is_empty() {
                self.conversation.model(vec![Part::text(said)]);
            }
        }
    }

    /// Makes calls.
    async fn call(&mut self, calls: Vec<(String, Map<String, Value>)>) -> Result<(), SessionEnd> {
        let calls = calls.into_iter().map(|(name, args)| FunctionCall {
            id: Some(self.core.name("function-call")),
            name: Some(name),
            args: Some(args),
            ..FunctionCall::default()
        });
        let calls: Vec<_> = calls.collect();
        let frame = json!(ServerMessage {
            tool_call: Some(ToolCall {
                function_calls: calls.clone(),
                ..ToolCall::default()
            }),
            ..ServerMessage::default()
        });
        let usage = self.usage();
        if !self.say(frame).await? {
            return Ok(());
        }
        self.remember();
        let config = &self.config;
        self.conversation
            .calls(&calls, |name| config.is_blocking(name));
        let cancel = self.speaking.as_ref().and_then(|it| it.rule.cancel_calls);
        if let Some(cancel) = cancel {
            self.alarms.cancel = Some(Instant::now() + Duration::from_millis(cancel.after_ms));
        }
        if self.conversation.is_blocked() {
            if !self.fault().await? {
                return Ok(());
            }
            self.speaking = None;
            return self.give_handle().await;
        }
        self.complete(usage).await
    }

    /// The answer is complete.
    async fn finish(&mut self) -> Result<(), SessionEnd> {
        let usage = self.usage();
        let generated = content(ServerContent {
            generation_complete: Some(true),
            ..ServerContent::default()
        });
        if !self.say(json!(generated)).await? {
            return Ok(());
        }
        self.complete(usage).await
    }

    /// The turn is the user's.
    async fn complete(&mut self, usage: UsageMetadata) -> Result<(), SessionEnd> {
        if !self.say(json!(turn_complete(usage))).await? {
            return Ok(());
        }
        // A fault may be due after the last frame.
        if self.fault().await? {
            self.remember();
            self.speaking = None;
        }
        self.rest().await
    }

    /// A script is over: it contained its own end, or none.
    async fn played(&mut self) -> Result<(), SessionEnd> {
        if self.fault().await? {
            self.remember();
            self.speaking = None;
        }
        self.rest().await
    }

    /// The model is silent; perhaps something waits to be answered.
    async fn rest(&mut self) -> Result<(), SessionEnd> {
        self.give_handle().await?;
        if let Some(said) = self.queued.pop_front() {
            self.conversation.contents.push(said);
            self.answer();
        } else if std::mem::take(&mut self.speaks_next) {
            self.answer();
        }
        Ok(())
    }

    /// Interrupts the answer.
    pub(super) async fn interrupt(&mut self) -> Result<(), SessionEnd> {
        if self.speaking.is_none() {
            return Ok(());
        }
        let usage = self.usage();
        self.remember();
        self.speaking = None;
        self.break_turn(usage).await?;
        self.give_handle().await
    }

    /// Takes back calls that are open: all, or those that the model waits for.
    pub(super) async fn cancel(&mut self, only_blocking: bool) -> Result<(), SessionEnd> {
        let was_blocked = self.conversation.is_blocked();
        let ids = self.conversation.cancel(only_blocking);
        if ids.is_empty() {
            return Ok(());
        }
        self.alarms.cancel = None;
        self.send(ServerMessage {
            tool_call_cancellation: Some(ToolCallCancellation {
                ids,
                ..ToolCallCancellation::default()
            }),
            ..ServerMessage::default()
        })
        .await?;
        if was_blocked && self.speaking.is_none() {
            let usage = self.usage();
            self.break_turn(usage).await?;
            self.give_handle().await?;
        }
        Ok(())
    }

    /// A turn that is broken off is interrupted, and then complete, without having been generated.
    async fn break_turn(&mut self, usage: UsageMetadata) -> Result<(), SessionEnd> {
        self.send(content(ServerContent {
            interrupted: Some(true),
            ..ServerContent::default()
        }))
        .await?;
        self.send(turn_complete(usage)).await
    }

    /// Gives a handle, if the client wants some. While the model waits for a call there is none: the
    /// session can't be resumed at that moment.
    pub(super) async fn give_handle(&mut self) -> Result<(), SessionEnd> {
        if !self.config.gives_handles {
            return Ok(());
        }
        let is_resumable = !self.conversation.is_blocked();
        let handle = is_resumable.then(|| self.core.name("handle"));
        if let Some(handle) = &handle {
            self.core
                .handles
                .keep(handle.clone(), self.conversation.clone());
        }
        let index = self.conversation.messages.checked_sub(1);
        self.send(ServerMessage {
            session_resumption_update: Some(SessionResumptionUpdate {
                new_handle: handle,
                resumable: Some(is_resumable),
                last_consumed_client_message_index: index
                    .filter(|_| self.config.counts_messages && is_resumable),
                ..SessionResumptionUpdate::default()
            }),
            ..ServerMessage::default()
        })
        .await
    }

    /// What the turn took.
    fn usage(&self) -> UsageMetadata {
        let contents = self.conversation.contents.iter().chain(&self.system);
        let prompt = Tokens::of(contents);
        let (answer, thoughts) = match &self.speaking {
            Some(speaking) => (tokens::of_text(&speaking.said), speaking.thought_tokens),
            None => (0, 0),
        };
        let modality = if self.config.is_audio {
            "AUDIO"
        } else {
            "TEXT"
        };
        UsageMetadata {
            prompt_token_count: Some(prompt.total()),
            response_token_count: Some(answer),
            thoughts_token_count: Some(thoughts).filter(|count| *count > 0),
            total_token_count: Some(prompt.total() + answer + thoughts),
            prompt_tokens_details: prompt.details(),
            response_tokens_details: vec![ModalityTokenCount {
                modality: Some(modality.to_owned()),
                token_count: Some(answer),
                ..ModalityTokenCount::default()
            }],
            ..UsageMetadata::default()
        }
    }
}

/// The turn is the user's, and this is what it took.
fn turn_complete(usage: UsageMetadata) -> ServerMessage {
    ServerMessage {
        usage_metadata: Some(usage),
        ..content(ServerContent {
            turn_complete: Some(true),
            ..ServerContent::default()
        })
    }
}
