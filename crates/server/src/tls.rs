//! TLS on the listening socket: a certificate from PEM files, which are read again when they change.
//!
//! Certificates are replaced every few weeks, mostly by a program that restarts nothing. Files are
//! compared by their content: what replaces them may swap a link far above them.

use std::fmt;
use std::io;
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use turn::At;

use crate::access_log;
use crate::certificate;
use crate::connection::{TLS_REQUIRED, plain};
use crate::request_context::RequestId;

/// How often the files are read.
const INTERVAL: Duration = Duration::from_secs(5);

/// How much of a plain request is read after its refusal: a connection that is closed with bytes
/// unread is reset, and the response with it.
const UNREAD: usize = 64 * 1024;

/// What a client is sent that there is no room for: the alert `internal_error`, and nothing in plain.
pub(crate) const NO_ROOM: &[u8] = &[21, 3, 3, 0, 2, 2, 80];

/// Where a certificate and its key are, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    /// The certificate, and after it those that lead to a root.
    pub(crate) certificate: PathBuf,
    /// Its private key.
    pub(crate) key: PathBuf,
}

/// What is wrong with one of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlsProblem {
    /// Which of the two it is.
    pub(crate) file: TlsFile,
    path: PathBuf,
    reason: String,
}

/// One of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TlsFile {
    /// The certificate.
    Certificate,
    /// The key.
    Key,
}

impl fmt::Display for TlsProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.path.display(), self.reason)
    }
}

/// The files alone: the rest has a key.
impl fmt::Debug for Tls {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.fmt(out)
    }
}

/// What the files hold.
struct Read {
    key: Arc<CertifiedKey>,
    /// By which a change is noticed.
    digest: [u8; 32],
}

impl TlsFiles {
    fn read(&self) -> Result<Read, TlsProblem> {
        let problem = |file, reason| self.problem(file, reason);
        let unreadable = |file| move |error: io::Error| problem(file, error.to_string());
        let certificate =
            std::fs::read(&self.certificate).map_err(unreadable(TlsFile::Certificate))?;
        let key = std::fs::read(&self.key).map_err(unreadable(TlsFile::Key))?;
        let digest = Sha256::new().chain_update(&certificate).chain_update(&key);

        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificate).collect();
        let chain = chain.map_err(|error| problem(TlsFile::Certificate, error.to_string()))?;
        if chain.is_empty() {
            let reason = "there is no certificate in PEM in it".to_owned();
            return Err(problem(TlsFile::Certificate, reason));
        }
        let key = PrivateKeyDer::from_pem_slice(&key).map_err(|error| {
            let reason = match error {
                rustls::pki_types::pem::Error::NoItemsFound => {
                    "there is no private key in PEM in it, or it is encrypted".to_owned()
                }
                other => other.to_string(),
            };
            problem(TlsFile::Key, reason)
        })?;
        let key = CertifiedKey::from_der(chain, key, &ring::default_provider());
        let key = key.map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                let certificate = self.certificate.display();
                let reason = format!("the key does not belong to the certificate in {certificate}");
                problem(TlsFile::Key, reason)
            }
            rustls::Error::InvalidCertificate(error) => {
                problem(TlsFile::Certificate, error.to_string())
            }
            error => problem(TlsFile::Key, error.to_string()),
        })?;
        Ok(Read {
            key: Arc::new(key),
            digest: digest.finalize().into(),
        })
    }

    fn problem(&self, file: TlsFile, reason: String) -> TlsProblem {
        let path = match file {
            TlsFile::Certificate => &self.certificate,
            TlsFile::Key => &self.key,
        };
        TlsProblem {
            file,
            path: path.clone(),
            reason,
        }
    }

    /// What an operator should know of the key's file, though it can be read.
    pub(crate) fn warning(&self) -> Option<String> {
        readable_by_all(&self.key)
    }
}

#[cfg(unix)]
fn readable_by_all(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    let path = path.display();
    // A group may be the way in which a service is given a key that root owns.
    (mode & 0o007 != 0)
        .then(|| format!("{path}: everybody on this machine may read the key (mode {mode:03o})"))
}

#[cfg(not(unix))]
fn readable_by_all(_: &Path) -> Option<String> {
    None
}

/// The certificate of this moment.
#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        // Nothing that holds the lock can panic.
        Some(Arc::clone(
            &self.0.read().unwrap_or_else(PoisonError::into_inner),
        ))
    }
}

/// TLS for the connections of a listener. Cloning it gives the same.
#[derive(Clone)]
pub(crate) struct Tls {
    files: TlsFiles,
    acceptor: TlsAcceptor,
    current: Arc<Current>,
    /// The files as they were read last.
    digest: [u8; 32],
}

impl Tls {
    /// Reads the files.
    pub(crate) fn new(files: TlsFiles) -> Result<Self, TlsProblem> {
        let Read { key, digest } = files.read()?;
        let current = Arc::new(Current(RwLock::new(key)));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| files.problem(TlsFile::Certificate, error.to_string()))?;
        let mut config = config
            .with_no_client_auth()
            .with_cert_resolver(current.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            files,
            acceptor: TlsAcceptor::from(Arc::new(config)),
            current,
            digest,
        })
    }

    /// When the certificate expires, where that can be read.
    pub(crate) fn expiry(&self) -> Option<At> {
        let current = self.current.0.read();
        let current = current.unwrap_or_else(PoisonError::into_inner);
        certificate::expiry(current.cert.first()?)
    }

    /// Takes a connection, after its handshake. Plain HTTP gets a response that says what to do.
    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let mut first = [0];
        // A handshake begins with 22, and a request with a letter.
        if stream.peek(&mut first).await? == 1 && first[0].is_ascii_alphabetic() {
            refuse_plain(stream).await?;
            return Err(io::Error::other("plain HTTP"));
        }
        self.acceptor.accept(stream).await
    }

    /// Reads the files again, every few seconds and whenever `requests` says so. Open connections
    /// keep their certificate; files that can't be used change nothing.
    pub(crate) async fn watch(mut self, mut requests: mpsc::Receiver<()>) {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut reported = None;
        loop {
            let is_requested = tokio::select! {
                _ = ticks.tick() => false,
                Some(()) = requests.recv() => true,
            };
            let files = self.files.clone();
            // It fails only where the server ends.
            let Ok(read) = tokio::task::spawn_blocking(move || files.read()).await else {
                return;
            };
            match read {
                Ok(read) if read.digest != self.digest || is_requested => {
                    self.digest = read.digest;
                    *self
                        .current
                        .0
                        .write()
                        .unwrap_or_else(PoisonError::into_inner) = read.key;
                    reported = None;
                    let path = self.files.certificate.display();
                    tracing::info!(%path, "certificate loaded");
                }
                Ok(_) => reported = None,
                Err(problem) if reported.as_ref() != Some(&problem) || is_requested => {
                    tracing::error!(%problem, "certificate not loaded: the previous one stays in use");
                    reported = Some(problem);
                }
                Err(_) => {}
            }
        }
    }
}

/// Responds in plain, and reads what is still coming, so that the response arrives.
async fn refuse_plain(mut stream: TcpStream) -> io::Result<()> {
    let id = RequestId::fresh();
    let address = stream.peer_addr().ok();
    access_log::connection_refused(&id, address, TLS_REQUIRED);
    stream.write_all(plain(&id).as_bytes()).await?;
    socket2::SockRef::from(&stream).shutdown(Shutdown::Write)?;
    let mut rest = (&mut stream).take(UNREAD as u64);
    tokio::io::copy(&mut rest, &mut tokio::io::sink()).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn files(&self) -> TlsFiles {
            TlsFiles {
                certificate: self.0.path().join("cert.pem"),
                key: self.0.path().join("key.pem"),
            }
        }

        fn write(&self, certificate: &str, key: &str) {
            std::fs::write(self.files().certificate, certificate).unwrap();
            std::fs::write(self.files().key, key).unwrap();
        }

        fn problem(&self) -> String {
            let problem = self
                .files()
                .read()
                .err()
                .expect("it is refused")
                .to_string();
            problem.replace(&format!("{}/", self.0.path().display()), "")
        }
    }

    fn made() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = pem("PRIVATE KEY", &made.signing_key.serialize_der());
        (pem("CERTIFICATE", made.cert.der()), key)
    }

    fn pem(kind: &str, der: &[u8]) -> String {
        let text = base64::engine::general_purpose::STANDARD.encode(der);
        format!("-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n")
    }

    #[test]
    fn file_that_can_not_be_used_is_named_with_the_reason() {
        let folder = Folder::new();
        let (certificate, key) = made();
        let (_, other) = made();
        let missing = folder.problem();
        assert!(missing.starts_with("cert.pem: No such file"), "{missing}");
        for (text, key, expected) in [
            ("", &*key, "cert.pem: there is no certificate in PEM in it"),
            (
                &*certificate,
                &*certificate,
                "key.pem: there is no private key in PEM in it, or it is encrypted",
            ),
            (
                &*certificate,
                &*other,
                "key.pem: the key does not belong to the certificate in cert.pem",
            ),
        ] {
            folder.write(text, key);
            assert_eq!(folder.problem(), expected);
        }
        folder.write(&certificate, &key);
        assert!(folder.files().read().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn changed_files_are_loaded_and_broken_ones_change_nothing() {
        let folder = Folder::new();
        let (certificate, key) = made();
        folder.write(&certificate, &key);
        let tls = Tls::new(folder.files()).unwrap();
        let current = tls.current.clone();
        let used = || current.0.read().unwrap().cert[0].clone();
        let first = used();
        let (request, requests) = mpsc::channel(1);
        let watching = tokio::spawn(tls.watch(requests));

        // The key comes later than its certificate: until then neither is used.
        let (other, other_key) = made();
        folder.write(&other, &key);
        // The second request is taken only when the first was carried out.
        for _ in 0..3 {
            request.send(()).await.unwrap();
        }
        assert_eq!(used(), first);
        folder.write(&other, &other_key);
        while used() == first {
            // Time passes by itself where nothing else is to be done.
            tokio::time::sleep(INTERVAL).await;
        }
        watching.abort();
    }
}
