//! Questions about the tables of files and databases, as one structured query.

mod ask;
mod links;
mod queries;
mod words;
