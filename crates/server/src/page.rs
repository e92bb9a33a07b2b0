//! The built page: the one that is embedded in the binary, or one in a folder.

#[cfg(feature = "page")]
mod embedded;

use std::path::{Component, Path, PathBuf};

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use crate::problem::Problem;

/// Replaces a page that was not built, and explains how to build it.
const UNBUILT: &str = include_str!("unbuilt.html");

/// Vite puts files whose names hold a hash of their content here, and no others.
const HASHED_FOLDER: &str = "assets/";

/// Where the page lies.
#[derive(Debug, Clone)]
pub(crate) enum Page {
    /// In the binary.
    BuiltIn,
    /// In a folder, by its real path.
    Folder(PathBuf),
}

/// Answers every path that no route takes: a file of the page, or a problem.
pub(crate) fn answer(page: &Page, method: &Method, uri: &Uri, headers: &HeaderMap) -> Response {
    let path = uri.path();
    let Some(file) = File::at(page, path, headers) else {
        return Problem::not_found(path).into_response();
    };
    if method != Method::GET && method != Method::HEAD {
        let problem = Problem::method_not_allowed(method, path);
        return ([(header::ALLOW, "GET,HEAD")], problem).into_response();
    }
    file.response(headers)
}

/// How a file may be compressed. The build writes both beside each file that gains from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Brotli,
    Gzip,
}

impl Encoding {
    /// The smaller first.
    pub(crate) const ALL: [Self; 2] = [Self::Brotli, Self::Gzip];

    /// As `Accept-Encoding` and `Content-Encoding` have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// What the compressed file's name ends with.
    fn extension(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
        }
    }

    /// Whether the browser takes it. What it does not name, it does not take: `*` is left to proxies.
    pub(crate) fn is_accepted(self, request: &HeaderMap) -> bool {
        let accepted = request.get_all(header::ACCEPT_ENCODING).iter();
        accepted
            .filter_map(|value| value.to_str().ok())
            .flat_map(|list| list.split(','))
            .any(|entry| {
                let mut words = entry.split(';').map(str::trim);
                let is_named = words
                    .next()
                    .is_some_and(|name| name.eq_ignore_ascii_case(self.name()));
                is_named && !words.any(is_zero_quality)
            })
    }
}

/// Whether a parameter of `Accept-Encoding` refuses what it stands beside: `q=0`, `q=0.000`.
fn is_zero_quality(parameter: &str) -> bool {
    let quality = parameter
        .strip_prefix("q=")
        .or(parameter.strip_prefix("Q="));
    quality.is_some_and(|quality| quality.parse() == Ok(0.0_f32))
}

/// A file, and all that a browser wants to know of it.
pub(crate) struct File {
    content: Bytes,
    encoding: Option<Encoding>,
    content_type: &'static str,
    cache_control: &'static str,
    etag: String,
}

impl File {
    /// The file at a path, compressed where the browser takes that and the build has it.
    fn at(page: &Page, path: &str, request: &HeaderMap) -> Option<Self> {
        let name = match path.strip_prefix('/')? {
            "" => "index.html",
            name => name,
        };
        let plain = match Self::named(page, name) {
            Some(file) => file,
            None if path == "/" && matches!(page, Page::BuiltIn) => return Some(Self::unbuilt()),
            None => return None,
        };
        let mut accepted = Encoding::ALL.into_iter();
        let compressed = accepted.find_map(|encoding| {
            let is_accepted = encoding.is_accepted(request);
            let file = is_accepted.then(|| format!("{name}{}", encoding.extension()));
            let file = Self::named(page, &file?)?;
            Some(Self {
                encoding: Some(encoding),
                content_type: plain.content_type,
                ..file
            })
        });
        Some(compressed.unwrap_or(plain))
    }

    fn named(page: &Page, name: &str) -> Option<Self> {
        match page {
            Page::Folder(folder) => Self::in_folder(folder, name),
            Page::BuiltIn => Self::built(name),
        }
    }

    #[cfg(feature = "page")]
    fn built(name: &str) -> Option<Self> {
        let (content, hash) = embedded::get(name)?;
        Some(Self::described(name, content, &hash))
    }

    /// Nothing is embedded.
    #[cfg(not(feature = "page"))]
    fn built(_: &str) -> Option<Self> {
        None
    }

    /// A file of a folder, read again for each request: a change to the page shows at once. Nothing
    /// outside of the folder is served, whatever the path or a link in the folder names.
    fn in_folder(folder: &Path, name: &str) -> Option<Self> {
        let named = Path::new(name);
        let is_plain = named
            .components()
            .all(|component| matches!(component, Component::Normal(_)));
        let file = folder.join(named).canonicalize().ok();
        let file = file.filter(|file| is_plain && file.starts_with(folder) && file.is_file())?;
        let content = std::fs::read(file).ok()?;
        let hash = Sha256::digest(&content);
        Some(Self::described(name, Bytes::from(content), &hash))
    }

    /// A file by its name, its content and a hash of that.
    pub(crate) fn described(name: &str, content: Bytes, hash: &[u8]) -> Self {
        // Half of the hash distinguishes any two builds.
        let digits: String = hash
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Self {
            content,
            encoding: None,
            content_type: content_type(name),
            cache_control: if name.starts_with(HASHED_FOLDER) {
                "public, max-age=31536000, immutable"
            } else {
                "no-cache"
            },
            etag: format!("\"{digits}\""),
        }
    }

    fn unbuilt() -> Self {
        Self {
            content: Bytes::from_static(UNBUILT.as_bytes()),
            encoding: None,
            content_type: content_type("unbuilt.html"),
            cache_control: "no-cache",
            etag: "\"unbuilt\"".to_owned(),
        }
    }

    /// The same, with content that is encoded already.
    pub(crate) fn encoded(self, encoding: Option<Encoding>) -> Self {
        Self { encoding, ..self }
    }

    pub(crate) fn response(self, request: &HeaderMap) -> Response {
        let lasting = [
            (header::CACHE_CONTROL, self.cache_control.to_owned()),
            (header::ETAG, self.etag.clone()),
            (header::VARY, "accept-encoding".to_owned()),
        ];
        if is_fresh(request, &self.etag) {
            return (StatusCode::NOT_MODIFIED, lasting).into_response();
        }
        let described = [(header::CONTENT_TYPE, self.content_type)];
        let encoding = self.encoding.map(Encoding::name);
        let encoding = encoding.map(|name| [(header::CONTENT_ENCODING, name)]);
        (lasting, described, encoding, self.content).into_response()
    }
}

/// Whether the browser holds this very file already. Tags are compared weakly, as If-None-Match
/// asks: a proxy that compresses makes them weak.
fn is_fresh(request: &HeaderMap, etag: &str) -> bool {
    request
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("css") => "text/css; charset=utf-8",
        Some("html") => "text/html; charset=utf-8",
        Some("ico") => "image/x-icon",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("mp3") => "audio/mpeg",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        Some("txt") => "text/plain; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("webp") => "image/webp",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, content: &'static [u8]) -> File {
        File::described(name, Bytes::from_static(content), &[7; 32])
    }

    fn asking_with(tags: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::IF_NONE_MATCH, tags.parse().unwrap())])
    }

    #[test]
    fn only_hashed_files_are_kept_for_ever() {
        let kept = |name| file(name, b"").cache_control;
        assert_eq!(
            kept("assets/index-D3f.js"),
            "public, max-age=31536000, immutable"
        );
        assert_eq!(kept("index.html"), "no-cache");
        assert_eq!(kept("favicon.svg"), "no-cache");
    }

    #[test]
    fn a_browser_that_has_the_file_is_spared_it() {
        let etag = file("index.html", b"<p>").etag;
        for tags in [
            etag.clone(),
            format!("W/{etag}"),
            format!("\"old\", {etag}"),
            "*".into(),
        ] {
            let response = file("index.html", b"<p>").response(&asking_with(&tags));
            assert_eq!(response.status(), StatusCode::NOT_MODIFIED, "{tags}");
            assert_eq!(response.headers()[header::ETAG], etag);
        }
        let response = file("index.html", b"<p>").response(&asking_with("\"old\""));
        assert_eq!(response.status(), StatusCode::OK);
    }

    #[test]
    fn a_folder_serves_its_files_and_nothing_else() {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("page");
        std::fs::create_dir_all(folder.join("assets")).unwrap();
        std::fs::write(outside.path().join("secret"), "no").unwrap();
        std::fs::write(folder.join("index.html"), "<p>").unwrap();
        std::fs::write(folder.join("assets/a.js"), "1").unwrap();
        let page = Page::Folder(folder.canonicalize().unwrap());
        let plain = HeaderMap::new();
        let served = |path: &str| File::at(&page, path, &plain).map(|file| file.content_type);
        assert_eq!(served("/"), Some("text/html; charset=utf-8"));
        assert_eq!(
            served("/assets/a.js"),
            Some("text/javascript; charset=utf-8")
        );
        for path in [
            "/secret",
            "/../secret",
            "//etc/hostname",
            "/assets",
            "/none",
        ] {
            assert_eq!(served(path), None, "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path().join("secret"), folder.join("link")).unwrap();
            assert_eq!(served("/link"), None);
        }
    }

    fn accepting(encodings: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT_ENCODING, encodings.parse().unwrap())])
    }

    #[test]
    fn compressed_file_goes_to_browsers_that_take_it() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [("a.js", "plain"), ("a.js.br", "b"), ("a.js.gz", "g")] {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        std::fs::write(folder.path().join("b.js"), "plain").unwrap();
        let page = Page::Folder(folder.path().canonicalize().unwrap());
        for (accepted, content, encoding) in [
            ("gzip, deflate, br, zstd", "b", Some("br")),
            ("gzip", "g", Some("gzip")),
            ("br;q=0, GZIP;q=0.5", "g", Some("gzip")),
            ("br;q=0.000,gzip; q=0", "plain", None),
            ("identity", "plain", None),
        ] {
            let file = File::at(&page, "/a.js", &accepting(accepted)).unwrap();
            assert_eq!(file.content, content, "{accepted}");
            let response = file.response(&HeaderMap::new());
            let headers = response.headers();
            let sent = headers.get(header::CONTENT_ENCODING);
            assert_eq!(sent.map(|it| it.to_str().unwrap()), encoding, "{accepted}");
            assert_eq!(headers[header::CONTENT_TYPE], content_type("a.js"));
            assert_eq!(headers[header::VARY], "accept-encoding");
        }
        let file = File::at(&page, "/b.js", &accepting("br")).unwrap();
        assert_eq!((&file.content[..], file.encoding), (&b"plain"[..], None));
    }

    #[test]
    fn each_encoding_has_a_tag_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [("a.js", "plain"), ("a.js.br", "b")] {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let page = Page::Folder(folder.path().canonicalize().unwrap());
        let tag = |accepted| File::at(&page, "/a.js", &accepting(accepted)).unwrap().etag;
        assert_ne!(tag("br"), tag("identity"));
    }

    #[test]
    fn types_are_those_that_browsers_insist_on() {
        assert_eq!(
            content_type("assets/a.b.js"),
            "text/javascript; charset=utf-8"
        );
        assert_eq!(content_type("assets/a.css"), "text/css; charset=utf-8");
        assert_eq!(content_type("LICENSE"), "application/octet-stream");
    }

    #[test]
    fn a_page_that_was_not_built_says_so() {
        let page = File::unbuilt();
        assert_eq!(page.content_type, "text/html; charset=utf-8");
        assert!(UNBUILT.contains("make run"));
    }
}
