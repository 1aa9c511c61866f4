//! What the bytes of a file say as text: letters whose encoding nobody declared, cells of tables in text, and heads of mails.

mod decode;
mod mail;
mod rows;
mod seven_bit;

pub use decode::{Decoded, decode};
pub use mail::{part_text, readable_heads};
pub use rows::Rows;
