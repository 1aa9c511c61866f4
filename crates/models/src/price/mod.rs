//! What tokens cost (ROUTE-7). The table is data.

mod table;

pub use table::{PriceError, Prices};
