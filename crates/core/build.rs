//! Tells the derive of schemas how ids and times are shown.

include!("schema_aliases.rs");

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=schema_aliases.rs");
    write_schema_aliases();
}
