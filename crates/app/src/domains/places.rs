//! Places in a text as bytes, and as editors count.

/// Bytes from one mark to the next.
const STEP: usize = 512;

pub(super) struct Places<'t> {
    text: &'t str,
    /// Of every [`STEP`] bytes the first character, so that each of many places is counted from near.
    marks: Vec<Mark>,
}

/// What stands before a character.
#[derive(Clone, Copy, Default)]
struct Mark {
    at: usize,
    utf16: usize,
    lines: usize,
}

impl<'t> Places<'t> {
    pub fn new(text: &'t str) -> Self {
        let (mut marks, mut here) = (Vec::with_capacity(text.len() / STEP + 1), Mark::default());
        for c in text.chars() {
            if here.at >= marks.len() * STEP {
                marks.push(here);
            }
            here.advance(c);
        }
        Self { text, marks }
    }

    pub fn utf16(&self, byte: usize) -> u32 {
        u32::try_from(self.before(byte).utf16).unwrap_or(u32::MAX)
    }

    /// From 1 on.
    pub fn line(&self, byte: usize) -> u32 {
        u32::try_from(self.before(byte).lines + 1).unwrap_or(u32::MAX)
    }

    fn before(&self, byte: usize) -> Mark {
        let byte = self.text.floor_char_boundary(byte);
        let next = self.marks.partition_point(|mark| mark.at <= byte);
        let mut here = next.checked_sub(1).map(|last| self.marks[last]).unwrap_or_default();
        self.text[here.at..byte].chars().for_each(|c| here.advance(c));
        here
    }

    pub fn byte(&self, units: u32) -> usize {
        let wanted = units as usize;
        let next = self.marks.partition_point(|mark| mark.utf16 <= wanted);
        let mut here = next.checked_sub(1).map(|last| self.marks[last]).unwrap_or_default();
        for c in self.text[here.at..].chars() {
            if here.utf16 >= wanted {
                break;
            }
            here.advance(c);
        }
        here.at
    }
}

impl Mark {
    const fn advance(&mut self, c: char) {
        self.at += c.len_utf8();
        self.utf16 += c.len_utf16();
        self.lines += (c == '\n') as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::{Places, STEP};

    #[test]
    fn places_are_counted_as_editors_do() {
        let text = "a\nä😀b";
        let places = Places::new(text);
        for (byte, units, line) in [(0, 0, 1), (1, 1, 1), (2, 2, 2), (4, 3, 2), (8, 5, 2), (9, 6, 2)] {
            assert_eq!((places.utf16(byte), places.line(byte), places.byte(units)), (units, line, byte));
        }
        assert_eq!((places.utf16(999), places.byte(999)), (6, 9));
        assert_eq!((Places::new("").utf16(3), Places::new("").line(3), Places::new("").byte(3)), (0, 1, 0));
    }

    /// Each place was once counted from the beginning of the text, which may have many.
    #[test]
    fn places_far_in_a_text_are_counted_alike() {
        let text = "ä😀\nbc".repeat(STEP);
        let places = Places::new(&text);
        let (mut units, mut lines) = (0, 1);
        for (at, c) in text.char_indices() {
            assert_eq!((places.utf16(at), places.line(at), places.byte(units)), (units, lines, at));
            units += u32::from(c != '😀') + 2 * u32::from(c == '😀');
            lines += u32::from(c == '\n');
        }
    }
}
