//! SIGTERM and SIGINT as a queue, so that the second one is seen too; and SIGHUP.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// The signal for a write beyond the limit on file sizes.
const FILE_SIZE: i32 = 25;

/// SIGHUP as a queue: from here on it does not end the process. Requests that come while one waits
/// are one with it.
pub(crate) fn hangups() -> io::Result<mpsc::Receiver<()>> {
    let mut hangup = signal(SignalKind::hangup())?;
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            if let Err(TrySendError::Closed(())) = sender.try_send(()) {
                return;
            }
        }
    });
    Ok(receiver)
}

/// Registers the signals: from here on neither ends the process by itself.
pub(crate) fn listen() -> io::Result<mpsc::Receiver<&'static str>> {
    // Nor does this one: the write fails, the store reports it, and the server tries again.
    drop(signal(SignalKind::from_raw(FILE_SIZE))?);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (sender, receiver) = mpsc::channel(2);
    tokio::spawn(async move {
        loop {
            let name = tokio::select! {
                _ = terminate.recv() => "SIGTERM",
                _ = interrupt.recv() => "SIGINT",
            };
            if sender.send(name).await.is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}
