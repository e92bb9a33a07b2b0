//! What is said in a live run, as agent events.

use gemini::live::Transcription;
use gemini::{Data, Part};
use turn::agent::AgentEvent;
use turn::call::Outcome;

use super::super::event::Event;
use super::super::reading::{self, Shown};
use crate::gemini::Failure;
use crate::speech::{self, Sound, is_sound};

/// Why a call that ADK wants confirmed is not made.
const UNCONFIRMED: &str = "This tool wants ADK's own confirmation (require_confirmation), which ADK \
                           does not have in live mode, so it did not run. Its author can ask with \
                           `adk_stream.approve` instead.";

/// What was read of a run so far.
#[derive(Debug, Default)]
pub(super) struct Reading {
    read: reading::Reading,
    /// Whose words the last text was.
    voice: Voice,
    heard: Shown,
    spoken: Shown,
    sound: Sound,
}

/// Whose words a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Voice {
    #[default]
    Nobody,
    /// The model's, written.
    Text,
    /// The user's, heard.
    Input,
    /// The model's, spoken.
    Output,
}

impl Reading {
    /// Whether calls are at work at the agent.
    pub(super) fn is_working(&self) -> bool {
        self.read.is_working()
    }

    /// Whether calls wait for results from outside.
    pub(super) fn is_waiting(&self) -> bool {
        !self.read.waiting().is_empty()
    }

    /// They are given what they wait for.
    pub(super) fn wait_no_more(&mut self) {
        self.read.wait_no_more();
    }

    /// Reads what is said, and whether tools are called in it. `answered` are long-running calls that
    /// have given a first answer.
    pub(super) fn say(
        &mut self,
        mut event: Event,
        answered: &[String],
    ) -> Result<(Vec<AgentEvent>, bool), Failure> {
        let mut events = self.hear(&event);
        if event.interrupted == Some(true) {
            events.push(speech::interrupted());
            self.voice = Voice::Nobody;
        }
        let is_partial = event.is_partial();
        let heard = event.input_transcription.take();
        self.transcript(Voice::Input, heard, is_partial, &mut events);
        let spoken = event.output_transcription.take();
        self.transcript(Voice::Output, spoken, is_partial, &mut events);
        if let Some(content) = event.content.as_mut().filter(|_| !is_partial) {
            content.parts.retain(|part| !self.sound(part, &mut events));
        }
        let is_complete = event.turn_complete == Some(true);
        let mut has_calls = false;
        if !event.is_from_user() {
            let said;
            (said, has_calls) = self.read.say(event, answered)?;
            for event in said {
                if matches!(event, AgentEvent::Text { .. }) {
                    self.speak_as(Voice::Text, &mut events);
                }
                events.push(event);
            }
        }
        if is_complete {
            // What is said next is a text of its own.
            self.voice = Voice::Nobody;
            (self.heard, self.spoken) = Default::default();
        }
        Ok((events, has_calls))
    }

    /// Reads what comes between steps: results.
    pub(super) fn hear(&mut self, event: &Event) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        for response in event.responses() {
            let Some(id) = response.id.as_ref() else {
                continue;
            };
            if event.is_placeholder(response) {
                let error = UNCONFIRMED.to_owned();
                events.extend(self.read.settle(id, Outcome::Error { error }));
            }
        }
        if event.responses().next().is_some() {
            events.extend(self.read.hear(event));
        }
        events
    }

    /// What is said of what came between steps, now that it can be shown.
    pub(super) fn begin(&mut self) -> Vec<AgentEvent> {
        self.sound = Sound::default();
        self.voice = Voice::Nobody;
        // No call is put off: a live model takes results one by one.
        self.read.begin().0
    }

    /// What is said when the step is over.
    pub(super) fn hand_over(&mut self) -> Vec<AgentEvent> {
        if let Some(audio) = self.sound.metadata() {
            self.read.put("audio", audio);
        }
        self.read.hand_over()
    }

    /// What is said of the calls that were at work when the agent failed.
    pub(super) fn fail(&mut self, failure: &Failure) -> Vec<AgentEvent> {
        self.read.fail(failure)
    }

    /// Tells a part, if it is sound.
    fn sound(&mut self, part: &Part, events: &mut Vec<AgentEvent>) -> bool {
        match &part.data {
            Data::InlineData(blob) if is_sound(blob) => {
                events.push(self.sound.say(blob));
                true
            }
            _ => false,
        }
    }

    fn transcript(
        &mut self,
        voice: Voice,
        transcript: Option<Transcription>,
        is_partial: bool,
        events: &mut Vec<AgentEvent>,
    ) {
        let Some(text) = transcript.and_then(|transcript| transcript.text) else {
            return;
        };
        let (shown, whose) = match voice {
            Voice::Input => (&mut self.heard, "input"),
            _ => (&mut self.spoken, "output"),
        };
        let more = shown.more(&text, is_partial);
        if !is_partial {
            *shown = Shown::default();
        }
        let Some(delta) = more.filter(|more| !more.is_empty()) else {
            return;
        };
        self.speak_as(voice, events);
        events.push(AgentEvent::Text {
            delta,
            provider_metadata: Some(speech::transcript(whose)),
        });
    }

    fn speak_as(&mut self, voice: Voice, events: &mut Vec<AgentEvent>) {
        if self.voice != voice {
            events.push(AgentEvent::PartEnd);
            self.voice = voice;
        }
    }
}
