use crate::openai::BadFrame;

/// Largest line, bytes.
const LIMIT: usize = 16 << 20;

/// One JSON document a line.
#[derive(Debug, Default)]
pub(crate) struct LineParser {
    held: Vec<u8>,
}

impl LineParser {
    /// The lines that `bytes` completed.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, BadFrame> {
        let mut lines = Vec::new();
        let mut parts = bytes.split(|byte| *byte == b'\n');
        // There always is a first part.
        self.held.extend_from_slice(parts.next().unwrap_or_default());
        for part in parts {
            lines.extend(self.finish());
            self.held.extend_from_slice(part);
        }
        if self.held.len() > LIMIT {
            return Err(BadFrame::TooLarge);
        }
        Ok(lines)
    }

    /// What is held, if it is more than blank.
    pub fn finish(&mut self) -> Option<String> {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.held)).into_owned();
        (!line.trim().is_empty()).then_some(line)
    }
}
