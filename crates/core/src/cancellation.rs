use crate::locks::lock;
use futures::FutureExt as _;
use futures::channel::oneshot;
use futures::future::Shared;
use std::sync::{Arc, Mutex};

/// Tells everything that works for a run, or for a single call, to end. Clones share one signal. What awaits selects on
/// [`Self::cancelled`]; blocking code asks [`Self::is_cancelled`] in between.
#[derive(Debug, Clone)]
pub struct Cancellation {
    /// `None` once cancelled.
    sender: Arc<Mutex<Option<oneshot::Sender<()>>>>,
    receiver: Shared<oneshot::Receiver<()>>,
}

impl Default for Cancellation {
    fn default() -> Self {
        let (sender, receiver) = oneshot::channel();
        Self { sender: Arc::new(Mutex::new(Some(sender))), receiver: receiver.shared() }
    }
}

impl Cancellation {
    /// Cancels for good. Cancelling again changes nothing.
    pub fn cancel(&self) {
        let sender = lock(&self.sender).take();
        // Dropping the sender wakes everybody who awaits.
        drop(sender);
    }

    pub fn is_cancelled(&self) -> bool {
        lock(&self.sender).is_none()
    }

    /// Returns once it is cancelled, at once if it was before.
    pub async fn cancelled(&self) {
        let _ = self.receiver.clone().await;
    }
}

#[cfg(test)]
mod tests {
    use super::Cancellation;
    use futures::FutureExt as _;

    #[test]
    fn clones_share_the_signal() {
        let run = Cancellation::default();
        let tool = run.clone();
        assert!(!tool.is_cancelled());
        assert_eq!(tool.cancelled().now_or_never(), None);
        run.cancel();
        run.cancel();
        assert!(tool.is_cancelled());
        assert_eq!(tool.cancelled().now_or_never(), Some(()));
    }
}
