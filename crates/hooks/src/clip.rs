use std::fmt::{self, Display, Write};

/// A text that takes so many characters and counts the others.
pub(crate) struct Clipped {
    pub text: String,
    room: usize,
    /// Characters that found no room.
    pub more: usize,
}

impl Clipped {
    pub fn new(room: usize) -> Self {
        Self { text: String::new(), room, more: 0 }
    }

    /// The first `room` characters of what `value` shows.
    pub fn read(room: usize, value: impl Display) -> Self {
        let mut clipped = Self::new(room);
        // It takes everything, so only a faulty `Display` could fail.
        let _ = write!(clipped, "{value}");
        clipped
    }
}

impl Write for Clipped {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let cut = text.char_indices().nth(self.room).map_or(text.len(), |(at, _)| at);
        let (fits, over) = text.split_at(cut);
        self.text.push_str(fits);
        self.room -= fits.chars().count();
        self.more += over.chars().count();
        Ok(())
    }
}

/// What `value` shows, in at most `room` characters; `…` says that it goes on.
pub(crate) fn clip(value: impl Display, room: usize) -> String {
    let mut clipped = Clipped::read(room, value);
    if clipped.more > 0 {
        clipped.text.pop();
        clipped.text.push('…');
    }
    clipped.text
}
