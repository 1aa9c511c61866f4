use super::command_plan::{CommandPlan, Sudo, line_with_sudo};
use super::connection::{self, HostKeyCheck, Login};
use super::known_hosts::FileHostKeys;
use russh::client::{Handle, Msg};
use russh::{ChannelMsg, ChannelReadHalf, ChannelWriteHalf, Disconnect, Sig};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// A sudo that has not asked for so long is taken to need no password.
const SUDO_PROMPT_WAIT: Duration = Duration::from_secs(3);
/// How long output may follow the end of a command, since background processes may hold it open.
const OUTPUT_LINGER: Duration = Duration::from_secs(1);
/// How long a command gets to end after TERM.
const TERM_WAIT: Duration = Duration::from_millis(400);
/// How long the server gets to kill it.
const KILL_WAIT: Duration = Duration::from_millis(300);

#[derive(Debug, Default)]
pub(super) struct CommandResult {
    pub status: Option<u32>,
    pub signal: Option<String>,
    pub stdout: BoundedOutput,
    pub stderr: BoundedOutput,
}

impl CommandResult {
    fn has_ended(&self) -> bool {
        self.status.is_some() || self.signal.is_some()
    }
}

#[derive(Debug)]
pub(super) enum Failure {
    Refused(String),
    Sudo(&'static str),
    /// The connection broke after the command was sent.
    Broken(Box<CommandResult>),
    Stopped {
        done: Box<CommandResult>,
        ended: bool,
    },
}

/// Runs the command. Should be a task of its own, since it cleans up after `end` is cancelled.
pub(super) async fn run(
    keys: Arc<FileHostKeys>,
    order: CommandPlan,
    login: Login,
    end: CancellationToken,
) -> Result<CommandResult, Failure> {
    let early = || Failure::Refused("it was stopped before anything was run".to_owned());
    let refused = |error: russh::Error| Failure::Refused(format!("{} opened no session: {error}", order.place));
    let opening = async {
        let opened = connection::connect(&keys, &order, &login).await.map_err(Failure::Refused)?;
        let channel = opened.handle.channel_open_session().await.map_err(refused)?;
        Ok((opened, channel))
    };
    let (opened, channel) = tokio::select! {
        () = end.cancelled() => return Err(early()),
        done = opening => done?,
    };
    let (read, write) = channel.split();
    let marker = format!("steward-{:032x}:", rand::random::<u128>());
    let (line, sudo) = line_with_sudo(&order, login.sudo.as_ref(), marker);
    if end.is_cancelled() {
        return Err(early());
    }
    write.exec(true, line.into_bytes()).await.map_err(refused)?;
    let stdin = order.stdin.as_deref().unwrap_or_default().as_bytes();
    let (open, gate) = oneshot::channel();
    let talk = CommandDialog {
        read,
        done: CommandResult::default(),
        gate: Some(open),
        quiet: Instant::now() + SUDO_PROMPT_WAIT,
        linger: None,
        sudo,
    };
    let outcome = talk.follow(&opened.handle, &write, feed_stdin(&write, gate, stdin), &end).await;
    let bye = opened.handle.disconnect(Disconnect::ByApplication, "", "");
    let _ = timeout(KILL_WAIT, bye).await;
    outcome
}

/// Writes standard input once `gate` opens; a command may leave it unread. Never returns: polled beside the dialog.
async fn feed_stdin(write: &ChannelWriteHalf<Msg>, gate: oneshot::Receiver<Vec<u8>>, stdin: &[u8]) {
    if let Ok(mut all) = gate.await {
        all.extend_from_slice(stdin);
        if all.is_empty() || write.data(all.as_slice()).await.is_ok() {
            let _ = write.eof().await;
        }
    }
    std::future::pending::<()>().await;
}

struct CommandDialog {
    read: ChannelReadHalf,
    done: CommandResult,
    /// Opens standard input; the bytes are sent first.
    gate: Option<oneshot::Sender<Vec<u8>>>,
    /// When a sudo that has not asked is taken to need no password.
    quiet: Instant,
    /// When to stop waiting for output.
    linger: Option<Instant>,
    sudo: Option<Sudo>,
}

impl CommandDialog {
    async fn follow(
        mut self,
        link: &Handle<HostKeyCheck>,
        write: &ChannelWriteHalf<Msg>,
        feed: impl Future<Output = ()>,
        end: &CancellationToken,
    ) -> Result<CommandResult, Failure> {
        tokio::pin!(feed);
        if self.sudo.is_none() {
            self.open_stdin(Vec::new());
        }
        loop {
            let (quiet, linger) = (self.quiet, self.linger);
            tokio::select! {
                biased;
                () = end.cancelled() => return Err(self.stop(link, write).await),
                message = self.read.wait() => match message {
                    None | Some(ChannelMsg::Close) => break,
                    Some(message) => if let Err(failure) = self.handle_message(message) {
                        self.stop(link, write).await;
                        return Err(failure);
                    },
                },
                () = &mut feed => {}
                () = sleep_until(quiet), if self.gate.is_some() => self.open_stdin(Vec::new()),
                () = sleep_until(linger.unwrap_or(quiet)), if linger.is_some() => break,
            }
        }
        self.close();
        if !self.done.has_ended() {
            return Err(Failure::Broken(Box::new(self.done)));
        }
        Ok(self.done)
    }

    fn open_stdin(&mut self, first: Vec<u8>) {
        if let Some(gate) = self.gate.take() {
            let _ = gate.send(first);
        }
    }

    fn handle_message(&mut self, message: ChannelMsg) -> Result<(), Failure> {
        match message {
            ChannelMsg::Failure => {
                return Err(Failure::Refused("the server lets this login run no commands".to_owned()));
            }
            ChannelMsg::Data { data } => {
                self.done.stdout.push(&data);
                // The command runs, so sudo will not ask any more.
                self.open_stdin(Vec::new());
            }
            ChannelMsg::ExtendedData { data, ext: 1 } => return self.handle_stderr(&data),
            ChannelMsg::ExitStatus { exit_status } => {
                self.done.status = Some(exit_status);
                self.linger = Some(Instant::now() + OUTPUT_LINGER);
            }
            ChannelMsg::ExitSignal { signal_name: signal, .. } => {
                self.done.signal = Some(signal_name(&signal));
                self.linger = Some(Instant::now() + OUTPUT_LINGER);
            }
            _ => {}
        }
        Ok(())
    }

    fn handle_stderr(&mut self, data: &[u8]) -> Result<(), Failure> {
        let Some(sudo) = &mut self.sudo else {
            self.done.stderr.push(data);
            return Ok(());
        };
        let heard = sudo.strip_prompts(data);
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
        self.open_stdin(answer);
        Ok(())
    }

    fn close(&mut self) {
        if let Some(sudo) = &mut self.sudo {
            let rest = sudo.rest();
            self.done.stderr.push(&rest);
        }
    }

    /// Ends the command as far as ssh allows: TERM, KILL, closing its channel.
    async fn stop(&mut self, link: &Handle<HostKeyCheck>, write: &ChannelWriteHalf<Msg>) -> Failure {
        let mut ended = self.done.has_ended();
        for (signal, wait) in [(Sig::TERM, TERM_WAIT), (Sig::KILL, KILL_WAIT)] {
            if ended {
                break;
            }
            let swept = async {
                let _ = write.signal(signal.clone()).await;
                signal_process_groups(link, &signal_name(&signal)).await;
                std::future::pending::<()>().await;
            };
            tokio::select! {
                gone = self.wait_for_end() => ended = gone,
                () = swept => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
        let _ = timeout(KILL_WAIT, write.close()).await;
        self.close();
        Failure::Stopped { done: Box::new(std::mem::take(&mut self.done)), ended }
    }

    /// Reads until the server reports the command's end; `false` if it sends no more.
    async fn wait_for_end(&mut self) -> bool {
        while let Some(message) = self.read.wait().await {
            let _ = self.handle_message(message);
            if self.done.has_ended() {
                return true;
            }
        }
        false
    }
}

/// Signals this connection's commands by a second command, since servers don't pass signals on to root's sessions, and
/// old ones to none. Each command leads its own process group.
async fn signal_process_groups(link: &Handle<HostKeyCheck>, signal: &str) -> Option<()> {
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

fn signal_name(signal: &Sig) -> String {
    match signal {
        Sig::Custom(name) => name.clone(),
        known => format!("{known:?}"),
    }
}

/// Bytes kept of the beginning of a stream, and as many of its end.
const KEPT_BYTES: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct BoundedOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    pub total: u64,
}

impl BoundedOutput {
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = KEPT_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(KEPT_BYTES)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(KEPT_BYTES);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// As text; invalid UTF-8 is replaced, and what is missing is counted.
    pub fn text(&self) -> String {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let mut bytes = self.head.clone();
        if self.total > kept {
            let gap = format!("\n[{} bytes were left out here]\n", self.total - kept);
            bytes.extend_from_slice(gap.as_bytes());
        }
        bytes.extend(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Both streams as one text of about `limit` characters, errors last.
pub(super) fn output_text(stdout: &str, stderr: &str, limit: usize) -> String {
    let (out, err) = (stdout.trim_end(), stderr.trim_end());
    if err.is_empty() {
        return shortened(out, limit);
    }
    let err = shortened(err, (limit / 4).max(limit.saturating_sub(out.chars().count())));
    if out.is_empty() {
        return format!("[stderr] {err}");
    }
    let left = limit.saturating_sub(err.chars().count() + 12);
    format!("{}\n[stderr] {err}", shortened(out, left))
}

fn shortened(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    // Leaves space for the line about the gap.
    let half = limit.saturating_sub(60) / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    let left = count - 2 * half;
    format!("{head}\n[{left} characters were left out here]\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_stream_keeps_its_beginning_and_its_end() {
        let mut kept = BoundedOutput::default();
        let all: Vec<u8> = (0..KEPT_BYTES * 5).map(|i| b'a' + u8::try_from(i % 26).unwrap()).collect();
        for chunk in all.chunks(1_000) {
            kept.push(chunk);
        }
        let text = kept.text();
        assert!(text.as_bytes().starts_with(&all[..KEPT_BYTES]));
        assert!(text.as_bytes().ends_with(&all[all.len() - KEPT_BYTES..]));
        let left = all.len() - 2 * KEPT_BYTES;
        assert!(text.contains(&format!("[{left} bytes were left out here]")));
        assert_eq!(text.len(), 2 * KEPT_BYTES + format!("\n[{left} bytes were left out here]\n").len());
    }

    #[test]
    fn a_short_stream_stays_as_it_is() {
        for size in [0, 1, KEPT_BYTES, KEPT_BYTES + 1, 2 * KEPT_BYTES] {
            let mut kept = BoundedOutput::default();
            let all = vec![b'x'; size];
            for chunk in all.chunks(777) {
                kept.push(chunk);
            }
            assert_eq!(kept.text().as_bytes(), all, "{size}");
        }
    }

    #[test]
    fn both_streams_stay_within_the_limit_and_errors_are_seen() {
        let (out, err) = ("o".repeat(50_000), "e".repeat(50_000));
        for (out, err) in [(&*out, &*err), (&*out, "fault"), ("fine", &*err), (&*out, "")] {
            let text = output_text(out, err, 1_000);
            assert!(text.chars().count() <= 1_000, "{}", text.len());
            assert_eq!(text.contains("[stderr]"), !err.is_empty());
        }
        assert_eq!(output_text("fine\n", "", 100), "fine");
    }
}
