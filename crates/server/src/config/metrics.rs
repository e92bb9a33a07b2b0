//! Who may read the metrics, and where.

use std::net::SocketAddr;

use tokio::net::TcpListener;

use super::{Origin, Settings, find};
use crate::error::Error;
use crate::listen_address::ListenAddress;
use crate::shared_key::SharedKey;
use crate::token_prices::TokenPrices;

/// Who may read the metrics, and where.
#[derive(Debug)]
pub(crate) struct MetricsAccess {
    /// An address of their own.
    pub(crate) listen: Option<ListenAddress>,
    /// The name of that setting.
    origin: String,
    /// The key, which opens them on the server's own address too.
    pub(crate) key: Option<SharedKey>,
    /// What tokens cost.
    pub(crate) token_prices: Option<TokenPrices>,
}

/// Who may read them, as the operator says.
pub(super) fn of(layers: &[(Origin, Settings)]) -> Result<MetricsAccess, Error> {
    let key = layers.iter().find_map(|(origin, layer)| {
        let key = layer.metrics_key.0.as_deref()?;
        Some((origin.name("metrics-key"), key))
    });
    let key = key.map(|(origin, key)| {
        SharedKey::new(key).map_err(|problem| Error::Setting { origin, problem })
    });
    let listen = find(layers, "metrics-listen", |layer| {
        layer.metrics_listen.as_deref()
    });
    let (origin, address) = listen.unzip();
    let origin = origin.unwrap_or_default();
    let listen = address.map(|address| {
        let setting = |problem| Error::Setting {
            origin: origin.clone(),
            problem,
        };
        address.parse().map_err(setting)
    });
    let prices = find(layers, "token-prices", |layer| {
        layer.token_prices.as_deref()
    });
    let prices = prices.map(|(origin, text)| {
        text.parse()
            .map_err(|problem| Error::Setting { origin, problem })
    });
    Ok(MetricsAccess {
        listen: listen.transpose()?,
        origin,
        key: key.transpose()?,
        token_prices: prices.transpose()?,
    })
}

impl MetricsAccess {
    /// Listens where the metrics are read. Other machines need a key.
    pub(crate) async fn bind(
        &self,
        address: &ListenAddress,
    ) -> Result<(TcpListener, SocketAddr), Error> {
        let refused = |source| Error::Listen {
            address: address.clone(),
            source,
        };
        let listener = TcpListener::bind(address.as_str()).await.map_err(refused)?;
        let bound = listener.local_addr().map_err(refused)?;
        if self.key.is_none() && !bound.ip().to_canonical().is_loopback() {
            return Err(Error::Setting {
                origin: self.origin.clone(),
                problem: format!(
                    "other machines reach {address}, so it needs a key: set ADK_STREAM_METRICS_KEY"
                ),
            });
        }
        Ok((listener, bound))
    }
}
