//! Data URLs: how files travel between pages and models.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A data URL of base64 in either alphabet.
pub(crate) fn write(media_type: &str, data: &str) -> String {
    format!("data:{media_type};base64,{}", standard_base64(data))
}

/// Base64 of either alphabet, in the one that browsers take, with its padding.
pub(crate) fn standard_base64(data: &str) -> String {
    let digits = data.trim_end_matches('=');
    let mut text = String::with_capacity(digits.len() + 3);
    text.extend(digits.chars().map(|c| match c {
        // The alphabet for addresses, which browsers do not take here.
        '-' => '+',
        '_' => '/',
        c => c,
    }));
    text.extend(std::iter::repeat_n('=', digits.len().wrapping_neg() % 4));
    text
}

/// What a data URL holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inline {
    pub(crate) media_type: String,
    /// In base64, of either alphabet.
    pub(crate) data: String,
}

/// Whether this is a data URL.
pub(crate) fn is_data(url: &str) -> bool {
    let scheme = url.get(..5);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// Whether a model's service could fetch it.
pub(crate) fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// Reads a data URL; nothing, if it is none.
pub(crate) fn read(url: &str) -> Option<Inline> {
    let (head, data) = url.get(5..).filter(|_| is_data(url))?.split_once(',')?;
    let data = percent_decoded(data);
    let (media_type, data) = match head.strip_suffix(";base64") {
        Some(media_type) => (media_type, String::from_utf8(data).ok()?),
        None => (head, base64(&data)),
    };
    let media_type = match media_type {
        "" => "text/plain",
        media_type => media_type,
    };
    Some(Inline {
        media_type: media_type.to_owned(),
        data,
    })
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let code = tail
            .get(..2)
            .and_then(|code| std::str::from_utf8(code).ok());
        let code = code.filter(|_| byte == b'%');
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => {
                decoded.push(code);
                rest = &tail[2..];
            }
            None => {
                decoded.push(byte);
                rest = tail;
            }
        }
    }
    decoded
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .zip([16, 8, 0])
            .fold(0_usize, |bits, (byte, shift)| {
                bits | usize::from(*byte) << shift
            });
        for digit in 0..4 {
            text.push(match digit <= group.len() {
                true => char::from(ALPHABET[bits >> (18 - 6 * digit) & 63]),
                false => '=',
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_alphabet_is_written_as_browsers_read_it() {
        assert_eq!(write("image/png", "_-8"), "data:image/png;base64,/+8=");
        assert_eq!(write("image/png", "/+8="), "data:image/png;base64,/+8=");
        assert_eq!(write("a/b", "QUJD"), "data:a/b;base64,QUJD");
        assert_eq!(write("a/b", ""), "data:a/b;base64,");
    }

    #[test]
    fn base64_is_taken_as_it_is_and_text_is_put_into_it() {
        for (url, media_type, data) in [
            (
                "data:image/png;base64,iVBORw0KGgo=",
                "image/png",
                "iVBORw0KGgo=",
            ),
            (
                "DATA:image/png;base64,iVBORw0KGgo%3D",
                "image/png",
                "iVBORw0KGgo=",
            ),
            ("data:text/plain,hi", "text/plain", "aGk="),
            ("data:,h%C3%A9%", "text/plain", "aMOpJQ=="),
            (
                "data:text/html;charset=utf-8,<p>",
                "text/html;charset=utf-8",
                "PHA+",
            ),
        ] {
            let (media_type, data) = (media_type.to_owned(), data.to_owned());
            assert_eq!(read(url), Some(Inline { media_type, data }), "{url}");
        }
        for url in ["https://a.example/data:,", "data:", "data", "", "é://,"] {
            assert_eq!(read(url), None, "{url}");
        }
    }
}
