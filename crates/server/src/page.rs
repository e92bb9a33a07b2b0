//! The built page: the one that is embedded in the binary, or one in a folder.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::{Embed, EmbeddedFile};
use sha2::{Digest, Sha256};

use crate::problem::Problem;

/// The page as Vite built it; empty where it was not built.
#[derive(Embed)]
#[folder = "../../web/demo/dist"]
#[allow_missing = true]
struct Dist;

/// Stands in for a page that was not built, and says how to build it.
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
    let Some(file) = File::at(page, path) else {
        return Problem::not_found(path).into_response();
    };
    if method != Method::GET && method != Method::HEAD {
        let problem = Problem::method_not_allowed(method, path);
        return ([(header::ALLOW, "GET,HEAD")], problem).into_response();
    }
    file.response(headers)
}

/// One file of the page, and all that a browser wants to know of it.
struct File {
    content: Bytes,
    content_type: &'static str,
    cache_control: &'static str,
    etag: String,
}

impl File {
    fn at(page: &Page, path: &str) -> Option<Self> {
        let name = match path.strip_prefix('/')? {
            "" => "index.html",
            name => name,
        };
        if let Page::Folder(folder) = page {
            return Self::in_folder(folder, name);
        }
        match Dist::get(name) {
            Some(embedded) => Some(Self::built(name, embedded)),
            None if path == "/" => Some(Self::unbuilt()),
            None => None,
        }
    }

    fn built(name: &str, embedded: EmbeddedFile) -> Self {
        let hash = embedded.metadata.sha256_hash();
        let content = match embedded.data {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => Bytes::from(bytes),
        };
        Self::described(name, content, &hash)
    }

    /// A file of a folder, read anew each time: whoever works on a page sees it at once. Nothing
    /// outside of the folder is served, whatever the path or a link in the folder says.
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

    fn described(name: &str, content: Bytes, hash: &[u8]) -> Self {
        // Half of the hash tells any two builds apart.
        let digits: String = hash
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Self {
            content,
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
            content_type: content_type("unbuilt.html"),
            cache_control: "no-cache",
            etag: "\"unbuilt\"".to_owned(),
        }
    }

    fn response(self, request: &HeaderMap) -> Response {
        let lasting = [
            (header::CACHE_CONTROL, self.cache_control.to_owned()),
            (header::ETAG, self.etag.clone()),
        ];
        if is_fresh(request, &self.etag) {
            return (StatusCode::NOT_MODIFIED, lasting).into_response();
        }
        let described = [(header::CONTENT_TYPE, self.content_type)];
        (lasting, described, self.content).into_response()
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
        let metadata = rust_embed::Metadata::__rust_embed_new([7; 32], None, None);
        File::built(
            name,
            EmbeddedFile {
                data: Cow::Borrowed(content),
                metadata,
            },
        )
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
        let served = |path: &str| File::at(&page, path).map(|file| file.content_type);
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
