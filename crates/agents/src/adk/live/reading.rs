//! Events of a live run as agent events.

use gemini::live::Transcription;
use gemini::{Data, Part};
use turn::agent::AgentEvent;
use turn::call::Outcome;

use super::super::agents::Agents;
use super::super::event::Event;
use super::super::reading::{self, Shown};
use crate::gemini::Failure;
use crate::speech::{self, Sound, Voice, is_sound};

/// Why a call that ADK wants confirmed is not made.
const UNCONFIRMED: &str = "This tool wants ADK's own confirmation (require_confirmation), which ADK \
                           does not have in live mode, so it did not run. Its author can ask with \
                           `adk_stream.approve` instead.";

/// What was read of a run so far.
#[derive(Debug, Default)]
pub(super) struct Reading {
    read: reading::Reading,
    /// The source of the last text.
    voice: Voice,
    input: Shown,
    spoken: Shown,
    sound: Sound,
}

impl Reading {
    /// Of an app with these agents.
    pub(super) fn of(agents: Agents) -> Self {
        Self {
            read: reading::Reading::of(agents),
            ..Self::default()
        }
    }

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

    /// Reads an event, and whether it contains calls. `answered` are long-running calls that
    /// have given a first answer.
    pub(super) fn read_output(
        &mut self,
        mut event: Event,
        answered: &[String],
    ) -> Result<(Vec<AgentEvent>, bool), Failure> {
        let mut events = self.read_responses(&event);
        if event.interrupted == Some(true) {
            events.push(speech::interrupted());
            self.voice = Voice::Nobody;
        }
        let is_partial = event.is_partial();
        let input = event.input_transcription.take();
        self.transcript(Voice::Input, input, is_partial, &mut events);
        let spoken = event.output_transcription.take();
        self.transcript(Voice::Output, spoken, is_partial, &mut events);
        if let Some(content) = event.content.as_mut().filter(|_| !is_partial) {
            content.parts.retain(|part| !self.sound(part, &mut events));
        }
        let is_complete = event.turn_complete == Some(true);
        let mut has_calls = false;
        if !event.is_from_user() {
            let said;
            (said, has_calls) = self.read.read_output(event, answered)?;
            for event in said {
                if matches!(event, AgentEvent::Text { .. }) {
                    self.switch_voice(Voice::Text, &mut events);
                }
                events.push(event);
            }
            // Calls need no approval in live mode, so that there is nothing to wait for.
            events.extend(self.read.wait());
        }
        if is_complete {
            // The next text is a text of its own.
            self.voice = Voice::Nobody;
            (self.input, self.spoken) = Default::default();
        }
        Ok((events, has_calls))
    }

    /// Reads what comes between steps: results.
    pub(super) fn read_responses(&mut self, event: &Event) -> Vec<AgentEvent> {
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
            events.extend(self.read.read_responses(event));
        }
        events
    }

    /// The events that came between steps, now that they can be shown.
    pub(super) fn begin(&mut self) -> Vec<AgentEvent> {
        self.sound = Sound::default();
        self.voice = Voice::Nobody;
        self.read.begin()
    }

    /// The events at the end of a step.
    pub(super) fn hand_over(&mut self) -> Vec<AgentEvent> {
        if let Some(audio) = self.sound.metadata() {
            self.read.put("audio", audio);
        }
        self.read.hand_over()
    }

    /// Shows a part, if it is audio.
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
            Voice::Input => (&mut self.input, "input"),
            _ => (&mut self.spoken, "output"),
        };
        let more = shown.more(&text, is_partial);
        if !is_partial {
            *shown = Shown::default();
        }
        let Some(delta) = more.filter(|more| !more.is_empty()) else {
            return;
        };
        self.switch_voice(voice, events);
        events.push(AgentEvent::Text {
            delta,
            provider_metadata: Some(speech::transcript(whose)),
        });
    }

    fn switch_voice(&mut self, voice: Voice, events: &mut Vec<AgentEvent>) {
        if self.voice != voice {
            events.push(AgentEvent::PartEnd);
            self.voice = voice;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// What a page would see of events, in short.
    fn read(events: &[Value]) -> Vec<String> {
        let mut reading = Reading::default();
        let mut shown = Vec::new();
        for event in events {
            let event: Event = serde_json::from_value(event.clone()).unwrap();
            let (events, _) = reading.read_output(event, &[]).unwrap();
            shown.extend(events.into_iter().map(short));
        }
        shown.extend(reading.hand_over().into_iter().map(short));
        shown
    }

    fn short(event: AgentEvent) -> String {
        match event {
            AgentEvent::Text {
                delta,
                provider_metadata,
            } => {
                let ours = provider_metadata.unwrap_or_default()["adkStream"].clone();
                let whose = ours["transcript"]
                    .as_str()
                    .map(|whose| format!("{whose}: "));
                format!("{}{delta}", whose.unwrap_or_default())
            }
            AgentEvent::PartEnd => "|".to_owned(),
            AgentEvent::Signal { name, .. } => format!("<{name}>"),
            AgentEvent::OwnCall {
                provider_id, place, ..
            } => format!("call {provider_id} at {place:?}"),
            AgentEvent::Settled {
                provider_id,
                outcome,
            } => format!("{provider_id} is {outcome:?}"),
            AgentEvent::Metadata(metadata) => metadata.to_string(),
            AgentEvent::Ended(_) => "end".to_owned(),
            other => format!("{other:?}"),
        }
    }

    fn model_words(text: &str, is_partial: bool) -> Value {
        json!({
            "author": "root", "partial": is_partial,
            "content": {"role": "model", "parts": [{"text": text}]},
        })
    }

    fn spoken(text: &str, is_partial: bool) -> Value {
        let transcription = json!({"text": text, "finished": !is_partial});
        json!({"author": "root", "partial": is_partial, "outputTranscription": transcription})
    }

    fn user_words(text: &str, is_partial: bool) -> Value {
        let transcription = json!({"text": text, "finished": !is_partial});
        json!({"author": "user", "partial": is_partial, "inputTranscription": transcription})
    }

    fn sound() -> Value {
        let sound = json!({"inlineData": {"data": "AAAA_-8=", "mimeType": "audio/pcm;rate=24000"}});
        json!({"author": "root", "content": {"role": "model", "parts": [sound]}})
    }

    fn usage() -> Value {
        json!({"usageMetadata": {"promptTokenCount": 1}})
    }

    fn call(id: &str, later: &[&str]) -> Value {
        let call = json!({"functionCall": {"id": id, "name": "pay", "args": {}}});
        json!({
            "author": "root", "longRunningToolIds": later,
            "content": {"role": "model", "parts": [call]},
        })
    }

    fn response(id: &str, response: Value, asked: Value) -> Value {
        let part = json!({"functionResponse": {"id": id, "name": "pay", "response": response}});
        json!({
            "author": "root", "content": {"role": "user", "parts": [part]},
            "actions": {"requestedToolConfirmations": asked},
        })
    }

    #[test]
    fn words_that_come_in_pieces_and_then_whole_are_shown_once() {
        let complete = json!({"author": "root", "turnComplete": true});
        let events = [
            model_words("Hel", true),
            model_words("lo.", true),
            usage(),
            model_words("Hello.", false),
            complete.clone(),
            model_words("Bye.", false),
            complete,
        ];
        let shown = read(&events);
        assert_eq!(shown[..5], ["|", "Hel", "lo.", "|", "Bye."]);
        assert_eq!(shown.last().unwrap(), "end");
    }

    #[test]
    fn result_in_the_middle_of_a_text_does_not_repeat_it() {
        let events = [
            call("p", &[]),
            model_words("Mean", true),
            response("p", json!({"paid": 5}), json!({})),
            model_words("while.", true),
            model_words("Meanwhile.", false),
        ];
        let shown = read(&events);
        assert_eq!(shown[0], "call p at Agent");
        assert_eq!(shown[1..3], ["|", "Mean"]);
        assert!(shown[3].starts_with("p is Output"), "{shown:?}");
        assert_eq!(shown[4], "while.");
        assert!(shown[5].starts_with('{'), "{shown:?}");
    }

    #[test]
    fn speech_of_both_is_kept_in_words_and_sound_is_passed_on() {
        let events = [
            user_words("Good ", false),
            user_words("morning", false),
            spoken("Hel", true),
            sound(),
            spoken("lo.", true),
            sound(),
            spoken("Hello.", false),
        ];
        let shown = read(&events);
        let words = ["|", "input: Good ", "input: morning", "|", "output: Hel"];
        assert_eq!(shown[..5], words);
        assert_eq!(shown[5..8], ["<pcm>", "output: lo.", "<pcm>"]);
        assert!(shown[8].contains(r#""chunks":2"#), "{shown:?}");
        assert!(shown[8].contains(r#""bytes":10"#), "{shown:?}");
    }

    #[test]
    fn transcript_that_comes_whole_after_its_pieces_is_shown_once_whosever_it_is() {
        let events = [
            user_words("Hi ", true),
            user_words("there", true),
            user_words("Hi there", false),
        ];
        assert_eq!(read(&events)[..3], ["|", "input: Hi ", "input: there"]);
    }

    #[test]
    fn page_drops_what_was_interrupted() {
        let interrupted = json!({
            "author": "root", "partial": false, "interrupted": true,
            "content": {"role": "model", "parts": [{"text": "Once"}]},
        });
        let shown = read(&[
            model_words("Once", true),
            interrupted,
            model_words("Yes?", true),
        ]);
        assert_eq!(shown[..5], ["|", "Once", "<interrupted>", "|", "Yes?"]);
    }

    #[test]
    fn call_that_wants_adks_confirmation_is_an_error_that_says_what_to_do() {
        let error = json!({"error": "This tool call requires confirmation."});
        let asked = json!({"p": {"hint": "", "confirmed": false}});
        let shown = read(&[call("p", &[]), response("p", error, asked)]);
        assert!(shown[1].contains("adk_stream.approve"), "{shown:?}");
        assert_eq!(shown.iter().filter(|it| it.starts_with("p is")).count(), 1);
    }

    #[test]
    fn long_running_call_is_a_pages() {
        assert_eq!(read(&[call("m", &["m"])])[0], "call m at Client");
    }
}
