//! Errors, as OpenAI, Anthropic and those who speak like them write them.

use serde_json::Value;

use super::failure::{Failure, Provider};
use super::redactor::Redactor;

/// An error of an API.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ApiError {
    message: String,
    /// The kinds that it names, as `rate_limit_error` or `context_length_exceeded`.
    kinds: Vec<String>,
    /// The HTTP status that it names, where it comes in the middle of a stream.
    status: Option<u16>,
}

impl ApiError {
    /// Reads the body of a refusal.
    pub(crate) fn in_body(body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        Self::read(&body)
    }

    /// Reads an error: `{"error": {…}}`, `{"error": "…"}`, or its fields by themselves.
    pub(crate) fn read(value: &Value) -> Self {
        let error = value.get("error").filter(|error| !error.is_null());
        let error = error.unwrap_or(value);
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        let message = error.as_str().or(text("message")).or(text("detail"));
        let kinds = ["code", "type", "status"].into_iter().filter_map(text);
        let code = error.get("code");
        let status = code.and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
        let status = status.and_then(|status| u16::try_from(status).ok());
        Self {
            message: message.unwrap_or_default().to_owned(),
            kinds: kinds.map(str::to_lowercase).collect(),
            status: status.filter(|status| (400..600).contains(status)),
        }
    }

    fn is(&self, kind: &str) -> bool {
        self.kinds.iter().any(|named| named == kind)
    }

    /// The HTTP status that would have come with it, had it not come in the middle of a stream.
    fn http(&self) -> u16 {
        let named = self.kinds.iter().find_map(|kind| status_of(kind));
        self.status.or(named).unwrap_or(500)
    }

    /// What it means. It is logged as the service says it.
    pub(crate) fn failure(
        &self,
        provider: Provider,
        http: Option<u16>,
        redactor: &Redactor,
    ) -> Failure {
        let http = http.unwrap_or_else(|| self.http());
        let said = redactor.words(&self.message);
        let kind = redactor.words(&self.kinds.join(" "));
        let agent = provider.agent;
        tracing::warn!(agent, http, kind, message = said, "model refused");
        let is_filter = self.is("content_filter") || self.is("content_policy_violation");
        match http {
            400 if is_filter => provider.blocked("the prompt", "content_filter", Some(&said)),
            400 if self.is("invalid_api_key") => provider.refused(),
            400 if self.is("model_not_found") => provider.not_found(&said),
            429 if self.is("insufficient_quota") => Failure {
                // Nothing is gained by waiting until somebody pays.
                is_transient: false,
                ..provider.of_status(http, None, &said)
            },
            _ => provider.of_status(http, None, &said),
        }
    }
}

fn status_of(kind: &str) -> Option<u16> {
    Some(match kind {
        "authentication_error" | "invalid_api_key" | "unauthorized" => 401,
        "billing_error" => 402,
        "permission_error" | "permission_denied" => 403,
        "not_found_error" | "model_not_found" | "not_found" => 404,
        "request_too_large" => 413,
        "rate_limit_error"
        | "rate_limit_exceeded"
        | "insufficient_quota"
        | "requests"
        | "tokens"
        | "too_many_requests"
        | "throttling_error"
        | "resource_exhausted" => 429,
        "timeout_error" => 504,
        "overloaded_error" | "overloaded" | "service_unavailable" => 529,
        "content_filter"
        | "content_policy_violation"
        | "context_length_exceeded"
        | "bad_request"
        | "invalid_prompt"
        | "invalid_image"
        | "invalid_request_error" => 400,
        kind if kind.starts_with("invalid_") => 400,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MODEL: Provider = Provider {
        agent: "openai",
        subject: "The model",
    };

    fn code(http: Option<u16>, error: Value) -> (&'static str, bool) {
        let failure = ApiError::read(&error).failure(MODEL, http, &Redactor::default());
        (failure.code, failure.is_transient)
    }

    #[test]
    fn refusals_have_the_codes_of_their_statuses() {
        for (http, error, wanted) in [
            (
                400,
                json!({"error": {"code": "context_length_exceeded"}}),
                ("agent_bad_request", false),
            ),
            (
                400,
                json!({"error": {"code": "content_filter"}}),
                ("agent_blocked", false),
            ),
            (
                400,
                json!({"error": {"code": "invalid_api_key"}}),
                ("agent_unauthorized", false),
            ),
            (
                401,
                json!({"error": {"message": "no"}}),
                ("agent_unauthorized", false),
            ),
            (403, json!({}), ("agent_unauthorized", false)),
            (
                404,
                json!({"detail": "Not Found"}),
                ("agent_not_found", false),
            ),
            (
                429,
                json!({"error": {"type": "requests"}}),
                ("rate_limited", true),
            ),
            (
                429,
                json!({"error": {"code": "insufficient_quota"}}),
                ("rate_limited", false),
            ),
            (500, json!(null), ("agent_unavailable", true)),
            (
                529,
                json!({"error": {"type": "overloaded_error"}}),
                ("agent_unavailable", true),
            ),
        ] {
            assert_eq!(code(Some(http), error.clone()), wanted, "{http} {error}");
        }
    }

    #[test]
    fn errors_in_a_stream_are_known_by_what_they_name() {
        for (error, wanted) in [
            (json!({"error": {"code": 429}}), "rate_limited"),
            (json!({"error": {"code": "429"}}), "rate_limited"),
            (
                json!({"error": {"type": "rate_limit_error"}}),
                "rate_limited",
            ),
            (
                json!({"error": {"type": "overloaded_error"}}),
                "agent_unavailable",
            ),
            (
                json!({"error": {"type": "authentication_error"}}),
                "agent_unauthorized",
            ),
            (
                json!({"error": {"type": "invalid_request_error"}}),
                "agent_bad_request",
            ),
            (
                json!({"object": "error", "message": "too long", "code": 400}),
                "agent_bad_request",
            ),
            (
                json!({"error": {"code": "server_error"}}),
                "agent_unavailable",
            ),
            (json!({"error": "something"}), "agent_unavailable"),
        ] {
            assert_eq!(code(None, error.clone()).0, wanted, "{error}");
        }
    }
}
