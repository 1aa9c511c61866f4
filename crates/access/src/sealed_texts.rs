//! Texts that wait for who had them masked, sealed with a key of the one that signs logins.

use steward_core::ports::LoginError;
use uuid::Uuid;

use super::Access;

/// Of the texts; another purpose has another key.
const PURPOSE: &str = "masked texts";

impl Access {
    /// Only [`Self::open_text`] with the same id opens it again.
    pub fn seal_text(&self, id: Uuid, text: &str) -> Result<String, LoginError> {
        self.seal(PURPOSE, id, text.as_bytes()).ok_or_else(damaged)
    }

    pub fn open_text(&self, id: Uuid, sealed: &str) -> Result<String, LoginError> {
        let plain = self.unseal(PURPOSE, id, sealed).ok_or_else(damaged)?;
        str::from_utf8(&plain).map(str::to_owned).map_err(|_| damaged())
    }
}

fn damaged() -> LoginError {
    LoginError::Unavailable("it can't be opened with the key that signs logins; have the text masked again".to_owned())
}
