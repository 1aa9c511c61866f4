use std::io::BufRead;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::LocalModelError;

/// Everything the model server needs to run.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The GGUF file.
    pub model_path: PathBuf,
    /// Where to listen; made with mode 0600.
    pub socket_path: PathBuf,
    /// Bearer token that every request must carry.
    pub token: SecretString,
    /// The rest, which has defaults.
    pub tuning: ServeTuning,
}

/// Settings of the model server that have defaults.
#[derive(Debug, Clone)]
pub struct ServeTuning {
    /// Threads for inference; 0 means one less than there are cores, but one at least.
    pub threads: u32,
    /// Context window in tokens, cut to what the model was trained for.
    pub context_tokens: u32,
    /// The model's name on the wire.
    pub alias: String,
    /// End after this long without a request.
    pub idle_exit: Option<Duration>,
    /// End, once idle, when more than this many bytes are resident.
    pub max_resident_bytes: Option<u64>,
    /// End when standard input ends, which is how a child notices that its parent died.
    pub exit_on_stdin_eof: bool,
    /// Unix time at the start in seconds, the base of `created` fields.
    pub started_at_unix: u64,
}

impl Default for ServeTuning {
    fn default() -> Self {
        Self {
            threads: 0,
            context_tokens: 4096,
            alias: "local".to_owned(),
            idle_exit: None,
            max_resident_bytes: None,
            exit_on_stdin_eof: false,
            started_at_unix: 0,
        }
    }
}

/// What the parent tells the child in one JSON line on its standard input.
///
/// Standard input rather than arguments or environment, since those can be read in /proc.
#[derive(Debug, Clone)]
pub struct Handshake {
    /// Where the child shall listen.
    pub socket_path: PathBuf,
    /// The token that it shall ask for.
    pub token: SecretString,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Line {
    socket_path: PathBuf,
    token: String,
}

impl Handshake {
    /// The line to write, with its newline.
    pub fn to_line(&self) -> Result<String, LocalModelError> {
        let line = Line { socket_path: self.socket_path.clone(), token: self.token.expose_secret().to_owned() };
        let json = serde_json::to_string(&line).map_err(|e| LocalModelError::Handshake { reason: e.to_string() })?;
        Ok(format!("{json}\n"))
    }

    /// Reads one line.
    ///
    /// # Errors
    /// [`LocalModelError::Handshake`] if the input ends or is something else.
    pub fn read(input: &mut impl BufRead) -> Result<Self, LocalModelError> {
        let mut text = String::new();
        let n = input.read_line(&mut text).map_err(|e| LocalModelError::Handshake { reason: e.to_string() })?;
        if n == 0 {
            return Err(LocalModelError::Handshake { reason: "it ended at once".to_owned() });
        }
        let line: Line =
            serde_json::from_str(text.trim_end()).map_err(|e| LocalModelError::Handshake { reason: e.to_string() })?;
        Ok(Self { socket_path: line.socket_path, token: line.token.into() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_handshake_survives_the_line() {
        let sent = Handshake { socket_path: "/tmp/a \"b\".sock".into(), token: "s3cret\n".to_owned().into() };
        let line = sent.to_line().unwrap();
        assert_eq!(line.matches('\n').count(), 1);
        let got = Handshake::read(&mut line.as_bytes()).unwrap();
        assert_eq!(got.socket_path, sent.socket_path);
        assert_eq!(got.token.expose_secret(), "s3cret\n");
    }

    #[test]
    fn a_handshake_says_what_is_wrong() {
        let empty = Handshake::read(&mut &b""[..]).unwrap_err().to_string();
        assert!(empty.contains("ended at once"), "{empty}");
        assert!(Handshake::read(&mut &b"hello\n"[..]).is_err());
    }

    #[test]
    fn a_token_is_not_printed() {
        let shake = Handshake { socket_path: "/x".into(), token: "s3cret".to_owned().into() };
        assert!(!format!("{shake:?}").contains("s3cret"));
    }
}
