//! Events of a run, past and future, without gaps or repeats however often the connection breaks.

use super::Client;
use super::requests::ByteStream;
use super::sse::Reader;
use anyhow::{Context, bail};
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use http::Method;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use steward_core::event::{Event, EventBody};
use steward_core::{RunId, Timestamp};
use uuid::Uuid;

/// A silence after which the connection counts as broken; the server sends something every 15 s.
const SILENCE: Duration = Duration::from_secs(45);
/// How long a server may be unreachable before we give up.
const AWAY: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(200);
/// Shorter outages are not reported.
const NOTICED: Duration = Duration::from_secs(1);

impl Client {
    /// Events of a run after `after`; ends after its last one.
    pub fn events(&self, run: RunId, after: u64) -> BoxStream<'_, anyhow::Result<Event>> {
        let follower = Follower { client: self, run, after, open: None, lost: None, told: false, ended: false };
        stream::unfold(follower, |mut follower| async move {
            if follower.ended {
                return None;
            }
            let event = follower.next().await;
            follower.ended = match &event {
                Ok(event) => matches!(event.body, EventBody::RunFinished { .. }),
                Err(_) => true,
            };
            Some((event, follower))
        })
        .boxed()
    }
}

struct Follower<'c> {
    client: &'c Client,
    run: RunId,
    after: u64,
    open: Option<Open>,
    lost: Option<Instant>,
    told: bool,
    ended: bool,
}

struct Open {
    body: ByteStream,
    reader: Reader,
    ready: VecDeque<Event>,
    /// What came after `ready` and was not understood.
    broken: Option<anyhow::Error>,
}

impl Follower<'_> {
    async fn next(&mut self) -> anyhow::Result<Event> {
        loop {
            let Some(open) = &mut self.open else {
                self.connect().await?;
                continue;
            };
            match open.next(self.after).await {
                Ok(Some(event)) => {
                    self.after = event.seq;
                    self.back();
                    return Ok(event);
                }
                Ok(None) => self.back(),
                Err(why) => {
                    self.open = None;
                    self.pause(why).await?;
                }
            }
        }
    }

    async fn connect(&mut self) -> anyhow::Result<()> {
        let path = format!("/api/runs/{}/events", self.run);
        let (status, body) = match self.client.stream(Method::GET, &path, Some(self.after)).await {
            Ok(answer) => (answer.status(), answer.into_body()),
            Err(error) => return self.pause(error).await,
        };
        if status.is_success() {
            self.open = Some(Open { body, reader: Reader::default(), ready: VecDeque::new(), broken: None });
            return Ok(());
        }
        let refused = self.client.refusal(status, body).await;
        if status.is_server_error() { self.pause(refused).await } else { Err(refused) }
    }

    fn back(&mut self) {
        self.lost = None;
        if std::mem::take(&mut self.told) {
            self.client.term.say("the server is back");
        }
    }

    async fn pause(&mut self, why: anyhow::Error) -> anyhow::Result<()> {
        let since = *self.lost.get_or_insert_with(Instant::now);
        if since.elapsed() > AWAY {
            return Err(why).with_context(|| {
                format!(
                    "the server has been away for {} s; the run goes on when it is started again (`steward serve`), or here with: steward resume {}",
                    AWAY.as_secs(),
                    self.run
                )
            });
        }
        if since.elapsed() > NOTICED && !self.told {
            self.told = true;
            self.client.term.clear();
            self.client
                .term
                .say(&format!("the server is away; waiting up to {} s for it (the run is safe)", AWAY.as_secs()));
        }
        tracing::debug!(run = %self.run, error = %why, "the connection broke; trying again");
        tokio::time::sleep(PAUSE).await;
        self.client.transport.reconnect().await;
        Ok(())
    }
}

impl Open {
    /// The event after `after`; `None`: only a part of it has come yet. An error means that the connection broke.
    async fn next(&mut self, after: u64) -> anyhow::Result<Option<Event>> {
        loop {
            while let Some(event) = self.ready.pop_front() {
                if event.seq == after + 1 {
                    return Ok(Some(event));
                }
                if event.seq > after {
                    bail!("event {} came after {after}", event.seq);
                }
            }
            if let Some(why) = self.broken.take() {
                return Err(why);
            }
            let Ok(piece) = tokio::time::timeout(SILENCE, self.body.next()).await else {
                bail!("the server fell silent");
            };
            let bytes = piece.context("the server ended the stream")??;
            self.broken = self.take(&bytes).err();
            if self.broken.is_none() {
                return Ok(None);
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        for message in self.reader.push(bytes)? {
            self.ready.push_back(read_event(&message.data)?);
        }
        Ok(())
    }
}

fn read_event(text: &str) -> anyhow::Result<Event> {
    let value = serde_json::from_str(text).context("an event of the server is no JSON")?;
    Ok(split_event(value)?.0)
}

/// An event, and its body as received.
pub(super) fn split_event(value: Value) -> anyhow::Result<(Event, Value)> {
    let Value::Object(mut map) = value else {
        bail!("an event of the server is no object");
    };
    let event = |map: &mut Map<String, Value>| -> Option<(RunId, u64, i64, u64)> {
        let run: Uuid = serde_json::from_value(map.shift_remove("run_id")?).ok()?;
        let seq = map.shift_remove("seq")?.as_u64()?;
        let at = map.shift_remove("at")?.as_i64()?;
        let epoch = map.shift_remove("epoch")?.as_u64()?;
        Some((RunId(run), seq, at, epoch))
    };
    let (run_id, seq, at, epoch) = event(&mut map).context("an event of the server does not say where it stands")?;
    let raw = Value::Object(map);
    let body = serde_json::from_value(raw.clone())
        .with_context(|| format!("event {seq} of run {run_id} is not understood"))?;
    let event = Event { run_id, seq, at: Timestamp(at), epoch, body };
    Ok((event, raw))
}

#[cfg(test)]
mod tests {
    use super::{read_event, split_event};
    use serde_json::json;
    use steward_core::event::{Event, EventBody};
    use steward_core::{RunId, TimerId, Timestamp};
    use uuid::Uuid;

    fn sent(body: &serde_json::Value) -> serde_json::Value {
        let mut event = json!({"run_id": Uuid::from_u128(1), "seq": 3, "at": 9, "epoch": 2});
        event.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        event
    }

    #[test]
    fn events_come_back_as_they_were() {
        let body = json!({"type": "run.resumed", "node": "local"});
        let (event, raw) = split_event(sent(&body)).unwrap();
        assert_eq!((event.seq, event.at, event.epoch), (3, Timestamp(9), 2));
        assert_eq!(raw, body);
        assert_eq!(event.body, EventBody::RunResumed { node: "local".to_owned(), after_stop: false });
    }

    #[test]
    fn alarms_and_what_is_new_are_read() {
        let alarm = Event {
            run_id: RunId(Uuid::from_u128(1)),
            seq: 3,
            at: Timestamp(9),
            epoch: 2,
            body: EventBody::TimerSet {
                timer_id: TimerId(Uuid::from_u128(5)),
                at: Timestamp(77),
                purpose: "retry".to_owned(),
            },
        };
        assert_eq!(read_event(&json!(alarm).to_string()).unwrap(), alarm);
        let new = json!({"type": "run.praised", "stars": 5});
        let (read, raw) = split_event(sent(&new)).unwrap();
        assert_eq!(read.body, EventBody::Unknown);
        assert_eq!(raw, new);
        for bad in ["[]", "{", r#"{"type": "run.resumed", "node": "x"}"#] {
            assert!(read_event(bad).is_err(), "{bad}");
        }
    }
}
