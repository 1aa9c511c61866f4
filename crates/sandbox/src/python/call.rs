use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

use super::PythonLimits;
use super::result::End;
use super::zygote::{CallEnd, Request, Zygote};
use crate::process::{Output, capture_with};

/// After the wall time, in case the warm interpreter itself is stopped.
const BACKSTOP: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct RawResult {
    pub end: End,
    pub frame: Vec<u8>,
    pub stdout: Output,
    pub stderr: Output,
    /// More came on a pipe than an honest call would send.
    pub flooded: bool,
    pub cancelled: bool,
    pub ms: u64,
}

#[derive(Debug)]
pub(super) enum NoCall {
    /// The interpreter is gone; another one may do.
    Gone,
    /// No process could be made just now.
    Busy(String),
    Io(std::io::Error),
}

impl From<std::io::Error> for NoCall {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// Kills the call if it is dropped before its end.
struct Guard<'z> {
    zygote: &'z Zygote,
    id: u64,
    armed: bool,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.zygote.kill(self.id);
        }
    }
}

pub(super) async fn make(
    zygote: &Zygote,
    input: &[u8],
    limits: &PythonLimits,
    check: bool,
    cancel: &CancellationToken,
) -> Result<RawResult, NoCall> {
    let source = memfd_create("input", MemfdFlags::CLOEXEC).map_err(std::io::Error::from)?;
    let mut source = File::from(source);
    source.write_all(input)?;
    let (out, out_end) = pair()?;
    let (err, err_end) = pair()?;
    let (result, result_end) = pair()?;
    let (id, ended) = zygote.expect().ok_or(NoCall::Gone)?;
    let started = Instant::now();
    let wall_ms = u64::try_from(limits.wall.as_millis()).unwrap_or(u64::MAX);
    let request = Request::Call {
        id,
        wall_ms,
        memory: limits.memory_bytes,
        cpu_s: limits.wall.as_secs() + 1,
        output: limits.output_bytes,
        check,
    };
    let fds = [source.as_fd(), out_end.as_fd(), err_end.as_fd(), result_end.as_fd()];
    zygote.control.send(&request, &fds).await.map_err(|_| NoCall::Gone)?;
    let mut guard = Guard { zygote, id, armed: true };
    drop((source, out_end, err_end, result_end));
    let over = || zygote.kill(id);
    let work = async {
        // An honest call that printed too much sends one byte more than is kept; anything beyond bypassed the capture.
        tokio::join!(
            read(out, limits.output_bytes, limits.output_bytes + 1, over),
            read(err, limits.output_bytes, limits.output_bytes + 1, over),
            read(result, limits.result_bytes, limits.result_bytes, over),
            ended,
        )
    };
    tokio::pin!(work);
    let mut cancelled = false;
    let finished = tokio::select! {
        finished = &mut work => Some(finished),
        () = tokio::time::sleep(limits.wall.saturating_add(BACKSTOP)) => None,
        () = cancel.cancelled() => {
            cancelled = true;
            zygote.kill(id);
            tokio::time::timeout(BACKSTOP, &mut work).await.ok()
        }
    };
    guard.armed = false;
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let Some(((stdout, out_over), (stderr, err_over), (frame, over), ended)) = finished else {
        zygote.kill_all();
        let end = End { status: libc::SIGKILL, late: !cancelled, peak: 0 };
        return Ok(RawResult { end, cancelled, ms, ..RawResult::default() });
    };
    match ended {
        Err(_) => Err(NoCall::Gone),
        Ok(CallEnd::Busy(why)) => Err(NoCall::Busy(why)),
        Ok(CallEnd::Done(end)) => Ok(RawResult {
            end,
            frame: frame.bytes,
            stdout,
            stderr,
            flooded: out_over || err_over || over,
            cancelled,
            ms,
        }),
    }
}

fn pair() -> std::io::Result<(pipe::Receiver, OwnedFd)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((pipe::Receiver::from_owned_fd(read)?, write))
}

/// Beyond `most` bytes the writer is killed once.
async fn read(from: pipe::Receiver, keep: usize, most: usize, kill: impl Fn()) -> (Output, bool) {
    let mut flooded = false;
    let output = capture_with(from, keep, |total| {
        if total > most as u64 && !flooded {
            flooded = true;
            kill();
        }
    })
    .await;
    (output, flooded)
}
