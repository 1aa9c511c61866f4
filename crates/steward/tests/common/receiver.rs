//! A server that keeps what it is sent, and answers as it is told.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A request that came.
#[derive(Debug, Clone)]
pub struct Came {
    pub method: String,
    pub path: String,
    /// Lower-case names.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Came {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

#[derive(Clone)]
pub struct Receiver {
    pub address: SocketAddr,
    came: Arc<Mutex<Vec<Came>>>,
}

impl Receiver {
    /// `answer`: the status for a request, and how many came before it.
    pub fn start(answer: impl Fn(&Came, usize) -> u16 + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let receiver = Self { address: listener.local_addr().unwrap(), came: Arc::default() };
        let (came, answer) = (receiver.came.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (came, answer) = (came.clone(), answer.clone());
                std::thread::spawn(move || {
                    let Some(request) = read(&stream) else { return };
                    let mut all = came.lock().unwrap();
                    let status = answer(&request, all.len());
                    all.push(request);
                    drop(all);
                    let _ = write!(&stream, "HTTP/1.1 {status} X\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
                });
            }
        });
        receiver
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn came(&self) -> Vec<Came> {
        self.came.lock().unwrap().clone()
    }

    /// Waits until so many have come.
    pub fn wait(&self, count: usize) -> Vec<Came> {
        let begun = Instant::now();
        loop {
            let came = self.came();
            if came.len() >= count {
                return came;
            }
            assert!(begun.elapsed() < Duration::from_mins(5), "{count} were to come: {came:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn read(stream: &TcpStream) -> Option<Came> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length: usize = headers.get("content-length").map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Came { method, path, headers, body: String::from_utf8(body).ok()? })
}
