//! What a server costs before anybody asks it for anything.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::sample::Sample;
use crate::subject::Subject;

/// What came of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Footprint {
    /// Who was measured.
    pub subject: String,
    /// Milliseconds until it listens, for half of the starts.
    pub start_p50: f64,
    /// Its memory when it has nothing to do, in bytes.
    pub idle_bytes: u64,
    /// How large its one file is, where it is one, in bytes.
    pub binary_bytes: Option<u64>,
}

/// How often a server is started.
const STARTS: usize = 5;

/// Starts a server several times.
pub async fn measure(
    name: &str,
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
    folder: &Path,
    is_one_file: bool,
) -> io::Result<Footprint> {
    let mut starts = Sample::default();
    let mut idle_bytes = 0;
    for _ in 0..STARTS {
        let subject = Subject::start(program, arguments, folder).await?;
        starts.push(subject.start);
        tokio::time::sleep(Duration::from_millis(200)).await;
        idle_bytes = subject.memory()?;
        subject.stop().await?;
    }
    let size = || std::fs::metadata(program).map(|file| file.len());
    Ok(Footprint {
        subject: name.to_owned(),
        start_p50: starts.percentile(50),
        idle_bytes,
        binary_bytes: if is_one_file { Some(size()?) } else { None },
    })
}
