//! Prompts that play a fault, so that pages can be tested with it.

/// A fault to play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Fail as a provider does that was asked too often.
    RateLimit,
    /// Fail as a provider does that does not accept the key.
    RefusedKey,
    /// End in the middle.
    Break,
    /// End without a word.
    Silence,
    /// Speak for long, and slowly.
    Slowness,
    /// Call a tool with an input that it does not take.
    BadInput,
}

/// The fault that a prompt asks for.
pub(super) fn fault(prompt: &str) -> Option<Fault> {
    const FAULTS: [(&str, Fault); 6] = [
        ("fail with rate limit", Fault::RateLimit),
        ("fail with refused key", Fault::RefusedKey),
        ("break the stream", Fault::Break),
        ("say nothing", Fault::Silence),
        ("take your time", Fault::Slowness),
        ("call with bad input", Fault::BadInput),
    ];
    let prompt = prompt.to_lowercase();
    let found = FAULTS.iter().find(|(words, _)| prompt.contains(words));
    found.map(|(_, fault)| *fault)
}

/// How many words a slow text has.
pub(super) const SLOW_WORDS: usize = 200;

/// A text that takes its time.
pub(super) fn slow_text() -> String {
    const OPENING: &str = "You asked me to take my time, so here is a text of two hundred words.";
    let opening = OPENING.split(' ').map(str::to_owned);
    let counted = (opening.clone().count() + 1..).map(|number| format!("word-{number}"));
    let words: Vec<_> = opening.chain(counted).take(SLOW_WORDS).collect();
    words.join(" ") + "."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_known_in_any_case() {
        assert_eq!(
            fault("Please FAIL with rate limit!"),
            Some(Fault::RateLimit)
        );
        assert_eq!(fault("take your time"), Some(Fault::Slowness));
        assert_eq!(fault("ask for track soon"), None);
    }

    #[test]
    fn the_slow_text_has_as_many_words_as_it_says() {
        assert_eq!(slow_text().split(' ').count(), SLOW_WORDS);
    }
}
