//! How the secrets of an operation are sent.

use serde_json::Value;

use super::{Document, OpenApiError, Settings, wrong};
use crate::http::{Request, Secret, Template};

/// The request with the secrets that an operation wants: those of the first of its alternatives for
/// which all are given.
pub(super) fn apply(
    document: &Document,
    settings: &Settings,
    operation: &Value,
    request: Request,
) -> Result<Request, OpenApiError> {
    let wanted = operation
        .get("security")
        .or_else(|| document.root.get("security"));
    let alternatives = wanted
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let names = |alternative: &Value| -> Vec<String> {
        let names = alternative
            .as_object()
            .into_iter()
            .flat_map(|one| one.keys());
        names.cloned().collect()
    };
    if alternatives.is_empty() {
        return Ok(request);
    }
    let given = |alternative: &&Value| {
        let names = names(alternative);
        names
            .iter()
            .all(|name| settings.security.contains_key(name))
    };
    // An empty alternative is fulfilled by nothing; one for which a secret is given says more.
    let fitting = alternatives.iter().filter(given);
    let Some(chosen) = fitting.max_by_key(|alternative| names(alternative).len()) else {
        let wanted: Vec<String> = alternatives
            .iter()
            .map(|one| names(one).join(" and "))
            .collect();
        return wrong(format!(
            "it needs a secret: set security for {}",
            wanted.join(", or ")
        ));
    };
    names(chosen).iter().try_fold(request, |request, name| {
        let secret = &settings.security[name];
        send(document, name, secret, request)
    })
}

fn send(
    document: &Document,
    name: &str,
    secret: &Secret,
    request: Request,
) -> Result<Request, OpenApiError> {
    let schemes = document.root.pointer("/components/securitySchemes");
    let Some(scheme) = schemes.and_then(|all| all.get(name)) else {
        return wrong(format!("the document has no security scheme `{name}`"));
    };
    let scheme = document.resolve(scheme)?;
    let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or_default();
    let only = || Template::default().with_secret(secret.clone());
    let bearer = || Template::literal("Bearer ").with_secret(secret.clone());
    let http = text("scheme").to_ascii_lowercase();
    let made = match (text("type"), text("in"), http.as_str()) {
        ("apiKey", "header", _) => request.with_header(text("name"), only()),
        ("apiKey", "query", _) => Ok(request.with_query(text("name"), only())),
        ("http", _, "bearer") | ("oauth2" | "openIdConnect", _, _) => {
            request.with_header("Authorization", bearer())
        }
        _ => {
            return wrong(format!(
                "the security scheme `{name}` is none that can be used; send it in headers"
            ));
        }
    };
    made.map_err(|error| OpenApiError(error.0))
}
