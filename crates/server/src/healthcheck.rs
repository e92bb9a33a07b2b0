//! `adk-stream healthcheck`: whether a server responds, for images that have no curl.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};

use crate::config::{Config, Settings};
use crate::environment::Environment;
use crate::error::Error;
use crate::listen_address::ListenAddress;
use crate::runtime::runtime;

/// How long the server may take: less than what supervisors give a health check.
const TIME_LIMIT: Duration = Duration::from_secs(3);

/// What to ask.
#[derive(Debug, clap::Args)]
pub(crate) struct Healthcheck {
    /// What to ask, as in http://127.0.0.1:8080/readyz [default: /healthz of the server with this
    /// environment and this file]
    #[arg(value_name = "URL")]
    url: Option<String>,
    /// Configuration file of the server, or a folder of them [env: ADK_STREAM_CONFIG] [default: adk-stream.toml, when it exists]
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,
}

/// Asks, and fails unless the response is a success.
pub(crate) fn run(command: Healthcheck, environment: &Environment) -> Result<(), Error> {
    let (url, is_own) = match command.url {
        Some(url) => (url, false),
        None => {
            let flags = Settings::default();
            let config = Config::load(flags, command.config, environment, Path::new(""))?;
            let address = reachable(&config.listen);
            (format!("{}://{address}/healthz", config.scheme()), true)
        }
    };
    let runtime = runtime().map_err(|source| Error::System {
        attempt: "start the runtime",
        source,
    })?;
    let asked = runtime.block_on(ask(&url, is_own));
    asked.map_err(|reason| Error::Unhealthy { url, reason })
}

async fn ask(url: &str, is_own: bool) -> Result<(), String> {
    let tls = match is_own {
        // Its certificate has the name by which others reach it, and nothing secret is sent.
        true => unverified().map_err(|error| error.to_string())?,
        false => agents::tls_config().map_err(|error| error.to_string())?,
    };
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .timeout(TIME_LIMIT)
        .build()
        .map_err(|error| error.to_string())?;
    let response = client
        .get(url)
        .send()
        .await
        .map_err(|error| cause(&error))?;
    match response.status() {
        status if status.is_success() => Ok(()),
        status => Err(format!("it responds with {status}")),
    }
}

fn unverified() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions()?.dangerous();
    let builder = builder.with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)));
    Ok(builder.with_no_client_auth())
}

/// Takes every certificate.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// The innermost cause: the outer ones only repeat the URL.
fn cause(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no response within {} s", TIME_LIMIT.as_secs());
    }
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// Where this machine reaches a server that listens here: not at "any address".
fn reachable(listen: &ListenAddress) -> String {
    match listen.as_str().parse::<SocketAddr>() {
        Ok(address) if address.ip().is_unspecified() => {
            let ip: IpAddr = match address.ip() {
                IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            };
            SocketAddr::new(ip, address.port()).to_string()
        }
        _ => listen.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_address_is_asked_at_loopback() {
        for (listen, asked) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:81", "[::1]:81"),
            ("192.0.2.7:8080", "192.0.2.7:8080"),
            ("localhost:8080", "localhost:8080"),
        ] {
            assert_eq!(reachable(&listen.parse().unwrap()), asked);
        }
    }
}
