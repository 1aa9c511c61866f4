//! Running heads and page numbers: lines at the edges of pages that are the same on several.

use super::lines::Row;
use std::collections::{HashMap, HashSet};

/// Share of a page's height, above and below, that they stand in.
const EDGE: f32 = 0.12;
/// On how many pages a line must be.
const PAGES: usize = 3;
const CHARS: usize = 150;

type Key = (String, i32);

/// The words without their numbers, and the place in steps of a few points.
#[expect(clippy::cast_possible_truncation, reason = "points on a page")]
fn key(row: &Row, height: f32) -> Option<Key> {
    let at = row.y / height;
    let text = row.text();
    if (EDGE..=1.0 - EDGE).contains(&at) || text.len() > CHARS {
        return None;
    }
    let is_roman = text.len() <= 6 && text.trim().chars().all(|letter| "ivxlcdm".contains(letter));
    let words: String = text.chars().map(|letter| if letter.is_ascii_digit() { '#' } else { letter }).collect();
    let words = if is_roman { "#".to_owned() } else { words.replace("##", "#").replace("##", "#") };
    Some((words, (row.y / 4.0).round() as i32))
}

/// Takes them out of the columns of pages.
pub(super) fn remove(mut pages: Vec<(f32, &mut Vec<Vec<Row>>)>) {
    let mut seen: HashMap<Key, usize> = HashMap::new();
    for (height, columns) in &pages {
        let keys: HashSet<Key> = columns.iter().flatten().filter_map(|row| key(row, *height)).collect();
        for key in keys {
            *seen.entry(key).or_default() += 1;
        }
    }
    // A line may be a little higher or lower on some pages.
    let often = |(words, place): &Key| {
        let near = (place - 1..=place + 1).map(|place| seen.get(&(words.clone(), place)).copied().unwrap_or(0));
        near.sum::<usize>() >= PAGES
    };
    for (height, columns) in &mut pages {
        for column in columns.iter_mut() {
            column.retain(|row| !key(row, *height).is_some_and(|key| often(&key)));
        }
        columns.retain(|column| !column.is_empty());
    }
}
