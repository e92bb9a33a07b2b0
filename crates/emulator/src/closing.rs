//! That the emulator ends.

use tokio::sync::watch;

/// The signal on which everything that runs stops.
#[derive(Debug, Clone)]
pub(crate) struct Closing(watch::Receiver<bool>);

impl Closing {
    /// The sender and the receiver of the signal.
    pub(crate) fn new() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    /// Waits until the emulator ends, or is gone.
    pub(crate) async fn requested(&mut self) {
        let _ = self.0.wait_for(|is_closing| *is_closing).await.is_ok();
    }
}
