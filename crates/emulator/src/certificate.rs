//! A certificate of its own making, since Google's SDK speaks to Live over TLS alone.
//!
//! There is an authority and a server under it: strict clients take neither an authority as a
//! server nor a server as an authority.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::error::Error;

/// A certificate for this machine.
pub(crate) struct Certificate {
    /// What a client has to trust.
    pub(crate) pem: String,
    /// What a server speaks TLS with.
    pub(crate) acceptor: TlsAcceptor,
}

impl Certificate {
    /// Makes one, for loopback and for the host that is listened on.
    pub(crate) fn new(host: &str) -> Result<Self, Error> {
        let problem = |error: rcgen::Error| Error::Certificate(error.to_string());
        let mut authority = CertificateParams::default();
        authority
            .distinguished_name
            .push(DnType::CommonName, "adk-stream emulator");
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().map_err(problem)?;
        let authority = CertifiedIssuer::self_signed(authority, key).map_err(problem)?;

        let mut names = vec!["localhost".to_owned(), "127.0.0.1".into(), "::1".into()];
        if !names.iter().any(|name| name == host) {
            names.push(host.to_owned());
        }
        let mut server = CertificateParams::new(names).map_err(problem)?;
        server
            .distinguished_name
            .push(DnType::CommonName, "localhost");
        server.use_authority_key_identifier_extension = true;
        server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().map_err(problem)?;
        let server = server.signed_by(&key, &authority).map_err(problem)?;

        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let chain = vec![server.der().clone(), authority.der().clone()];
        let problem = |error: tokio_rustls::rustls::Error| Error::Certificate(error.to_string());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(problem)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(problem)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            pem: pem(authority.der()),
            acceptor: TlsAcceptor::from(Arc::new(config)),
        })
    }
}

/// A certificate in its usual form of text.
fn pem(der: &[u8]) -> String {
    let body = STANDARD.encode(der);
    let lines = body.as_bytes().chunks(64).map(String::from_utf8_lossy);
    let lines: Vec<_> = lines.collect();
    format!(
        "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
        lines.join("\n")
    )
}
