//! The principal of a request, as an extractor.

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use turn::Principal;

use crate::api::Api;
use crate::problem::Problem;
use crate::quota::Slot;
use crate::request_context::note_principal;

/// The principal of a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller(pub(crate) Principal);

impl FromRequestParts<Api> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let principal = api.identity.identify(parts).await?;
        admit(api, &principal, &parts.extensions)?;
        Ok(Self(principal))
    }
}

/// Admits a request, as far as quotas go, until its response is written.
pub(crate) fn admit(
    api: &Api,
    principal: &Principal,
    extensions: &Extensions,
) -> Result<(), Problem> {
    note_principal(principal);
    match extensions.get::<Slot>() {
        Some(slot) if slot.is_taken() => {}
        Some(slot) => slot.keep(api.quotas.admit(principal)?),
        None => {}
    }
    Ok(())
}
