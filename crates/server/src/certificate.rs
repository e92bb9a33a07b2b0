//! Until when a certificate is valid: the one thing that is read of it here. Whether it is well-formed
//! and fits its key is checked by the TLS library.

use turn::At;

/// Tags of DER.
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// When a certificate expires (`notAfter`), or nothing where that can't be read.
pub(crate) fn expiry(der: &[u8]) -> Option<At> {
    let (_, certificate, _) = element(der, Some(SEQUENCE))?;
    let (_, to_be_signed, _) = element(certificate, Some(SEQUENCE))?;
    let mut rest = to_be_signed;
    if let Some((_, _, after)) = element(rest, Some(VERSION)) {
        rest = after;
    }
    // The serial number, the algorithm of the signature, and the issuer.
    for _ in 0..3 {
        (_, _, rest) = element(rest, None)?;
    }
    let (_, validity, _) = element(rest, Some(SEQUENCE))?;
    let (_, _, validity) = element(validity, None)?;
    let (tag, until, _) = element(validity, None)?;
    time(tag, std::str::from_utf8(until).ok()?)
}

/// The first element: its tag, its content, and what is behind it.
fn element(der: &[u8], wanted: Option<u8>) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    if wanted.is_some_and(|wanted| wanted != *tag) {
        return None;
    }
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        // The length in as many bytes; certificates are shorter than four can say.
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            let length = bytes
                .iter()
                .fold(0, |length, byte| length << 8 | usize::from(*byte));
            (length, rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

/// `YYMMDDHHMMSSZ`, or with four digits of the year.
fn time(tag: u8, text: &str) -> Option<At> {
    let text = text.strip_suffix('Z')?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year = year.parse::<u64>().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let number = |place: usize| rest.get(place..place + 2)?.parse::<u64>().ok();
    let (month, day) = (number(0)?, number(2)?);
    let seconds = (number(4)? * 60 + number(6)?) * 60 + number(8)?;
    let seconds = days(year, month, day)? * 86_400 + seconds;
    Some(At(seconds * 1000))
}

/// Days from the beginning of 1970 to a date.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    const BEFORE_MONTH: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let in_year = *BEFORE_MONTH.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    let leap_day = u64::from(is_leap && month > 2);
    let before = year.checked_sub(1)?;
    let leap_days = before / 4 - before / 100 + before / 400;
    // As many as there were before 1970.
    let leap_days = leap_days.checked_sub(477)?;
    Some(year.checked_sub(1970)? * 365 + leap_days + in_year + leap_day + day.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_counted_from_1970() {
        for (text, seconds) in [
            ("19700101000000Z", 0),
            ("20000229235959Z", 951_868_799),
            ("20000301000000Z", 951_868_800),
            ("20261119214954Z", 1_795_124_994),
            ("21000301000000Z", 4_107_542_400),
            ("99991231235959Z", 253_402_300_799),
        ] {
            assert_eq!(
                time(GENERALIZED_TIME, text),
                Some(At(seconds * 1000)),
                "{text}"
            );
        }
        assert_eq!(time(UTC_TIME, "491231235959Z"), Some(At(2_524_607_999_000)));
        assert_eq!(time(UTC_TIME, "700101000000Z"), Some(At(0)));
        for bad in [
            "",
            "Z",
            "2026",
            "20261319000000Z",
            "20260019000000Z",
            "19691231235959Z",
        ] {
            assert_eq!(time(GENERALIZED_TIME, bad), None, "{bad}");
        }
    }

    #[test]
    fn expiry_of_a_certificate_is_read() {
        let key = rcgen::KeyPair::generate().unwrap();
        for (year, seconds) in [(2031, 1_924_992_000), (2077, 3_376_684_800)] {
            let mut parameters = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
            parameters.not_after = rcgen::date_time_ymd(year, 1, 1);
            let made = parameters.self_signed(&key).unwrap();
            assert_eq!(expiry(made.der()), Some(At(seconds * 1000)));
            for end in 0..made.der().len().min(200) {
                assert_eq!(expiry(&made.der()[..end]), None);
            }
        }
    }
}
