//! Writes to `SQLite` files: one statement under the guard, every row that it changes recorded as `SQLite` changes it.

mod capture;
mod change;
mod put_back;
mod shape;
