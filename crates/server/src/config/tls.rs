//! The certificate of the listening socket, as the operator says.

use super::{Origin, Settings, find};
use crate::config::Cluster;
use crate::error::Error;
use crate::tls::{Tls, TlsFile, TlsFiles};

/// TLS, if there is a certificate; and what the operator should know of its key.
pub(super) fn of(
    layers: &[(Origin, Settings)],
    cluster: Option<&Cluster>,
) -> Result<(Option<Tls>, Option<String>), Error> {
    let certificate = find(layers, "tls-cert", |layer| layer.tls_cert.as_deref());
    let key = find(layers, "tls-key", |layer| layer.tls_key.as_deref());
    let ((certificate_origin, certificate), (key_origin, key)) = match (certificate, key) {
        (None, None) => return Ok((None, None)),
        (Some((origin, _)), None) => {
            let problem = "a certificate needs its key: set --tls-key too".to_owned();
            return Err(Error::Setting { origin, problem });
        }
        (None, Some((origin, _))) => {
            let problem = "a key needs its certificate: set --tls-cert too".to_owned();
            return Err(Error::Setting { origin, problem });
        }
        (Some(certificate), Some(key)) => (certificate, key),
    };
    if cluster.is_some_and(|cluster| cluster.advertise.is_none()) {
        return Err(Error::Setting {
            origin: certificate_origin,
            problem:
                "other servers reach this one by the name in its certificate: set --advertise \
                      to https://NAME:PORT"
                    .to_owned(),
        });
    }
    let files = TlsFiles {
        certificate: certificate.into(),
        key: key.into(),
    };
    let warning = files.warning();
    let tls = Tls::new(files).map_err(|problem| Error::Setting {
        origin: match problem.file {
            TlsFile::Certificate => certificate_origin,
            TlsFile::Key => key_origin,
        },
        problem: problem.to_string(),
    })?;
    Ok((Some(tls), warning))
}
