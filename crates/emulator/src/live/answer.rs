//! An answer that is being given.

use std::collections::VecDeque;
use std::time::Duration;

use gemini::live::{ServerContent, ServerMessage, Transcription};
use gemini::{Blob, Content, Data, Part};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::session_config::SessionConfig;
use super::voice;
use crate::refusal::Refusal;
use crate::responder::{Output, OutputStream};
use crate::script::Rule;
use crate::tokens;

/// What comes next.
pub(super) enum Next {
    /// A frame of the answer; a string is sent verbatim.
    Frame(Value),
    /// Calls.
    Calls(Vec<(String, Map<String, Value>)>),
    /// That was all.
    Ended,
    /// The script is over; it contains its own end.
    Played,
    /// It failed.
    Failed(Refusal),
    /// It broke off.
    Cut,
}

/// Where an answer comes from.
pub(super) enum Source {
    /// An agent.
    Responder(OutputStream),
    /// A script.
    Script(VecDeque<Value>),
}

/// An answer that is being given.
pub(super) struct Answer {
    pub(super) source: Source,
    pub(super) rule: Rule,
    /// How many frames were sent.
    pub(super) sent: u64,
    /// The text of the answer so far.
    pub(super) said: String,
    pub(super) thought_tokens: u64,
    frames: VecDeque<ServerMessage>,
    not_before: Option<Instant>,
}

impl Answer {
    pub(super) fn new(source: Source, rule: Rule) -> Self {
        let wait = rule.delay_ms.map(Duration::from_millis);
        Self {
            source,
            rule,
            sent: 0,
            said: String::new(),
            thought_tokens: 0,
            frames: VecDeque::new(),
            not_before: wait.map(|wait| Instant::now() + wait),
        }
    }

    /// The next thing. Dropping the future loses nothing.
    pub(super) async fn next(&mut self, config: &SessionConfig) -> Next {
        if let Some(instant) = self.not_before {
            tokio::time::sleep_until(instant).await;
        }
        let next = loop {
            if let Some(frame) = self.frames.pop_front() {
                break Next::Frame(json!(frame));
            }
            match &mut self.source {
                Source::Script(frames) => {
                    break frames.pop_front().map_or(Next::Played, Next::Frame);
                }
                Source::Responder(output) => match output.next().await {
                    Output::Part(part) => self.part(*part, config),
                    Output::Calls(calls) => break Next::Calls(calls),
                    Output::Ended(_) => break Next::Ended,
                    Output::Failed(refusal) => break Next::Failed(refusal),
                    Output::Cut => break Next::Cut,
                },
            }
        };
        let pace = self.rule.pace_ms.map(Duration::from_millis);
        self.not_before = pace.map(|pace| Instant::now() + pace);
        next
    }

    /// A part as frames; text as sound, if the session is in audio.
    fn part(&mut self, part: Part, config: &SessionConfig) {
        let Data::Text(text) = &part.data else {
            self.frames.push_back(model_turn(part));
            return;
        };
        if part.is_thought() {
            self.thought_tokens += tokens::of_text(text);
            if config.includes_thoughts {
                self.frames.push_back(model_turn(part));
            }
            return;
        }
        self.said.push_str(text);
        if !config.is_audio {
            self.frames.push_back(model_turn(part));
            return;
        }
        if config.transcribes_output {
            self.frames.push_back(content(ServerContent {
                output_transcription: Some(words(text)),
                ..ServerContent::default()
            }));
        }
        let sound = Blob::new(voice::MIME_TYPE, voice::say(text));
        self.frames
            .push_back(model_turn(Data::InlineData(sound).into()));
    }
}

/// A part of the model as a frame.
fn model_turn(part: Part) -> ServerMessage {
    content(ServerContent {
        model_turn: Some(Content::model(vec![part])),
        ..ServerContent::default()
    })
}

/// A server content as a frame.
pub(super) fn content(content: ServerContent) -> ServerMessage {
    ServerMessage {
        server_content: Some(content),
        ..ServerMessage::default()
    }
}

/// A transcription.
pub(super) fn words(text: &str) -> Transcription {
    Transcription {
        text: Some(text.to_owned()),
        ..Transcription::default()
    }
}
