//! ZIP archives, as strict as an untrusted one needs: what two programs could read in two ways is refused.
//!
//! Our own, since the usual crate keeps entries in a map, where a second entry of a name is lost unseen.

mod read;
mod write;

pub(crate) use read::unpack;
pub use write::write;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub archive: usize,
    pub entries: usize,
    pub file: usize,
    pub total: usize,
    /// How many times larger a file may become.
    pub ratio: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { archive: 20 << 20, entries: 500, file: 5 << 20, total: 20 << 20, ratio: 200 }
    }
}

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const LOCAL_LEN: usize = 30;
const CENTRAL_LEN: usize = 46;
const END_LEN: usize = 22;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
