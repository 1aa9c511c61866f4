//! The chain: each entry's hash covers the one before, and the head says where the chain ends.

use super::AuditEntry;
use crate::hash::{canonical_json, sha256};
use serde::{Deserialize, Serialize};

/// A place in the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = AuditLink)]
pub struct Link {
    /// Number of the entry; 0 before the first.
    pub seq: u64,
    /// Its hash; empty before the first.
    pub hash: String,
}

/// The hash of an entry at its place: SHA-256 of the hash before it and the JSON of the entry and its number, with
/// sorted keys.
pub fn hash_of(previous: &str, seq: u64, entry: &AuditEntry) -> String {
    // An entry is written without fail.
    let mut fields = serde_json::to_value(entry).unwrap_or_default();
    fields["seq"] = seq.into();
    sha256(format!("{previous}{}", canonical_json(&fields)).as_bytes())
}

/// A row of the chain as it is found in the database.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainRow {
    pub seq: u64,
    pub hash: String,
    /// `None` if it can't be read as an entry.
    pub entry: Option<AuditEntry>,
}

/// What is wrong with the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = AuditBreakKind)]
#[serde(rename_all = "snake_case")]
pub enum BreakKind {
    /// It is not what was written, or its hash is another.
    Changed,
    /// It stands at another place.
    Reordered,
    /// It is not there any more.
    Missing,
    /// It was not there when the chain was written.
    Inserted,
    /// The last entry is not the one that the chain's end names.
    HeadDiffers,
    /// It is not the one that was noted before: the chain was written anew.
    KnownDiffers,
}

/// Where the chain breaks first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = AuditBreak)]
pub struct Break {
    /// The entry.
    pub seq: u64,
    /// What is wrong with it.
    pub kind: BreakKind,
    /// The same for people.
    pub message: String,
}

impl Break {
    fn new(seq: u64, kind: BreakKind, message: String) -> Self {
        Self { seq, kind, message }
    }
}

/// An entry that is not what belongs at its place; a look at the rows behind it tells whether they were reordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect {
    /// The last entry that is right.
    previous: Link,
    /// The hash that stands at the place after it.
    hash: String,
}

impl Suspect {
    /// Whether the entry that belongs to the place is this one.
    pub fn is_found_at(&self, row: &ChainRow) -> bool {
        row.entry.as_ref().is_some_and(|entry| {
            let hash = hash_of(&self.previous.hash, self.previous.seq + 1, entry);
            hash == row.hash || hash == self.hash
        })
    }

    /// `Some`: the place where its entry was found.
    pub fn verdict(&self, found_at: Option<u64>) -> Break {
        let seq = self.previous.seq + 1;
        match found_at {
            Some(other) => Break::new(
                seq,
                BreakKind::Reordered,
                format!("entry {seq} stands at place {other}: entries were reordered"),
            ),
            None => Break::new(
                seq,
                BreakKind::Changed,
                format!("entry {seq} was changed, or another stands in its place: its hash does not fit"),
            ),
        }
    }
}

/// Goes along a chain; keeps nothing but the last place.
#[derive(Debug)]
pub struct Verifier {
    last: Link,
    /// A place that somebody noted before.
    known: Option<Link>,
    checked: u64,
}

/// What [`Verifier::check`] found wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Break(Break),
    /// To be told from the rows behind it.
    Suspect(Suspect),
}

impl Verifier {
    /// `anchor`: the last entry that was deleted by the retention. `known`: a place that must be in the chain.
    pub fn new(anchor: Link, known: Option<Link>) -> Self {
        Self { last: anchor, known, checked: 0 }
    }

    pub fn checked(&self) -> u64 {
        self.checked
    }

    /// The last entry that is right.
    pub fn last(&self) -> &Link {
        &self.last
    }

    /// Rows must come in the order of their numbers. After an error there is no use in going on.
    pub fn check(&mut self, row: &ChainRow) -> Result<(), Fault> {
        let expected = self.last.seq + 1;
        if row.seq < expected {
            let message = format!("entry {} was inserted before the beginning of the chain", row.seq);
            return Err(Fault::Break(Break::new(row.seq, BreakKind::Inserted, message)));
        }
        if row.seq > expected {
            let message = match row.seq - expected {
                1 => format!("entry {expected} is missing"),
                _ => format!("entries {expected} to {} are missing", row.seq - 1),
            };
            return Err(Fault::Break(Break::new(expected, BreakKind::Missing, message)));
        }
        let fits = row.entry.as_ref().is_some_and(|entry| hash_of(&self.last.hash, row.seq, entry) == row.hash);
        if !fits {
            return Err(Fault::Suspect(Suspect { previous: self.last.clone(), hash: row.hash.clone() }));
        }
        if let Some(known) = self.known.as_ref().filter(|known| known.seq == row.seq && known.hash != row.hash) {
            return Err(Fault::Break(known_differs(known)));
        }
        self.checked += 1;
        self.last.seq = row.seq;
        self.last.hash.clone_from(&row.hash);
        Ok(())
    }

    /// After the last row: whether the chain ends where its head says.
    pub fn end(&self, head: &Link) -> Result<(), Break> {
        let Link { seq, hash } = &self.last;
        if *seq < head.seq {
            let message = match head.seq - seq {
                1 => format!("entry {} is missing: it was the last one", head.seq),
                _ => format!("entries {} to {} are missing: they were the last ones", seq + 1, head.seq),
            };
            return Err(Break::new(seq + 1, BreakKind::Missing, message));
        }
        if *seq > head.seq {
            let message = format!("entry {} was inserted: the chain ends at {}", head.seq + 1, head.seq);
            return Err(Break::new(head.seq + 1, BreakKind::Inserted, message));
        }
        if *hash != head.hash {
            let message = format!("the chain's end names another entry {seq}: the entry or the end was changed");
            return Err(Break::new(*seq, BreakKind::HeadDiffers, message));
        }
        match &self.known {
            Some(known) if known.seq > *seq => Err(known_differs(known)),
            _ => Ok(()),
        }
    }
}

fn known_differs(known: &Link) -> Break {
    let message =
        format!("entry {} is not the one that was noted: entries up to there were written anew, or removed", known.seq);
    Break::new(known.seq, BreakKind::KnownDiffers, message)
}

#[cfg(test)]
mod tests {
    use super::{BreakKind, ChainRow, Fault, Link, Verifier, hash_of};
    use crate::Timestamp;
    use crate::audit::AuditEntry;
    use uuid::Uuid;

    fn chain(anchor: &Link, length: u64) -> Vec<ChainRow> {
        let mut last = anchor.clone();
        let mut rows = Vec::new();
        for seq in anchor.seq + 1..=anchor.seq + length {
            let at = Timestamp(i64::try_from(seq).unwrap());
            let entry = AuditEntry::new(Uuid::from_u128(seq.into()), at, "agents.create").with("n", seq);
            last = Link { seq, hash: hash_of(&last.hash, seq, &entry) };
            rows.push(ChainRow { seq, hash: last.hash.clone(), entry: Some(entry) });
        }
        rows
    }

    fn head_of(rows: &[ChainRow]) -> Link {
        rows.last().map_or_else(Link::default, |row| Link { seq: row.seq, hash: row.hash.clone() })
    }

    /// Where a chain breaks, as the program finds it.
    fn verify(rows: &[ChainRow], anchor: &Link, head: &Link, known: Option<Link>) -> Option<(u64, BreakKind)> {
        let mut verifier = Verifier::new(anchor.clone(), known);
        for row in rows {
            let broken = match verifier.check(row) {
                Ok(()) => continue,
                Err(Fault::Break(broken)) => broken,
                Err(Fault::Suspect(suspect)) => {
                    let behind = rows.iter().filter(|other| other.seq > row.seq);
                    suspect.verdict(behind.into_iter().find(|other| suspect.is_found_at(other)).map(|other| other.seq))
                }
            };
            return Some((broken.seq, broken.kind));
        }
        verifier.end(head).err().map(|broken| (broken.seq, broken.kind))
    }

    #[test]
    fn a_whole_chain_is_found_right() {
        let none = Link::default();
        assert_eq!(verify(&[], &none, &none, None), None);
        let anchor = Link { seq: 40, hash: "of the last one that was deleted".to_owned() };
        for anchor in [none, anchor] {
            let rows = chain(&anchor, 9);
            let known = Some(Link { seq: rows[4].seq, hash: rows[4].hash.clone() });
            assert_eq!(verify(&rows, &anchor, &head_of(&rows), known), None);
        }
    }

    #[test]
    fn each_kind_of_tampering_is_named_with_its_first_entry() {
        type Tamper = fn(&mut Vec<ChainRow>);
        let swap: Tamper = |rows| {
            rows.swap(3, 6);
            (rows[3].seq, rows[6].seq) = (4, 7);
        };
        let swap_without_hashes: Tamper = |rows| {
            let other = rows[6].entry.take();
            rows[6].entry = std::mem::replace(&mut rows[3].entry, other);
        };
        let cases: [(&str, Tamper, u64, BreakKind); 11] = [
            ("a field", |rows| rows[4].entry.as_mut().unwrap().actor = "eve".to_owned(), 5, BreakKind::Changed),
            (
                "a detail",
                |rows| drop(rows[4].entry.as_mut().unwrap().detail.insert("n".to_owned(), 9.into())),
                5,
                BreakKind::Changed,
            ),
            ("what can't be read", |rows| rows[4].entry = None, 5, BreakKind::Changed),
            ("a hash", |rows| rows[4].hash = rows[3].hash.clone(), 5, BreakKind::Changed),
            ("one removed", |rows| drop(rows.remove(4)), 5, BreakKind::Missing),
            ("some removed", |rows| drop(rows.drain(2..5)), 3, BreakKind::Missing),
            ("the first removed", |rows| drop(rows.remove(0)), 1, BreakKind::Missing),
            ("the last removed", |rows| rows.truncate(7), 8, BreakKind::Missing),
            ("two swapped", swap, 4, BreakKind::Reordered),
            ("two swapped without their hashes", swap_without_hashes, 4, BreakKind::Reordered),
            (
                "one added",
                |rows| {
                    let head = head_of(rows);
                    let more = chain(&head, 1);
                    rows.extend(more);
                },
                10,
                BreakKind::Inserted,
            ),
        ];
        for (what, tamper, seq, kind) in cases {
            let mut rows = chain(&Link::default(), 9);
            let head = head_of(&rows);
            tamper(&mut rows);
            assert_eq!(verify(&rows, &Link::default(), &head, None), Some((seq, kind)), "{what}");
        }
    }

    #[test]
    fn a_chain_that_was_written_anew_differs_from_what_was_noted() {
        let rows = chain(&Link::default(), 9);
        let mut head = head_of(&rows);
        head.hash = rows[0].hash.clone();
        let broken = verify(&rows, &Link::default(), &head, None);
        assert_eq!(broken, Some((9, BreakKind::HeadDiffers)));
        let head = head_of(&rows);
        for (seq, at) in [(4, 4), (12, 12)] {
            let known = Link { seq, hash: "noted elsewhere".to_owned() };
            let broken = verify(&rows, &Link::default(), &head, Some(known));
            assert_eq!(broken, Some((at, BreakKind::KnownDiffers)));
        }
        let inserted = verify(&rows, &Link { seq: 3, hash: rows[2].hash.clone() }, &head, None);
        assert_eq!(inserted, Some((1, BreakKind::Inserted)));
    }

    #[test]
    fn the_hash_is_the_documented_one() {
        let entry = AuditEntry::new(Uuid::nil(), Timestamp(5), "auth.login").with("b", 1).with("a", "x");
        let json = r#"{"action":"auth.login","actor":"steward","actor_id":null,"address":null,"at":5,"detail":{"a":"x","b":1},"id":"00000000-0000-0000-0000-000000000000","origin":null,"result":"ok","run_id":null,"seq":7,"target":""}"#;
        assert_eq!(hash_of("before", 7, &entry), crate::hash::sha256(format!("before{json}").as_bytes()));
        // Names are sorted inside a detail, too.
        let entry = entry.with("c", serde_json::json!({"y": 1, "x": 2}));
        let json = json.replace(r#""b":1}"#, r#""b":1,"c":{"x":2,"y":1}}"#);
        assert_eq!(hash_of("before", 7, &entry), crate::hash::sha256(format!("before{json}").as_bytes()));
    }
}
