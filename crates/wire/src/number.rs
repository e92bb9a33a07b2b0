//! Numbers that would not run as they are written.
//!
//! JSON has numbers of any length. They are held here as 64-bit integers and doubles, as in JavaScript
//! and Python, and a parser rounds what is neither without a word. Where a person wrote the number, and
//! it is to run, it is refused instead.

/// The first number of a JSON text that is held as another one, such as `0.10000000000000000001`.
pub(crate) fn first_rounded(json: &[u8]) -> Option<&str> {
    let mut at = 0;
    while let Some(&byte) = json.get(at) {
        let rest = &json[at..];
        let length = match byte {
            b'"' => string_length(rest),
            b'-' | b'0'..=b'9' => {
                let length = number_length(rest);
                let number = std::str::from_utf8(&rest[..length]).ok()?;
                if is_rounded(number) {
                    return Some(number);
                }
                length
            }
            _ => 1,
        };
        at += length;
    }
    None
}

/// How long a string is that begins here, with its quotes.
fn string_length(json: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

fn number_length(json: &[u8]) -> usize {
    let is_other = |byte: &u8| !matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
    json.iter().position(is_other).unwrap_or(json.len())
}

fn is_rounded(number: &str) -> bool {
    if number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok() {
        return false;
    }
    match number.parse::<f64>() {
        // The shortest text that reads as the same double: it is what is shown.
        Ok(held) => Decimal::of(number) != Decimal::of(&format!("{held:e}")),
        Err(_) => false,
    }
}

/// A decimal number, in the one way in which it can be written: `digits` × 10^`exponent`.
#[derive(PartialEq)]
struct Decimal {
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Nothing if its exponent is beyond all numbers.
    fn of(number: &str) -> Option<Self> {
        let (digits, exponent) = match number.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse().ok()?),
            None => (number, 0_i64),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{}{fraction}", whole.trim_start_matches('-'));
        let kept = all.trim_end_matches('0');
        let zeros = i64::try_from(all.len() - kept.len()).ok()?;
        let exponent = exponent
            .checked_add(zeros)?
            .checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let digits = kept.trim_start_matches('0').to_owned();
        let exponent = if digits.is_empty() { 0 } else { exponent };
        Some(Self { digits, exponent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_that_is_held_as_it_is_written_is_left_alone() {
        for number in [
            "0",
            "-0",
            "0.0",
            "0e5",
            "1.10",
            "0.1",
            "-20.005",
            "1E+2",
            "100e-2",
            "0.30000000000000004",
            "9007199254740993",
            "-9223372036854775808",
            "18446744073709551615",
            "1e23",
            "5e-324",
            "179769313486231570000000000000000000000e270",
        ] {
            assert_eq!(first_rounded(number.as_bytes()), None, "{number}");
        }
    }

    #[test]
    fn number_that_would_be_rounded_is_found_wherever_it_stands() {
        for number in [
            "0.10000000000000000001",
            "9007199254740993.0",
            "18446744073709551616",
            "100000000000000000000001",
            "-1.00000000000000000001e2",
            "1e-400",
            "1e400",
            "1e99999999999999999999",
        ] {
            let json = format!(r#"{{"a\"1e400":"1e400\\","b":[true,{{"c":{number}}}],"d":1}}"#);
            assert_eq!(first_rounded(json.as_bytes()), Some(number), "{json}");
        }
    }
}
