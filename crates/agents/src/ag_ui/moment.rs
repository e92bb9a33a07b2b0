//! Moments in ISO 8601, as agents write them: `2026-01-31T09:30:00Z`, with a fraction or an offset.

use turn::At;

/// Reads a moment. One without an offset is in UTC, as Python's `isoformat()` writes it.
pub(super) fn parse(text: &str) -> Option<At> {
    let text = text.trim();
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let mut date = date.splitn(3, '-').map(digits);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (time, offset) = split_offset(rest)?;
    let (time, fraction) = time.split_once(['.', ',']).unwrap_or((time, "0"));
    let mut time = time.splitn(3, ':').map(digits);
    let (hour, minute) = (time.next()??, time.next()??);
    let second = time.next().unwrap_or(Some(0))?;
    let is_moment = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour <= 24
        && minute < 60
        && second <= 60;
    if !is_moment {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    let milliseconds = seconds * 1000 + milliseconds(fraction)?;
    // Whatever was before 1970 is over.
    Some(At(u64::try_from(milliseconds).unwrap_or(0)))
}

fn digits(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.len() <= 4;
    let is_number = is_number && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// The thousandths of a second of its decimals.
fn milliseconds(fraction: &str) -> Option<i64> {
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let decimals = fraction.bytes().chain(*b"00").take(3);
    Some(decimals.fold(0, |all, digit| all * 10 + i64::from(digit - b'0')))
}

/// A time without its offset, and the offset in seconds.
fn split_offset(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(place) = time.find(['+', '-']) else {
        return Some((time, 0));
    };
    let (time, offset) = time.split_at(place);
    let (sign, offset) = offset.split_at(1);
    let (hours, minutes) = match offset.split_once(':') {
        Some(both) => both,
        None if offset.len() == 4 => offset.split_at(2),
        None => (offset, "0"),
    };
    let seconds = digits(hours)? * 3600 + digits(minutes)? * 60;
    Some((time, if sign == "-" { -seconds } else { seconds }))
}

/// The days from 1970 to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the day that not every year has is the last.
    let year = if month <= 2 { year - 1 } else { year };
    let months = (month + 9) % 12;
    let leap_days = year / 4 - year / 100 + year / 400;
    const FROM_YEAR_0_TO_1970: i64 = 719_468;
    365 * year + leap_days + (153 * months + 2) / 5 + day - 1 - FROM_YEAR_0_TO_1970
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_frameworks_write_them() {
        for (text, milliseconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T00:00:00.000Z", 951_782_400_000),
            ("2024-12-31T23:59:59.999Z", 1_735_689_599_999),
            ("2100-03-01T00:00:00+00:00", 4_107_542_400_000),
            ("2026-11-18T11:06:40.250000+00:00", 1_795_000_000_250),
            ("2026-11-18T11:06:40.25", 1_795_000_000_250),
            ("2026-11-18 13:06:40.25+02:00", 1_795_000_000_250),
            ("2026-11-18T05:36:40.25-0530", 1_795_000_000_250),
            ("2026-11-18T11:06Z", 1_794_999_960_000),
            ("1969-12-31T23:59:59Z", 0),
        ] {
            assert_eq!(parse(text), Some(At(milliseconds)), "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_not_read() {
        for text in [
            "",
            "soon",
            "2026-11-18",
            "1795000000",
            "2026-13-01T00:00:00Z",
            "2026-11-18T25:00:00Z",
            "2026-11-18T11:06:40.Z",
            "2026-11-18T11:06:40+two",
            "-2026-11-18T11:06:40Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
