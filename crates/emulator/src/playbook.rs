//! The script in use: how often each moment came, and how often each rule was followed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::script::{Moment, Rule, Script};

/// The script in use.
#[derive(Debug, Default)]
pub(crate) struct Playbook(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    script: Script,
    /// How often each rule was followed.
    followed: Vec<u64>,
    generates: u64,
    connects: u64,
    answers: u64,
}

impl Playbook {
    pub(crate) fn new(script: Script) -> Self {
        let playbook = Self::default();
        playbook.replace(script);
        playbook
    }

    /// Starts over, with this script.
    pub(crate) fn replace(&self, script: Script) {
        *self.state() = State {
            followed: vec![0; script.rules.len()],
            script,
            ..State::default()
        };
    }

    /// Adds rules behind those that there are; utterances take the place of the old, if there are any.
    pub(crate) fn extend(&self, script: Script) {
        let mut state = self.state();
        state.followed.extend(script.rules.iter().map(|_| 0));
        state.script.rules.extend(script.rules);
        if !script.utterances.is_empty() {
            state.script.utterances = script.utterances;
        }
    }

    /// What is left of the script, without rules that were followed as often as they may be.
    pub(crate) fn remaining(&self) -> Script {
        let state = self.state();
        let rules = state.script.rules.iter().zip(&state.followed);
        let rules = rules.filter_map(|(rule, followed)| match rule.times {
            Some(times) if times <= *followed => None,
            Some(times) => Some(Rule {
                times: Some(times - followed),
                ..rule.clone()
            }),
            None => Some(rule.clone()),
        });
        Script {
            rules: rules.collect(),
            utterances: state.script.utterances.clone(),
        }
    }

    /// The transcript of the n-th utterance of a session, from 0, where the script has one.
    pub(crate) fn utterance(&self, index: usize) -> Option<String> {
        let state = self.state();
        let utterances = &state.script.utterances;
        utterances.get(index).or_else(|| utterances.last()).cloned()
    }

    /// The rule for this moment, at which this was said; an empty rule, if none matches.
    pub(crate) fn follow(&self, moment: Moment, said: &str) -> Rule {
        let mut state = self.state();
        let count = match moment {
            Moment::Generate => &mut state.generates,
            Moment::Connect => &mut state.connects,
            Moment::Answer => &mut state.answers,
        };
        *count += 1;
        let count = *count;
        let speaking = state.generates + state.answers;
        let State {
            script, followed, ..
        } = &mut *state;
        for (rule, followed) in script.rules.iter().zip(followed) {
            let (is_moment, count) = match rule.on {
                Some(on) => (on == moment, count),
                None => (moment != Moment::Connect, speaking),
            };
            let fits = is_moment
                && rule.nth.is_none_or(|nth| nth == count)
                && rule.times.is_none_or(|times| *followed < times)
                && rule
                    .contains
                    .as_ref()
                    .is_none_or(|words| said.contains(words.as_str()));
            if fits {
                *followed += 1;
                return rule.clone();
            }
        }
        Rule::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn playbook(rules: &str) -> Playbook {
        Playbook::new(Script::from_json(&format!(r#"{{"rules":{rules}}}"#)).unwrap())
    }

    fn delay(playbook: &Playbook, moment: Moment, said: &str) -> Option<u64> {
        playbook.follow(moment, said).delay_ms
    }

    #[test]
    fn the_first_rule_that_fits_is_followed() {
        let book =
            playbook(r#"[{"contains":"tea","delayMs":1},{"on":"generate","delayMs":2,"times":1}]"#);
        assert_eq!(delay(&book, Moment::Generate, "some tea"), Some(1));
        assert_eq!(delay(&book, Moment::Answer, "coffee"), None);
        assert_eq!(delay(&book, Moment::Generate, "coffee"), Some(2));
        assert_eq!(delay(&book, Moment::Generate, "coffee"), None);
        assert_eq!(book.remaining().rules.len(), 1);
    }

    #[test]
    fn the_nth_moment_is_counted_from_when_the_script_was_set() {
        let rules = r#"[{"on":"generate","nth":2,"delayMs":1}]"#;
        let book = playbook(rules);
        let delays = || [(); 3].map(|()| delay(&book, Moment::Generate, ""));
        assert_eq!(delays(), [None, Some(1), None]);
        book.replace(book.remaining());
        assert_eq!(delays(), [None, Some(1), None]);
    }

    #[test]
    fn a_rule_without_a_moment_is_not_for_connections() {
        let book = playbook(r#"[{"delayMs":1}]"#);
        assert_eq!(delay(&book, Moment::Connect, ""), None);
        assert_eq!(delay(&book, Moment::Answer, ""), Some(1));
    }

    #[test]
    fn the_last_utterance_stays() {
        let book = Playbook::default();
        assert_eq!(book.utterance(0), None);
        book.extend(Script::from_json(r#"{"utterances":["a","b"]}"#).unwrap());
        let words: Vec<_> = (0..3).filter_map(|index| book.utterance(index)).collect();
        assert_eq!(words, ["a", "b", "b"]);
    }
}
