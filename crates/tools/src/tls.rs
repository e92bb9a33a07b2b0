//! TLS for tools that talk to someone outside.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

/// Trusts the machine's root certificates, or Mozilla's if it has none.
pub(crate) fn config() -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    // Some of what a machine has may be out of date or odd; what can be read counts.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
