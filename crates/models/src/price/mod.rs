//! What tokens cost. The table is data.

mod table;

pub use table::{PriceError, Prices};
