//! The model's output as agent events.

use std::collections::HashSet;

use gemini::live::{ServerContent, Transcription};
use gemini::{Data, FunctionCall, Part, UsageMetadata};
use serde_json::{Map, Value, json};
use turn::agent::AgentEvent;

use crate::gemini::{read_part, usage};
use crate::speech::{self, Sound, Voice, interrupted, is_sound};

/// What was read of a step so far.
#[derive(Debug, Default)]
pub(super) struct Reading {
    usage: Option<UsageMetadata>,
    /// The source of the last text.
    voice: Voice,
    sound: Sound,
    words: Words,
    thoughts: Words,
    /// The addresses of its sources, each shown once.
    sources: HashSet<String>,
    /// Whether anything came that belongs to this step.
    pub(super) has_begun: bool,
}

/// A text that may be repeated after the connection was lost: what was shown already is then
/// passed over, as long as it is the same.
#[derive(Debug, Default)]
struct Words {
    /// All that was shown of this text.
    shown: String,
    /// How much of that was repeated; none, if no repetition is expected.
    again: Option<usize>,
}

impl Reading {
    /// Begins again: the output so far is expected once more. Audio can't be compared,
    /// so that the player has to stop, and plays it from the beginning.
    pub(super) fn again(&mut self) -> Option<AgentEvent> {
        self.words.again();
        self.thoughts.again();
        self.has_begun = false;
        let sound = std::mem::take(&mut self.sound);
        (sound.chunks > 0).then(interrupted)
    }

    pub(super) fn usage(&mut self, usage: Option<UsageMetadata>) {
        self.usage = usage.or(self.usage.take());
    }

    /// Reads a server content.
    pub(super) fn content(&mut self, content: ServerContent) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        self.transcript(Voice::Input, content.input_transcription, &mut events);
        for part in content.model_turn.into_iter().flat_map(|turn| turn.parts) {
            self.part(part, &mut events);
        }
        self.transcript(Voice::Output, content.output_transcription, &mut events);
        let grounding = content.grounding_metadata.unwrap_or_default();
        for chunk in grounding.grounding_chunks {
            for source in [chunk.web, chunk.retrieved_context, chunk.maps] {
                let source = source.unwrap_or_default();
                if let Some(url) = source.uri
                    && self.sources.insert(url.clone())
                {
                    let title = source.title;
                    events.push(AgentEvent::Source { url, title });
                }
            }
        }
        self.has_begun |= !events.is_empty();
        events
    }

    fn part(&mut self, mut part: Part, events: &mut Vec<AgentEvent>) {
        match &mut part.data {
            Data::InlineData(blob) if is_sound(blob) => events.push(self.sound.say(blob)),
            Data::Text(text) if !part.thought.unwrap_or_default() => {
                let text = std::mem::take(text);
                // A signature on a text of Live is not needed again.
                self.say(Voice::Text, &text, events);
            }
            Data::Text(text) => {
                let text = std::mem::take(text);
                self.think(&text, events);
            }
            _ => read_part(part, events),
        }
    }

    fn transcript(
        &mut self,
        voice: Voice,
        transcript: Option<Transcription>,
        events: &mut Vec<AgentEvent>,
    ) {
        let text = transcript.and_then(|transcript| transcript.text);
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.say(voice, &text, events);
        }
    }

    fn say(&mut self, voice: Voice, text: &str, events: &mut Vec<AgentEvent>) {
        let text = match voice {
            Voice::Input => text.to_owned(),
            _ => match self.words.pass(text) {
                Passed::Same => {
                    self.has_begun = true;
                    return;
                }
                Passed::More(text) => text,
                Passed::Other(text) => {
                    self.voice = Voice::Nobody;
                    text
                }
            },
        };
        if self.voice != voice {
            events.push(AgentEvent::PartEnd);
            self.voice = voice;
        }
        let whose = match voice {
            Voice::Input => Some("input"),
            Voice::Output => Some("output"),
            Voice::Text | Voice::Nobody => None,
        };
        events.push(AgentEvent::Text {
            delta: text,
            provider_metadata: whose.map(speech::transcript),
        });
    }

    fn think(&mut self, text: &str, events: &mut Vec<AgentEvent>) {
        let (Passed::More(delta) | Passed::Other(delta)) = self.thoughts.pass(text) else {
            return;
        };
        // A text after a thought is a text of its own.
        self.voice = Voice::Nobody;
        events.push(AgentEvent::Reasoning {
            delta,
            provider_metadata: None,
        });
    }

    /// Tokens and seconds, for the message.
    pub(super) fn metadata(&self, model: &str) -> AgentEvent {
        let mut all = Map::new();
        if let Some(tokens) = &self.usage {
            all.insert("usage".to_owned(), usage(tokens));
        }
        all.insert("modelVersion".to_owned(), json!(model));
        let audio = self.sound.metadata();
        all.extend(audio.map(|audio| ("audio".to_owned(), audio)));
        AgentEvent::Metadata(Value::Object(all))
    }
}

enum Passed {
    /// It was shown already.
    Same,
    /// This is new.
    More(String),
    /// It is another text: here is all of it so far.
    Other(String),
}

impl Words {
    fn again(&mut self) {
        self.again = (!self.shown.is_empty()).then_some(0);
    }

    fn pass(&mut self, text: &str) -> Passed {
        if text.is_empty() {
            return Passed::Same;
        }
        let Some(at) = self.again else {
            self.shown.push_str(text);
            return Passed::More(text.to_owned());
        };
        let expected = &self.shown[at..];
        if let Some(rest) = text.strip_prefix(expected) {
            self.again = None;
            return self.pass(rest);
        }
        if expected.starts_with(text) {
            self.again = Some(at + text.len());
            return Passed::Same;
        }
        self.shown.truncate(at);
        self.shown.push_str(text);
        self.again = None;
        Passed::Other(self.shown.clone())
    }
}

/// A call, as an event.
pub(super) fn call(call: FunctionCall) -> Option<AgentEvent> {
    let mut events = Vec::new();
    read_part(Data::FunctionCall(call).into(), &mut events);
    let is_call = |event: &AgentEvent| matches!(event, AgentEvent::Call { .. });
    events.into_iter().find(is_call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gemini::Blob;
    use turn::metadata::{OURS, TRANSCRIPT};

    fn texts(reading: &mut Reading, pieces: &[&str]) -> Vec<String> {
        let mut shown = Vec::new();
        for piece in pieces {
            let mut events = Vec::new();
            reading.part(Part::text(*piece), &mut events);
            shown.extend(events.into_iter().filter_map(|event| match event {
                AgentEvent::Text { delta, .. } => Some(delta),
                AgentEvent::PartEnd => Some("|".to_owned()),
                _ => None,
            }));
        }
        shown
    }

    #[test]
    fn what_is_said_again_is_shown_once() {
        for (again, shown) in [
            (&["Hel", "lo wor", "ld"][..], &["ld"][..]),
            (&["Hello world"], &["ld"]),
            (&["H", "e", "llo wor", "ld", "!"], &["ld", "!"]),
            (&["Hi", " there"], &["|", "Hi", " there"]),
            (&["Hello", " there"], &["|", "Hello there"]),
        ] {
            let mut reading = Reading::default();
            assert_eq!(
                texts(&mut reading, &["Hello", " wor"]),
                ["|", "Hello", " wor"]
            );
            reading.again();
            assert_eq!(texts(&mut reading, again), shown);
        }
    }

    #[test]
    fn what_is_said_a_third_time_is_shown_once() {
        for (second, third, shown) in [
            (&["Hel"][..], &["Hello wor", "ld"][..], &["ld"][..]),
            (&["Hello world"], &["Hello world!"], &["!"]),
            (&["Hi"], &["Hi there"], &[" there"]),
            (&[], &["Hello world"], &["ld"]),
        ] {
            let mut reading = Reading::default();
            texts(&mut reading, &["Hello", " wor"]);
            reading.again();
            texts(&mut reading, second);
            reading.again();
            assert_eq!(texts(&mut reading, third), shown, "{second:?}");
        }
    }

    #[test]
    fn thoughts_and_sources_are_shown_once_too() {
        let content = || -> ServerContent {
            serde_json::from_value(json!({
                "modelTurn": {"parts": [{"text": "Hm.", "thought": true}, {"text": "Yes."}]},
                "groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://a.test"}}]},
            }))
            .unwrap()
        };
        let mut reading = Reading::default();
        assert_eq!(reading.content(content()).len(), 4);
        assert_eq!(reading.again(), None);
        assert_eq!(reading.content(content()), []);
    }

    #[test]
    fn sound_that_comes_again_is_to_be_played_from_its_beginning() {
        let mut reading = Reading::default();
        let blob = || Blob::new("audio/pcm;rate=24000", "AAAA");
        reading.sound.say(&blob());
        assert_eq!(reading.again(), Some(interrupted()));
        assert_eq!(reading.again(), None);
        reading.sound.say(&blob());
        let AgentEvent::Metadata(metadata) = reading.metadata("m") else {
            panic!()
        };
        assert_eq!(metadata["audio"]["chunks"], 1);
    }

    #[test]
    fn transcripts_of_input_and_output_are_parts_of_their_own() {
        let mut reading = Reading::default();
        let transcript = |text: &str| {
            Some(Transcription {
                text: Some(text.to_owned()),
                ..Transcription::default()
            })
        };
        let mut events = reading.content(ServerContent {
            input_transcription: transcript("Hi"),
            ..ServerContent::default()
        });
        events.extend(reading.content(ServerContent {
            output_transcription: transcript("Hello."),
            ..ServerContent::default()
        }));
        let shown: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::Text {
                    delta,
                    provider_metadata,
                } => Some((
                    delta.as_str(),
                    provider_metadata.clone()?[OURS][TRANSCRIPT].clone(),
                )),
                _ => None,
            })
            .collect();
        assert_eq!(shown, [("Hi", json!("input")), ("Hello.", json!("output"))]);
        let ends = events.iter().filter(|event| **event == AgentEvent::PartEnd);
        assert_eq!(ends.count(), 2);
    }

    #[test]
    fn sound_is_a_signal_and_is_counted() {
        let mut reading = Reading::default();
        let sound = Data::InlineData(Blob::new("audio/pcm;rate=24000", "AAAAAA-_")).into();
        let mut events = Vec::new();
        reading.part(sound, &mut events);
        let data = json!({
            "content": "AAAAAA+/", "sampleRate": 24000, "channels": 1, "bitDepth": 16,
        });
        let name = "pcm".to_owned();
        assert_eq!(events, [AgentEvent::Signal { name, data }]);
        let AgentEvent::Metadata(metadata) = reading.metadata("m") else {
            panic!()
        };
        assert_eq!(metadata["audio"]["bytes"], 6);
    }
}
