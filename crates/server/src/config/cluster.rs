//! The configuration of several servers over one store.

use super::{Origin, Settings, find, pick};
use crate::duration::Seconds;
use crate::error::Error;
use crate::shared_key::SharedKey;

/// How several servers over one store work together.
#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    /// What they know each other by.
    pub(crate) key: SharedKey,
    /// Where this one is reached, if not where it listens.
    pub(crate) advertise: Option<String>,
    /// The lease: how long without a renewal until its chats may be taken over.
    pub(crate) lease: Seconds,
}

/// How they work together, if there are several.
pub(super) fn of(layers: &[(Origin, Settings)]) -> Result<Option<Cluster>, Error> {
    let key = layers.iter().find_map(|(origin, layer)| {
        let key = layer.cluster_key.0.as_deref()?;
        Some((origin.name("cluster-key"), key))
    });
    let Some((origin, key)) = key else {
        return Ok(None);
    };
    let key = SharedKey::new(key).map_err(|problem| Error::Setting { origin, problem })?;
    let advertise = find(layers, "advertise", |layer| layer.advertise.as_deref());
    if let Some((origin, url)) = &advertise
        && !(url.starts_with("http://") || url.starts_with("https://"))
    {
        return Err(Error::Setting {
            origin: origin.clone(),
            problem: format!("`{url}` is not an address; expected one as http://HOST:PORT"),
        });
    }
    Ok(Some(Cluster {
        key,
        advertise: advertise.map(|(_, url)| url.to_owned()),
        lease: pick(layers, "lease", |layer| layer.lease.as_deref())?,
    }))
}
