//! One command on a server, from the connection to its end.

use super::command::{Sudo, line};
use super::known::HostKeys;
use super::link::{self, Gate};
use super::login::Login;
use super::order::Order;
use super::text::Kept;
use russh::client::{Handle, Msg};
use russh::{ChannelMsg, ChannelReadHalf, ChannelWriteHalf, Disconnect, Sig};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// How long a silent sudo is given to ask, before it is taken to need no password.
const QUIET: Duration = Duration::from_secs(3);
/// How long output may follow the end of a command: what it left in the background may hold it open.
const LINGER: Duration = Duration::from_secs(1);
/// How long a command that is asked to end is given, before it is made to.
const TERM: Duration = Duration::from_millis(400);
/// How long the server is given to make it end.
const KILL: Duration = Duration::from_millis(300);

/// What a command wrote, and how it ended.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub status: Option<u32>,
    pub signal: Option<String>,
    pub stdout: Kept,
    pub stderr: Kept,
}

/// Why there is no end of a command.
#[derive(Debug)]
pub(super) enum Failure {
    Refused(String),
    /// sudo did not let it run.
    Sudo(&'static str),
    /// The connection broke after the command was sent.
    Broken(Box<Done>),
    Stopped {
        done: Box<Done>,
        /// Whether the server says that it ended.
        ended: bool,
    },
}

/// Runs it. Does its own tidying up when `end` is cancelled, so it is best a task of its own.
pub(super) async fn run(
    keys: Arc<dyn HostKeys>,
    order: Order,
    login: Login,
    end: CancellationToken,
) -> Result<Done, Failure> {
    let early = || Failure::Refused("it was stopped before anything was run".to_owned());
    let opened = tokio::select! {
        () = end.cancelled() => return Err(early()),
        opened = link::open(&keys, &order, &login) => opened.map_err(Failure::Refused)?,
    };
    let refused = |error: russh::Error| Failure::Refused(format!("{} opened no session: {error}", order.place));
    let channel = tokio::select! {
        () = end.cancelled() => return Err(early()),
        channel = opened.handle.channel_open_session() => channel.map_err(refused)?,
    };
    let (read, write) = channel.split();
    let marker = format!("steward-{:032x}:", rand::random::<u128>());
    let (line, sudo) = line(&order, login.sudo.as_ref(), marker);
    if end.is_cancelled() {
        return Err(early());
    }
    write.exec(true, line.into_bytes()).await.map_err(refused)?;
    let stdin = order.stdin.as_deref().unwrap_or_default().as_bytes();
    let (open, gate) = oneshot::channel();
    let talk =
        Talk { read, done: Done::default(), gate: Some(open), quiet: Instant::now() + QUIET, linger: None, sudo };
    let outcome = talk.follow(&opened.handle, &write, feed(&write, gate, stdin), &end).await;
    let bye = opened.handle.disconnect(Disconnect::ByApplication, "", "");
    let _ = timeout(KILL, bye).await;
    outcome
}

/// Writes standard input once it may flow. A command that reads none of it is no failure. Never ends,
/// so that it can be polled beside the talk.
async fn feed(write: &ChannelWriteHalf<Msg>, gate: oneshot::Receiver<Vec<u8>>, stdin: &[u8]) {
    if let Ok(mut all) = gate.await {
        all.extend_from_slice(stdin);
        if all.is_empty() || write.data(all.as_slice()).await.is_ok() {
            let _ = write.eof().await;
        }
    }
    std::future::pending::<()>().await;
}

/// The talk with a command under way.
struct Talk {
    read: ChannelReadHalf,
    done: Done,
    /// Lets standard input flow, with what comes before it.
    gate: Option<oneshot::Sender<Vec<u8>>>,
    /// When a sudo that has not asked is taken to need no password.
    quiet: Instant,
    /// When output ends to be waited for.
    linger: Option<Instant>,
    sudo: Option<Sudo>,
}

impl Talk {
    async fn follow(
        mut self,
        link: &Handle<Gate>,
        write: &ChannelWriteHalf<Msg>,
        feed: impl Future<Output = ()>,
        end: &CancellationToken,
    ) -> Result<Done, Failure> {
        tokio::pin!(feed);
        if self.sudo.is_none() {
            self.let_in(Vec::new());
        }
        loop {
            let (quiet, linger) = (self.quiet, self.linger);
            tokio::select! {
                biased;
                () = end.cancelled() => return Err(self.stop(link, write).await),
                message = self.read.wait() => match message {
                    None | Some(ChannelMsg::Close) => break,
                    Some(message) => if let Err(failure) = self.hear(message) {
                        self.stop(link, write).await;
                        return Err(failure);
                    },
                },
                () = &mut feed => {}
                () = sleep_until(quiet), if self.gate.is_some() => self.let_in(Vec::new()),
                () = sleep_until(linger.unwrap_or(quiet)), if linger.is_some() => break,
            }
        }
        self.close();
        if self.done.status.is_none() && self.done.signal.is_none() {
            return Err(Failure::Broken(Box::new(self.done)));
        }
        Ok(self.done)
    }

    fn let_in(&mut self, first: Vec<u8>) {
        if let Some(gate) = self.gate.take() {
            let _ = gate.send(first);
        }
    }

    fn hear(&mut self, message: ChannelMsg) -> Result<(), Failure> {
        match message {
            ChannelMsg::Failure => {
                return Err(Failure::Refused("the server lets this login run no commands".to_owned()));
            }
            ChannelMsg::Data { data } => {
                self.done.stdout.push(&data);
                // The command runs, so sudo will not ask any more.
                self.let_in(Vec::new());
            }
            ChannelMsg::ExtendedData { data, ext: 1 } => return self.errors(&data),
            ChannelMsg::ExitStatus { exit_status } => {
                self.done.status = Some(exit_status);
                self.linger = Some(Instant::now() + LINGER);
            }
            ChannelMsg::ExitSignal { signal_name, .. } => {
                self.done.signal = Some(name(&signal_name));
                self.linger = Some(Instant::now() + LINGER);
            }
            _ => {}
        }
        Ok(())
    }

    fn errors(&mut self, data: &[u8]) -> Result<(), Failure> {
        let Some(sudo) = &mut self.sudo else {
            self.done.stderr.push(data);
            return Ok(());
        };
        let heard = sudo.hear(data);
        self.done.stderr.push(&heard.text);
        if heard.asked == 0 {
            return Ok(());
        }
        let Some(answer) = sudo.answer() else {
            return Err(Failure::Sudo(
                "sudo refused the password of the credential; set its sudo_password, or allow the command in sudoers",
            ));
        };
        if self.gate.is_none() {
            return Err(Failure::Sudo("sudo asked for its password later than expected; try again"));
        }
        self.let_in(answer);
        Ok(())
    }

    fn close(&mut self) {
        if let Some(sudo) = &mut self.sudo {
            let rest = sudo.rest();
            self.done.stderr.push(&rest);
        }
    }

    /// Ends the command as far as ssh allows: asks it to, makes it, closes its channel.
    async fn stop(&mut self, link: &Handle<Gate>, write: &ChannelWriteHalf<Msg>) -> Failure {
        let mut ended = self.done.status.is_some() || self.done.signal.is_some();
        for (signal, wait) in [(Sig::TERM, TERM), (Sig::KILL, KILL)] {
            if ended {
                break;
            }
            let swept = async {
                let _ = write.signal(signal.clone()).await;
                sweep(link, &name(&signal)).await;
                std::future::pending::<()>().await;
            };
            tokio::select! {
                gone = self.ending() => ended = gone,
                () = swept => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
        let _ = timeout(KILL, write.close()).await;
        self.close();
        Failure::Stopped { done: Box::new(std::mem::take(&mut self.done)), ended }
    }

    /// Reads on until the server says that the command ended; `false` if it says no more.
    async fn ending(&mut self) -> bool {
        while let Some(message) = self.read.wait().await {
            let _ = self.hear(message);
            if self.done.status.is_some() || self.done.signal.is_some() {
                return true;
            }
        }
        false
    }
}

/// Signals the commands of this connection by a second one beside them: servers don't pass signals on
/// to the sessions of root, and old ones to nobody's. Each command leads a process group of its own.
async fn sweep(link: &Handle<Gate>, signal: &str) -> Option<()> {
    let mut channel = link.channel_open_session().await.ok()?;
    let command = format!(r#"for p in $(pgrep -P "$PPID"); do [ "$p" = "$$" ] || kill -{signal} -- "-$p"; done"#);
    channel.exec(true, command).await.ok()?;
    while let Some(message) = channel.wait().await {
        if matches!(message, ChannelMsg::Close | ChannelMsg::Failure) {
            break;
        }
    }
    Some(())
}

fn name(signal: &Sig) -> String {
    match signal {
        Sig::Custom(name) => name.clone(),
        known => format!("{known:?}"),
    }
}
