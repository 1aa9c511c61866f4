//! What the bytes of a file say as text: letters whose encoding nobody declared, cells of tables in text, and heads of mails.

mod contradiction;
mod decode;
mod flowed;
mod likeliest;
mod mail;
mod mail_part;
mod rows;
mod seven_bit;
mod shown_parts;

pub use decode::{decode, decode_declared};
pub use likeliest::{BROKEN_UTF_8, Decoded};
pub use mail::{ReadableMail, make_readable};
pub use mail_part::{PartText, part_text};
pub use rows::Rows;
pub use shown_parts::{html_says_more, shown_parts};
