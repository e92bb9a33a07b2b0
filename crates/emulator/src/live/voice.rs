//! Text to speech: a tone for each piece of text, as long as it takes to say it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// What Google sends: 24 kHz, one channel, 16 bits, little-endian.
pub(super) const MIME_TYPE: &str = "audio/pcm;rate=24000";
const RATE: usize = 24_000;

/// How loud.
const VOLUME: f32 = 6_000.0;

/// How long a letter takes; a Japanese one is a syllable.
fn length(letter: char) -> usize {
    let millis = match letter {
        ' ' => 40,
        letter if letter.is_ascii() => 60,
        _ => 140,
    };
    RATE * millis / 1_000
}

/// The sound of a text, in base64.
pub(super) fn say(words: &str) -> String {
    let samples = words.chars().map(length).sum::<usize>();
    // A pitch for each text, so that two texts sound different.
    let pitch = 180.0 + (words.chars().map(u32::from).sum::<u32>() % 12) as f32 * 20.0;
    let fade = (RATE / 200) as f32;
    let mut bytes = Vec::with_capacity(samples * 2);
    for at in 0..samples {
        // Without a fade, each tone would begin and end with a crack.
        let edge = at.min(samples - at) as f32;
        let volume = VOLUME * (edge / fade).min(1.0);
        let angle = at as f32 / RATE as f32 * pitch * std::f32::consts::TAU;
        let sample = (volume * angle.sin()) as i16;
        bytes.extend(sample.to_le_bytes());
    }
    STANDARD.encode(bytes)
}

/// The text in pieces of a few words.
pub(super) fn pieces(words: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    for word in words.split_inclusive(' ') {
        let letters: Vec<_> = word.chars().collect();
        // Japanese has no spaces.
        let size = if word.is_ascii() { usize::MAX } else { 8 };
        pieces.extend(letters.chunks(size).map(String::from_iter));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_sounds_as_long_as_it_is() {
        let samples = |words| {
            let bytes = STANDARD.decode(say(words)).unwrap();
            let samples = bytes.chunks(2).map(|it| i16::from_le_bytes([it[0], it[1]]));
            samples.collect::<Vec<_>>()
        };
        let hello = samples("Hello");
        assert_eq!(hello.len(), RATE * 300 / 1_000);
        assert!(hello.iter().any(|sample| *sample > 5_000));
        assert_eq!(hello[0], 0);
        assert!(samples("東京").len() > samples("ab").len());
        assert!(say("").is_empty());
    }

    #[test]
    fn words_are_cut_without_loss() {
        for words in ["What is the weather?", "東京の天気を教えてください。", ""] {
            assert_eq!(pieces(words).concat(), words);
        }
        assert_eq!(pieces("a bc").len(), 2);
    }
}
