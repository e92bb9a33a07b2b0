//! How many connections there may be, and how long each may take, as the operator says.

use std::str::FromStr;

use super::{Origin, Settings, pick};
use crate::connection::ConnectionLimits;
use crate::duration::Seconds;
use crate::error::Error;

/// A number of things, from one on, or none given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count(Option<usize>);

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(count) if count > 0 => Ok(Self(Some(count))),
            _ => Err(format!("`{text}` is not a number, from 1 on")),
        }
    }
}

/// The limits on connections.
pub(super) fn of(layers: &[(Origin, Settings)]) -> Result<ConnectionLimits, Error> {
    let default = ConnectionLimits::default();
    let Count(max) = pick(layers, "max-connections", |layer| {
        layer.max_connections.as_deref()
    })?;
    let Count(max_per_address) = pick(layers, "max-connections-per-address", |layer| {
        layer.max_connections_per_address.as_deref()
    })?;
    let Seconds(header_timeout) = pick(layers, "header-timeout", |layer| {
        layer.header_timeout.as_deref()
    })?;
    let Seconds(keep_alive) = pick(layers, "keep-alive", |layer| layer.keep_alive.as_deref())?;
    let Seconds(body_timeout) = pick(layers, "body-timeout", |layer| {
        layer.body_timeout.as_deref()
    })?;
    let Seconds(write_timeout) = pick(layers, "write-timeout", |layer| {
        layer.write_timeout.as_deref()
    })?;
    Ok(ConnectionLimits {
        max,
        max_per_address,
        header_timeout: header_timeout.unwrap_or(default.header_timeout),
        keep_alive: keep_alive.unwrap_or(default.keep_alive),
        body_timeout: body_timeout.unwrap_or(default.body_timeout),
        write_timeout: write_timeout.unwrap_or(default.write_timeout),
    })
}
