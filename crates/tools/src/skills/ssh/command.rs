//! The command line that is sent, and the talk with sudo.

use super::order::Order;
use secrecy::{ExposeSecret as _, SecretString};

pub(super) struct Sudo {
    /// The prompt, which nobody can guess: only sudo writes it.
    marker: String,
    password: SecretString,
    asked: u32,
    /// The last bytes, which may be the beginning of the marker.
    held: Vec<u8>,
}

/// What a piece of stderr means.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Heard {
    /// What the command wrote, without prompts.
    pub text: Vec<u8>,
    /// How often sudo asked in it.
    pub asked: u32,
}

/// The line for the remote shell, and sudo's side of it. Without a password sudo is told to ask for
/// none, so that it fails rather than waits.
pub(super) fn line(order: &Order, password: Option<&SecretString>, marker: String) -> (String, Option<Sudo>) {
    match (order.sudo, password) {
        (false, _) => (order.line.clone(), None),
        (true, None) => (format!("sudo -n -- {}", order.line), None),
        (true, Some(password)) => {
            // -k: an earlier login is forgotten, so that it asks each time, whatever came before.
            let line = format!("sudo -k -S -p {marker} -- {}", order.line);
            let sudo = Sudo { marker, password: password.clone(), asked: 0, held: Vec::new() };
            (line, Some(sudo))
        }
    }
}

impl Sudo {
    /// Takes the prompts out of what comes on stderr.
    pub fn hear(&mut self, bytes: &[u8]) -> Heard {
        let mut heard = Heard::default();
        let marker = self.marker.as_bytes();
        self.held.extend_from_slice(bytes);
        while let Some(at) = find(&self.held, marker) {
            heard.text.extend(self.held.drain(..at + marker.len()).take(at));
            heard.asked += 1;
        }
        let keep = (1..marker.len()).rev().find(|&size| self.held.ends_with(&marker[..size])).unwrap_or(0);
        let ready = self.held.len() - keep;
        heard.text.extend(self.held.drain(..ready));
        self.asked += heard.asked;
        heard
    }

    /// What was held back, when nothing more comes.
    pub fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// The answer to the first prompt; a second one means that it was wrong.
    pub fn answer(&self) -> Option<Vec<u8>> {
        (self.asked <= 1).then(|| format!("{}\n", self.password.expose_secret()).into_bytes())
    }
}

fn find(all: &[u8], part: &[u8]) -> Option<usize> {
    all.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_found_however_it_is_cut_and_never_shown() {
        let text = b"warning: [st-1 st\n[st-12]done[st-1";
        for size in 1..text.len() {
            let mut sudo =
                Sudo { marker: "[st-12]".to_owned(), password: "p".to_owned().into(), asked: 0, held: Vec::new() };
            let (mut seen, mut asked) = (Vec::new(), 0);
            for chunk in text.chunks(size) {
                let heard = sudo.hear(chunk);
                seen.extend(heard.text);
                asked += heard.asked;
            }
            seen.extend(sudo.rest());
            assert_eq!(seen, b"warning: [st-1 st\ndone[st-1", "{size}");
            assert_eq!(asked, 1);
            assert_eq!(sudo.answer().unwrap(), b"p\n");
        }
    }

    #[test]
    fn a_second_prompt_gets_no_answer() {
        let mut sudo = Sudo { marker: "MARK".to_owned(), password: "p".to_owned().into(), asked: 0, held: Vec::new() };
        sudo.hear(b"MARK");
        assert_eq!(sudo.answer().unwrap(), b"p\n");
        sudo.hear(b"Sorry, try again.\nMARK");
        assert_eq!(sudo.answer(), None);
    }
}
