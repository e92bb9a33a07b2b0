//! Amounts of money, in digits.

use serde_json::{Value, json};

use super::table::VALUES;

/// An amount.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Amount {
    pub(super) value: f64,
    /// Its currency, where it has one.
    pub(super) currency: Option<&'static str>,
}

impl Amount {
    /// The input of a payment, with an integer where the amount is whole.
    pub(super) fn input(self, recipient: &str, reason: Option<&str>) -> Value {
        // Every integer up to here is a double.
        let is_whole = self.value.fract() == 0.0 && self.value <= 9e15;
        let integer = is_whole.then(|| json!(self.value as i64));
        let amount = integer.unwrap_or_else(|| json!(self.value));
        let currency = self.currency.unwrap_or("USD");
        let mut input = json!({"amount": amount, "recipient": recipient, "currency": currency});
        if let Some(reason) = reason {
            input["description"] = reason.into();
        }
        input
    }
}

/// A text as an amount, if it is one and nothing else. There is none below nothing.
pub(super) fn amount(text: &str) -> Option<Amount> {
    text.find(|it: char| it.is_ascii_digit())?;
    let text = text.trim().to_lowercase();
    let (before, rest) = word("currency", &text);
    let rest = rest.trim_start();
    let end = rest.find(|it: char| !it.is_ascii_digit() && !",.".contains(it));
    let (digits, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let (scale, rest) = word("scale", rest.trim_start());
    let (after, rest) = word("currency", rest.trim_start_matches([' ', '-']));
    let value = number(digits)? * scale.unwrap_or("1").parse::<f64>().ok()?;
    let is_one = rest.is_empty() && (before.is_none() || after.is_none() || before == after);
    (is_one && value.is_finite()).then_some(Amount {
        value,
        currency: before.or(after),
    })
}

/// The meaning of the word of a kind that a text begins with, and the rest.
fn word<'t>(kind: &str, text: &'t str) -> (Option<&'static str>, &'t str) {
    let mut words = VALUES.words(kind);
    let found = words.find_map(|(word, meaning)| Some((meaning, text.strip_prefix(word)?)));
    found.map_or((None, text), |(meaning, rest)| (Some(meaning), rest))
}

/// `12`, `1,250` or `12.50`.
fn number(digits: &str) -> Option<f64> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let (first, groups) = whole.split_once(',').unwrap_or((whole, ""));
    let is_whole = match groups {
        "" => whole == first && !first.is_empty(),
        _ => (1..=3).contains(&first.len()) && groups.split(',').all(|group| group.len() == 3),
    };
    let is_fraction = !fraction.is_empty() && !fraction.contains(['.', ',']);
    (is_whole && is_fraction).then(|| digits.replace(',', "").parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_amounts_are_integers_and_descriptions_are_there_only_where_given() {
        let input = |text, reason| amount(text).unwrap().input("Sam", reason).to_string();
        assert_eq!(
            input("$20.00", None),
            r#"{"amount":20,"recipient":"Sam","currency":"USD"}"#
        );
        assert_eq!(
            input("12.5", Some("lunch")),
            r#"{"amount":12.5,"recipient":"Sam","currency":"USD","description":"lunch"}"#
        );
    }

    #[test]
    fn money_is_read_in_digits() {
        for (text, value, currency) in [
            ("$20", 20.0, "USD"),
            ("20$", 20.0, "USD"),
            ("US$20", 20.0, "USD"),
            ("$ 20", 20.0, "USD"),
            ("$20 USD", 20.0, "USD"),
            ("USD 20", 20.0, "USD"),
            ("20usd", 20.0, "USD"),
            ("20 dollars", 20.0, "USD"),
            ("20-dollar", 20.0, "USD"),
            ("20 bucks", 20.0, "USD"),
            ("20 US dollars", 20.0, "USD"),
            ("$12.50", 12.5, "USD"),
            ("$1,250.75", 1_250.75, "USD"),
            ("1,000,000 dollars", 1_000_000.0, "USD"),
            ("$2k", 2_000.0, "USD"),
            ("1.5k dollars", 1_500.0, "USD"),
            ("$5 million", 5_000_000.0, "USD"),
            ("2 hundred dollars", 200.0, "USD"),
            ("20ドル", 20.0, "USD"),
            ("20 ドル", 20.0, "USD"),
            ("20米ドル", 20.0, "USD"),
            ("1万円", 10_000.0, "JPY"),
            ("20 euros", 20.0, "EUR"),
            ("¥500", 500.0, "JPY"),
            ("500円", 500.0, "JPY"),
        ] {
            let expected = Amount {
                value,
                currency: Some(currency),
            };
            assert_eq!(amount(text), Some(expected), "{text}");
        }
        assert_eq!(
            amount("20").map(|it| (it.value, it.currency)),
            Some((20.0, None))
        );
    }

    #[test]
    fn what_is_not_plainly_one_amount_is_none() {
        for text in [
            "",
            "$",
            "ten dollars",
            "百ドル",
            "1万5千ドル",
            "50 cents",
            "-$5",
            "$-5",
            "$5 or $10",
            "$5 €",
            "1,00",
            "1.2.3",
            "1,",
            ".5",
            "5.",
            "20%",
            "10:30",
            "5 a day",
        ] {
            assert_eq!(amount(text), None, "{text}");
        }
        assert_eq!(amount(&"9".repeat(400)), None);
    }
}
