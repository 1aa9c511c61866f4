//! Events of a run, past and future, without gaps or repeats however often the connection breaks.

use super::Client;
use super::requests::ByteStream;
use super::sse::Reader;
use super::wire;
use anyhow::{Context, anyhow};
use bytes::BytesMut;
use futures::stream::{self, BoxStream};
use futures::{StreamExt as _, TryStreamExt as _};
use http::Method;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use steward_core::RunId;
use steward_core::event::{Event, EventBody};

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

enum Got {
    Event(Box<Event>),
    More,
    Broken(anyhow::Error),
}

impl Follower<'_> {
    async fn next(&mut self) -> anyhow::Result<Event> {
        loop {
            let Some(open) = &mut self.open else {
                self.connect().await?;
                continue;
            };
            match open.next(self.after).await {
                Got::Event(event) => {
                    self.after = event.seq;
                    self.back();
                    return Ok(*event);
                }
                Got::More => self.back(),
                Got::Broken(why) => {
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
        let text: BytesMut = body.try_collect().await.unwrap_or_default();
        let refused = self.client.refusal(status, &String::from_utf8_lossy(&text));
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
    async fn next(&mut self, after: u64) -> Got {
        loop {
            while let Some(event) = self.ready.pop_front() {
                if event.seq <= after {
                    continue;
                }
                if event.seq != after + 1 {
                    return Got::Broken(anyhow!("event {} came after {after}", event.seq));
                }
                return Got::Event(Box::new(event));
            }
            if let Some(why) = self.broken.take() {
                return Got::Broken(why);
            }
            match tokio::time::timeout(SILENCE, self.body.next()).await {
                Ok(Some(Ok(bytes))) => {
                    self.broken = self.take(&bytes).err();
                    if self.broken.is_none() {
                        return Got::More;
                    }
                }
                Ok(None) => return Got::Broken(anyhow!("the server ended the stream")),
                Ok(Some(Err(error))) => return Got::Broken(error),
                Err(_) => return Got::Broken(anyhow!("the server fell silent")),
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        for message in self.reader.push(bytes)? {
            self.ready.push_back(wire::event(&message.data)?);
        }
        Ok(())
    }
}
