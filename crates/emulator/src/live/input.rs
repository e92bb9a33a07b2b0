//! The client's messages, and what follows from them.

use gemini::live::{ClientContent, ClientMessage, RealtimeInput, ServerContent, ToolResponse};
use gemini::{Content, Part, Scheduling, Tool};
use serde_json::Value;

use super::answer::{content, words};
use super::conversation::RespondedCall;
use super::session::Session;
use super::session_end::SessionEnd;
use super::speech_detector::SpeechEvent;
use super::voice;

/// The transcript of speech where the script has none.
const UTTERANCE: &str = "What is the weather in Tokyo?";

impl Session {
    /// Takes in a message of the client.
    pub(super) async fn take_in(&mut self, message: ClientMessage) -> Result<(), SessionEnd> {
        self.conversation.messages += 1;
        if message.setup.is_some() {
            return Err(SessionEnd::invalid(
                "setup must be the first message and only the first message",
            ));
        }
        if let Some(said) = message.client_content {
            self.said(said).await?;
        }
        if let Some(input) = message.realtime_input {
            self.perceive(input).await?;
        }
        if let Some(brought) = message.tool_response {
            self.brought(brought).await?;
        }
        let update = message.rest.get("contextUpdate");
        if let Some(update) = update.or_else(|| message.rest.get("context_update")) {
            self.update(update);
        }
        Ok(())
    }

    /// A client content: it interrupts the answer.
    async fn said(&mut self, said: ClientContent) -> Result<(), SessionEnd> {
        if self.takes_history {
            self.conversation.contents.extend(said.turns);
            self.takes_history = said.turn_complete != Some(true);
            return Ok(());
        }
        self.break_off().await?;
        self.conversation.contents.extend(said.turns);
        if said.turn_complete == Some(true) {
            self.answer();
        }
        Ok(())
    }

    /// Realtime input: audio, video or text.
    async fn perceive(&mut self, input: RealtimeInput) -> Result<(), SessionEnd> {
        if !input.media_chunks.is_empty() {
            return Err(SessionEnd::invalid(
                "realtime_input.media_chunks is deprecated. Use audio, video, or text instead.",
            ));
        }
        // ADK sends a history that ends with the model's content without `turnComplete`.
        self.takes_history = false;
        let marks = input.activity_start.is_some() || input.activity_end.is_some();
        if marks && !self.config.client_marks_activity {
            return Err(SessionEnd::invalid(
                "Explicit activity control is not supported when automatic activity detection is enabled.",
            ));
        }
        if input.activity_start.is_some() {
            self.activity = Some(false);
            self.spoken_over().await?;
        }
        if let Some(audio) = &input.audio {
            let Some(events) = self.speech.push(audio) else {
                return Err(SessionEnd::invalid("Request contains an invalid argument."));
            };
            if let Some(has_sound) = &mut self.activity {
                *has_sound = true;
            } else if !self.config.client_marks_activity {
                for event in events {
                    match event {
                        SpeechEvent::Started => self.spoken_over().await?,
                        SpeechEvent::Ended => self.recognise().await?,
                    }
                }
            }
        }
        if let Some(text) = &input.text {
            self.input(Content::user(vec![Part::text(text)])).await?;
        }
        if input.activity_end.is_some() && self.activity.take() == Some(true) {
            self.recognise().await?;
        }
        if input.audio_stream_end == Some(true)
            && self.speech.end().is_some()
            && !self.config.client_marks_activity
        {
            self.recognise().await?;
        }
        Ok(())
    }

    /// An utterance has ended: what it was is for the script to say.
    async fn recognise(&mut self) -> Result<(), SessionEnd> {
        let index = self.conversation.utterances;
        self.conversation.utterances += 1;
        let utterance = self.core.playbook.utterance(index);
        let utterance = utterance.unwrap_or_else(|| UTTERANCE.to_owned());
        if self.config.transcribes_input {
            for piece in voice::pieces(&utterance) {
                self.send(content(ServerContent {
                    input_transcription: Some(words(&piece)),
                    ..ServerContent::default()
                }))
                .await?;
            }
        }
        self.input(Content::user(vec![Part::text(utterance)])).await
    }

    /// An input that is to be answered.
    async fn input(&mut self, said: Content) -> Result<(), SessionEnd> {
        let is_busy = self.speaking.is_some() || self.conversation.is_blocked();
        if is_busy && !self.config.can_be_interrupted {
            self.queued.push_back(said);
            return Ok(());
        }
        self.break_off().await?;
        self.conversation.contents.push(said);
        self.answer();
        Ok(())
    }

    /// Speech has started.
    async fn spoken_over(&mut self) -> Result<(), SessionEnd> {
        if self.config.can_be_interrupted {
            self.break_off().await?;
        }
        Ok(())
    }

    /// Interrupts the answer, and cancels the calls that the model waits for.
    async fn break_off(&mut self) -> Result<(), SessionEnd> {
        // In this order a turn is broken off once, also if it both speaks and waits.
        self.cancel(true).await?;
        self.interrupt().await
    }

    /// Function responses.
    async fn brought(&mut self, brought: ToolResponse) -> Result<(), SessionEnd> {
        let was_blocked = self.conversation.is_blocked();
        let mut speaks = false;
        let mut interrupts = false;
        for response in brought.function_responses {
            match self.conversation.responded_call(&response) {
                None => {
                    let id = response.id.unwrap_or_default();
                    return Err(SessionEnd::invalid(format!(
                        "Function response for an unknown function call: {id}"
                    )));
                }
                // It was taken back while the response was under way.
                Some(RespondedCall::Closed) => {}
                Some(RespondedCall::Open(call)) => {
                    if !call.is_blocking {
                        speaks |= response.scheduling != Some(Scheduling::Silent);
                        interrupts |= response.scheduling == Some(Scheduling::Interrupt);
                    }
                    self.conversation.response(&call, response);
                }
            }
        }
        if was_blocked && !self.conversation.is_blocked() {
            self.alarms.cancel = None;
            self.answer();
            return Ok(());
        }
        if !speaks || self.conversation.is_blocked() {
            return Ok(());
        }
        if self.speaking.is_some() && !interrupts {
            self.speaks_next = true;
            return Ok(());
        }
        self.interrupt().await?;
        self.answer();
        Ok(())
    }

    /// The client changes what the session was set up with.
    fn update(&mut self, update: &Value) {
        let tools = update.get("tools").and_then(|tools| tools.get("tools"));
        let tools = tools.and_then(|tools| serde_json::from_value::<Vec<Tool>>(tools.clone()).ok());
        if let Some(tools) = tools {
            self.config.tools = tools;
        }
        let system = update.get("systemInstruction");
        let system = system.or_else(|| update.get("system_instruction"));
        if let Some(system) = system.and_then(|it| serde_json::from_value(it.clone()).ok()) {
            self.system = Some(system);
        }
    }
}
