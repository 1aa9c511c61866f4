//! What a browser keeps to show that something was begun in it.

use super::{Access, secrets};
use data_encoding::BASE64URL_NOPAD;

impl Access {
    /// Nobody without the key of this installation can make it for another `message`.
    pub fn browser_proof(&self, purpose: &str, message: &str) -> String {
        BASE64URL_NOPAD.encode(&*self.tokens.mac(purpose, message.as_bytes()))
    }

    pub fn is_browser_proof(&self, purpose: &str, message: &str, proof: &str) -> bool {
        secrets::same(&self.browser_proof(purpose, message), proof)
    }
}
