use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use steward_core::locks::lock;

use futures::{StreamExt, stream};
use steward_core::RunId;
use steward_core::event::{Event, EventBody};
use steward_core::ports::{EventBus, EventStream};
use tokio::sync::broadcast::{Receiver, Sender};

/// Events that a subscriber may be behind before its stream ends: of one run, and of all.
const BEHIND: [usize; 2] = [256, 4096];

/// An event bus in memory. The stream of a subscriber that falls too far behind ends; it reads on from the log.
///
/// A channel has its room from the start, so it holds pointers: with the events themselves 2 MB for all runs and 110 KB
/// for each run that somebody listens to.
#[derive(Debug)]
pub struct InProcessBus {
    runs: Mutex<HashMap<RunId, Sender<Arc<Event>>>>,
    all: Sender<Arc<Event>>,
}

impl InProcessBus {
    pub fn new() -> Self {
        Self { runs: Mutex::default(), all: Sender::new(BEHIND[1]) }
    }
}

impl Default for InProcessBus {
    fn default() -> Self {
        Self::new()
    }
}

impl EventBus for InProcessBus {
    fn publish(&self, event: &Event) {
        if self.all.receiver_count() > 0 {
            // Without a receiver the event is lost, which is what the bus promises.
            let _ = self.all.send(Arc::new(event.clone()));
        }
        let mut runs = lock(&self.runs);
        if let Some(sender) = runs.get(&event.run_id) {
            let heard = sender.send(Arc::new(event.clone())).is_ok();
            // The last event of a run ends its streams, once they have delivered it.
            if !heard || matches!(event.body, EventBody::RunFinished { .. }) {
                runs.remove(&event.run_id);
            }
        }
    }

    fn subscribe(&self, run: RunId) -> EventStream {
        let mut runs = lock(&self.runs);
        // Otherwise runs that nobody listens to any more would stay until their next event.
        runs.retain(|_, sender| sender.receiver_count() > 0);
        let sender = runs.entry(run).or_insert_with(|| Sender::new(BEHIND[0]));
        listen(sender.subscribe())
    }

    fn subscribe_all(&self) -> EventStream {
        listen(self.all.subscribe())
    }
}

/// Ends when the receiver is too far behind or the sender is gone.
fn listen(receiver: Receiver<Arc<Event>>) -> EventStream {
    stream::unfold(receiver, |mut receiver| async move {
        let event = receiver.recv().await.ok()?;
        Some((Arc::unwrap_or_clone(event), receiver))
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use std::time::Duration;
    use steward_core::Timestamp;
    use steward_core::event::Outcome;
    use steward_core::model::Usage;
    use uuid::Uuid;

    fn event(run: u128, seq: u64) -> Event {
        Event {
            run_id: RunId(Uuid::from_u128(run)),
            seq,
            at: Timestamp(0),
            epoch: 1,
            body: EventBody::StopRequested { by: "ann".to_owned(), source: None, client_left: false },
        }
    }

    fn last(run: u128, seq: u64) -> Event {
        Event {
            body: EventBody::RunFinished {
                outcome: Outcome::Completed,
                answer: String::new(),
                composed: false,
                usage: Usage::default(),
                receipts: None,
            },
            ..event(run, seq)
        }
    }

    async fn next(stream: &mut EventStream) -> Option<u64> {
        let next = tokio::time::timeout(Duration::from_secs(5), stream.next());
        next.await.unwrap().map(|event| event.seq)
    }

    #[tokio::test]
    async fn subscribers_get_their_run_and_only_from_now_on() {
        let bus = InProcessBus::new();
        bus.publish(&event(1, 1));
        let (mut one, mut again) = (bus.subscribe(RunId(Uuid::from_u128(1))), bus.subscribe(RunId(Uuid::from_u128(1))));
        let mut two = bus.subscribe(RunId(Uuid::from_u128(2)));
        let mut all = bus.subscribe_all();
        bus.publish(&event(1, 2));
        bus.publish(&event(2, 7));
        assert_eq!(next(&mut one).await, Some(2));
        assert_eq!(next(&mut again).await, Some(2));
        assert_eq!(next(&mut two).await, Some(7));
        assert_eq!(next(&mut all).await, Some(2));
        assert_eq!(next(&mut all).await, Some(7));
        assert!(one.next().now_or_never().is_none(), "nothing more, not ended");
    }

    #[tokio::test]
    async fn a_stream_ends_after_the_last_event() {
        let bus = InProcessBus::new();
        let mut one = bus.subscribe(RunId(Uuid::from_u128(1)));
        bus.publish(&event(1, 1));
        bus.publish(&last(1, 2));
        assert_eq!(next(&mut one).await, Some(1));
        assert_eq!(next(&mut one).await, Some(2));
        assert_eq!(next(&mut one).await, None);
        assert!(lock(&bus.runs).is_empty());
    }

    #[tokio::test]
    async fn who_lags_is_cut_off_and_holds_nobody_up() {
        let bus = InProcessBus::new();
        let mut slow = bus.subscribe(RunId(Uuid::from_u128(1)));
        let mut quick = bus.subscribe(RunId(Uuid::from_u128(1)));
        for seq in 1..=1000 {
            bus.publish(&event(1, seq));
            assert_eq!(next(&mut quick).await, Some(seq));
        }
        assert_eq!(next(&mut slow).await, None);
    }

    #[tokio::test]
    async fn runs_without_listeners_are_forgotten() {
        let bus = InProcessBus::new();
        for run in 0..1000 {
            drop(bus.subscribe(RunId(Uuid::from_u128(run))));
        }
        assert_eq!(lock(&bus.runs).len(), 1);
        bus.publish(&event(999, 1));
        assert!(lock(&bus.runs).is_empty());
    }
}
