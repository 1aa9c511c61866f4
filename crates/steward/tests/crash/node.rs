//! One process of the real program.

use crate::crash::bed::Bed;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An event that a node said to have committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    pub run: String,
    pub seq: u64,
    pub kind: String,
}

pub struct Node {
    child: Child,
    reader: Option<JoinHandle<()>>,
    log: PathBuf,
    pub port: u16,
    /// What this node acknowledged.
    pub acks: Arc<Mutex<Vec<Ack>>>,
}

impl Node {
    /// Starts a node; `kill` is `point:n`.
    pub fn start(bed: &Bed, kill: Option<&str>, name: &str) -> Self {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let log = bed.folder().join(format!("{name}.log"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_steward"));
        command
            .args(["serve", "--connection", "openai", "--listen", &format!("127.0.0.1:{port}"), "--data-dir"])
            .arg(bed.data())
            .arg("--workspace")
            .arg(bed.work())
            .env_clear()
            .env("HOME", bed.folder())
            .env("STEWARD_CACHE", bed.folder().join("cache"))
            .env("OPENAI_API_KEY", "x")
            .env("OPENAI_BASE_URL", bed.model.base_url())
            .env("OPENAI_MODEL", "scripted")
            .env("STEWARD_TEST_EFFECTS", bed.effects.url())
            .env("STEWARD_LEASE_SECONDS", "1")
            .env("STEWARD_EXAMINE_CONNECTIONS", "false")
            .env("STEWARD_DISK_RESERVE_MB", "16")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap());
        if let Some(url) = &bed.database {
            command.args(["--database", url]);
        }
        if let Some(point) = kill {
            command.env("STEWARD_KILL_AT", point);
        }
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (own, all) = (Arc::<Mutex<Vec<Ack>>>::default(), Arc::clone(&bed.acks));
        let acks = Arc::clone(&own);
        let reader = std::thread::spawn(move || collect(out, &own, &all));
        Self { child, reader: Some(reader), log, port, acks }
    }

    /// What it logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap();
    }

    /// Whether it ended within the limit.
    pub async fn ends(&mut self, limit: Duration) -> bool {
        let begun = Instant::now();
        loop {
            if self.child.try_wait().unwrap().is_some() {
                // All that it said is read before anyone judges it.
                if let Some(reader) = self.reader.take() {
                    reader.join().unwrap();
                }
                return true;
            }
            if begun.elapsed() > limit {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    }

    pub async fn kill(&mut self) {
        self.child.kill().unwrap();
        assert!(self.ends(Duration::from_mins(5)).await, "SIGKILL did not end it");
    }

    /// Waits until it acknowledged something that fits.
    pub async fn acked(&self, limit: Duration, fits: impl Fn(&[Ack]) -> bool) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            if fits(&self.acks.lock().unwrap()) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        false
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // A failed test leaves no process behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn collect(mut out: impl BufRead, own: &Mutex<Vec<Ack>>, all: &Mutex<Vec<Ack>>) {
    let mut line = String::new();
    while out.read_line(&mut line).is_ok_and(|length| length > 0) {
        let words: Vec<&str> = line.split_whitespace().collect();
        // A line without its end was cut by the kill: nobody was told.
        if let (["ACK", run, seq, kind], true) = (&words[..], line.ends_with('\n')) {
            let ack = Ack { run: (*run).to_owned(), seq: seq.parse().unwrap(), kind: (*kind).to_owned() };
            own.lock().unwrap().push(ack.clone());
            all.lock().unwrap().push(ack);
        }
        line.clear();
    }
}
