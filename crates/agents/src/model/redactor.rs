//! Words from outside, without secrets.

use std::fmt;
use std::sync::Arc;

/// Takes secrets out of what others say: a service may repeat the key that it refuses.
#[derive(Clone, Default)]
pub(crate) struct Redactor(Arc<[String]>);

impl Redactor {
    pub(crate) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        // A short value, such as a header's `1`, would tear every text apart.
        let secrets = secrets.into_iter().filter(|secret| secret.len() > 3);
        Self(secrets.collect())
    }

    /// Words from outside, on one line and without secrets.
    pub(crate) fn words(&self, text: &str) -> String {
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let mut text = text.to_owned();
        for secret in self.0.iter() {
            text = text.replace(secret, "…");
        }
        text.chars().map(plain).collect()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Redactor")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_and_lines_are_joined() {
        let redactor = Redactor::new(["s3cret".to_owned(), "1".to_owned()]);
        assert_eq!(
            redactor.words("bad key s3cret!\nTry 1 more"),
            "bad key …! Try 1 more"
        );
        assert_eq!(format!("{redactor:?}"), "Redactor");
    }
}
