//! Speech detection: speech is sound that is not quiet, and it ends after a second of quiet.
//!
//! Time is measured in samples, so that audio which is sent faster than real time gives the same result.

use gemini::Blob;

use crate::signature::bytes;

/// How much of a second is examined at once.
const WINDOWS_A_SECOND: usize = 50;

/// Below this, on average, it is quiet.
const QUIET: u64 = 100;

/// How long it has to be quiet, in milliseconds, where the client does not say so.
const SILENCE: u64 = 1_000;

/// What was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeechEvent {
    /// Speech started.
    Started,
    /// They stopped.
    Ended,
}

/// A detector of speech.
#[derive(Debug)]
pub(super) struct SpeechDetector {
    silence: u64,
    is_speaking: bool,
    quiet_windows: u64,
}

impl SpeechDetector {
    pub(super) fn new(silence_ms: Option<u64>) -> Self {
        Self {
            silence: silence_ms.unwrap_or(SILENCE),
            is_speaking: false,
            quiet_windows: 0,
        }
    }

    /// Listens to some sound; None, if it is no audio.
    pub(super) fn push(&mut self, blob: &Blob) -> Option<Vec<SpeechEvent>> {
        let bytes = bytes(blob.data.as_deref()?)?;
        let rate = rate(blob.mime_type.as_deref().unwrap_or_default());
        let window = (rate / WINDOWS_A_SECOND).max(1) * 2;
        let mut events = Vec::new();
        for window in bytes.chunks(window) {
            events.extend(self.window(window));
        }
        Some(events)
    }

    /// The microphone is off: speech has ended.
    pub(super) fn end(&mut self) -> Option<SpeechEvent> {
        self.quiet_windows = 0;
        std::mem::take(&mut self.is_speaking).then_some(SpeechEvent::Ended)
    }

    fn window(&mut self, window: &[u8]) -> Option<SpeechEvent> {
        let samples = window.chunks_exact(2);
        let count = samples.len().max(1) as u64;
        let loudness = samples
            .map(|it| u64::from(i16::from_le_bytes([it[0], it[1]]).unsigned_abs()))
            .sum::<u64>();
        if loudness / count >= QUIET {
            self.quiet_windows = 0;
            let began = !std::mem::replace(&mut self.is_speaking, true);
            return began.then_some(SpeechEvent::Started);
        }
        self.quiet_windows += 1;
        let quiet = self.quiet_windows * 1_000 / WINDOWS_A_SECOND as u64;
        if quiet < self.silence {
            return None;
        }
        std::mem::take(&mut self.is_speaking).then_some(SpeechEvent::Ended)
    }
}

/// The rate in `audio/pcm;rate=16000`.
fn rate(mime_type: &str) -> usize {
    let rate = mime_type.split_once("rate=").map(|(_, rate)| rate);
    let digits = rate.map(|rate| rate.split(|it: char| !it.is_ascii_digit()).next());
    let number = digits.flatten().and_then(|digits| digits.parse().ok());
    number.unwrap_or(16_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    fn sound(loudness: i16, millis: usize) -> Vec<u8> {
        let samples = std::iter::repeat_n(loudness.to_le_bytes(), 16 * millis);
        samples.flatten().collect()
    }

    fn blob(bytes: &[u8]) -> Blob {
        Blob::new("audio/pcm;rate=16000", STANDARD.encode(bytes))
    }

    #[test]
    fn a_second_of_quiet_ends_speech() {
        let mut detector = SpeechDetector::new(None);
        let mut listen = |loudness, millis| detector.push(&blob(&sound(loudness, millis))).unwrap();
        assert_eq!(listen(0, 3_000), []);
        assert_eq!(listen(3_000, 100), [SpeechEvent::Started]);
        assert_eq!(listen(-3_000, 100), []);
        assert_eq!(listen(5, 900), []);
        assert_eq!(listen(5, 200), [SpeechEvent::Ended]);
        assert_eq!(listen(0, 5_000), []);
        assert_eq!(listen(3_000, 100), [SpeechEvent::Started]);
        assert_eq!(detector.end(), Some(SpeechEvent::Ended));
        assert_eq!(detector.end(), None);
    }

    #[test]
    fn how_long_the_quiet_lasts_is_the_clients_to_say() {
        let mut detector = SpeechDetector::new(Some(200));
        let mut bytes = sound(3_000, 100);
        bytes.extend(sound(0, 200));
        let blob = Blob::new("audio/pcm", URL_SAFE.encode(bytes));
        assert_eq!(
            detector.push(&blob).unwrap(),
            [SpeechEvent::Started, SpeechEvent::Ended]
        );
    }

    #[test]
    fn what_is_no_audio_is_refused() {
        let mut detector = SpeechDetector::new(None);
        assert_eq!(detector.push(&Blob::new("audio/pcm", "#")), None);
        assert_eq!(detector.push(&Blob::default()), None);
    }

    #[test]
    fn a_window_may_be_of_any_size() {
        let mut detector = SpeechDetector::new(Some(u64::MAX));
        let loud = sound(i16::MIN, 10_000);
        let blob = Blob::new(
            format!("audio/pcm;rate={}", usize::MAX),
            STANDARD.encode(loud),
        );
        assert_eq!(detector.push(&blob).unwrap(), [SpeechEvent::Started]);
    }

    #[test]
    fn the_rate_is_in_the_type() {
        assert_eq!(rate("audio/pcm;rate=24000"), 24_000);
        assert_eq!(rate("audio/pcm"), 16_000);
    }
}
