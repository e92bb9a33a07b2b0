//! The principals and their keys, as the operator configures them.

use std::path::Path;
use std::str::FromStr;

use super::{Origin, Settings, find, pick};
use crate::error::Error;
use crate::keys::Keys;
use crate::keys_file;

/// The keys, from the setting and from the file, and what the operator should know of the file.
pub(super) fn of(layers: &[(Origin, Settings)]) -> Result<(Keys, Option<String>), Error> {
    let mut keys: Keys = pick(layers, "keys", |layer| layer.keys.as_deref())?;
    let Some((origin, path)) = find(layers, "keys-file", |layer| layer.keys_file.as_deref()) else {
        return Ok((keys, None));
    };
    let (others, warning) = keys_file::read(Path::new(path))?;
    if others.is_empty() {
        let problem = format!("there are no keys in {path}");
        return Err(Error::Setting { origin, problem });
    }
    keys.extend(others)
        .map_err(|problem| Error::Setting { origin, problem })?;
    Ok((keys, warning))
}

/// Whether everybody is served where there are no keys.
pub(super) fn insecure(layers: &[(Origin, Settings)]) -> Result<bool, Error> {
    let Switch(insecure) = pick(layers, "insecure", |layer| layer.insecure.as_deref())?;
    Ok(insecure)
}

/// Something that is on or off.
#[derive(Default)]
pub(super) struct Switch(pub(super) bool);

impl FromStr for Switch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "true" => Ok(Self(true)),
            "false" => Ok(Self(false)),
            _ => Err(format!("`{text}` is neither true nor false")),
        }
    }
}
