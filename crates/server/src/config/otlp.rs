//! Where traces of turns go.

use super::keys::Switch;
use super::{Origin, Settings, adk, find, pick};
use crate::error::Error;

/// The name of this service, unless the operator gives another.
const SERVICE_NAME: &str = "adk-stream";

/// Where traces go, and what they say.
#[cfg_attr(
    not(feature = "otel"),
    expect(dead_code, reason = "nothing is exported")
)]
pub(crate) struct Otlp {
    /// The collector's address.
    pub(crate) endpoint: String,
    /// The name of that setting.
    pub(crate) origin: String,
    /// The name of this service.
    pub(crate) service_name: String,
    /// Which share of the traces that begin here is recorded.
    pub(crate) ratio: f64,
    /// Headers for the collector.
    pub(crate) headers: Vec<(String, String)>,
    /// Whether what was said is exported.
    pub(crate) has_contents: bool,
}

impl std::fmt::Debug for Otlp {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Otlp")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

/// Where they go, as the operator says; nowhere, without an address.
pub(super) fn of(layers: &[(Origin, Settings)]) -> Result<Option<Otlp>, Error> {
    let ratio = match find(layers, "otlp-sampling", |layer| {
        layer.otlp_sampling.as_deref()
    }) {
        None => 1.0,
        Some((origin, text)) => match text.parse::<f64>() {
            Ok(ratio) if (0.0..=1.0).contains(&ratio) => ratio,
            _ => {
                return Err(Error::Setting {
                    origin,
                    problem: format!("{text:?} is not a share: from 0 for none to 1 for all"),
                });
            }
        },
    };
    let headers = match find(layers, "otlp-headers", |layer| {
        layer.otlp_headers.0.as_deref()
    }) {
        None => Vec::new(),
        Some((origin, lines)) => adk::headers(lines).ok_or_else(|| Error::Setting {
            origin,
            problem: agents::Error::Header.to_string(),
        })?,
    };
    let contents: Switch = pick(layers, "otlp-contents", |layer| {
        layer.otlp_contents.as_deref()
    })?;
    let name = find(layers, "otlp-service-name", |layer| {
        layer.otlp_service_name.as_deref()
    });
    let endpoint = find(layers, "otlp-endpoint", |layer| {
        layer.otlp_endpoint.as_deref()
    });
    Ok(endpoint.map(|(origin, endpoint)| Otlp {
        endpoint: endpoint.to_owned(),
        origin,
        service_name: name.map_or(SERVICE_NAME, |(_, name)| name).to_owned(),
        ratio,
        headers,
        has_contents: contents.0,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: Settings) -> Result<Option<Otlp>, String> {
        let layers = [(Origin::Flags, settings)];
        of(&layers).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_is_traced_without_an_address() {
        let settings = Settings {
            otlp_sampling: Some("0.5".to_owned()),
            ..Settings::default()
        };
        assert!(read(settings).unwrap().is_none());
    }

    #[test]
    fn share_and_headers_are_checked() {
        let share = |text: &str| {
            let otlp_sampling = Some(text.to_owned());
            let otlp_endpoint = Some("http://localhost:4318".to_owned());
            let read = read(Settings {
                otlp_sampling,
                otlp_endpoint,
                ..Settings::default()
            });
            read.map(|otlp| otlp.unwrap().ratio)
        };
        assert_eq!(share("0.25"), Ok(0.25));
        for wrong in ["", "1.5", "-1", "NaN", "all"] {
            assert!(
                share(wrong).unwrap_err().contains("otlp-sampling"),
                "{wrong}"
            );
        }
        let refused = read(Settings {
            otlp_headers: super::super::settings::Secret(Some("s3cret".to_owned())),
            ..Settings::default()
        });
        let refused = refused.unwrap_err();
        assert!(
            refused.contains("otlp-headers") && !refused.contains("s3cret"),
            "{refused}"
        );
    }
}
