//! TLS for every agent that talks to someone outside, and for others who do.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use crate::error::Error;

/// Trusts whom this machine trusts, and where it has nobody, whom Mozilla trusts.
pub(crate) fn config() -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore::empty();
    // Some of what a machine has may be out of date or odd; what can be read counts.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Client(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// An HTTP client for talking to servers of one's own: without proxies, and with patience for none.
pub fn http_client() -> Result<reqwest::Client, Error> {
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(config()?)
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(std::time::Duration::from_secs(2))
        .no_proxy()
        .tcp_nodelay(true);
    let failed = |error: reqwest::Error| Error::Client(error.without_url().to_string());
    client.build().map_err(failed)
}
