//! Reads the header of a GGUF file: enough to describe the model and to see whether the file is complete.

use super::LocalModelError;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GgufHeader {
    pub file_bytes: u64,
    /// Such as `llama`.
    pub architecture: String,
    pub name: Option<String>,
    pub parameters: u64,
    /// Window that the model was trained for, tokens.
    pub context_train: Option<u32>,
    /// KV cache per token of context, at 16 bits.
    pub kv_bytes_per_token: Option<u64>,
}

const MAX_KEYS: u64 = 1 << 16;
const MAX_TENSORS: u64 = 1 << 20;
const MAX_STRING: u64 = 64 << 20;
const MAX_KEPT_INTS: u64 = 4096;

enum Value {
    Int(u64),
    Ints(Vec<u64>),
    Text(String),
    Other,
}

impl GgufHeader {
    /// Fails if the file is missing, unreadable, no GGUF, or shorter than its header says.
    pub fn read(path: &Path) -> Result<Self, LocalModelError> {
        let file = File::open(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => LocalModelError::FileMissing { path: path.into() },
            _ => unreadable(path, e),
        })?;
        let meta = file.metadata().map_err(|e| unreadable(path, e))?;
        if !meta.is_file() {
            return Err(bad(path, "it is not a file"));
        }
        let mut input = Input { reader: BufReader::new(file), path };
        input.header(meta.len())
    }
}

struct Input<'a> {
    reader: BufReader<File>,
    path: &'a Path,
}

impl Input<'_> {
    fn header(&mut self, file_bytes: u64) -> Result<GgufHeader, LocalModelError> {
        if &self.bytes::<4>()? != b"GGUF" {
            return Err(bad(self.path, "it does not begin with `GGUF`"));
        }
        let version = self.u32()?;
        if !(2..=3).contains(&version) {
            return Err(bad(self.path, &format!("GGUF version {version} is unknown")));
        }
        let tensors = self.u64()?;
        let keys = self.u64()?;
        if keys > MAX_KEYS || tensors > MAX_TENSORS {
            return Err(bad(self.path, "its header is damaged"));
        }
        let mut found = HashMap::new();
        for _ in 0..keys {
            let key = self.text()?;
            let kind = self.u32()?;
            let value = self.value(kind)?;
            found.insert(key, value);
        }
        let mut parameters = 0_u64;
        let mut last_offset = 0_u64;
        for _ in 0..tensors {
            let _name = self.text()?;
            let dimensions = self.u32()?;
            if dimensions > 8 {
                return Err(bad(self.path, "its header is damaged"));
            }
            let mut weights = 1_u64;
            for _ in 0..dimensions {
                weights = weights.saturating_mul(self.u64()?);
            }
            let _kind = self.u32()?;
            last_offset = last_offset.max(self.u64()?);
            parameters = parameters.saturating_add(weights);
        }
        let data_start = self.reader.stream_position().map_err(|e| unreadable(self.path, e))?;
        if data_start.saturating_add(last_offset) >= file_bytes {
            return Err(bad(self.path, "the file is cut off"));
        }
        let text = |key: &str| match found.get(key) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let architecture = text("general.architecture").ok_or_else(|| bad(self.path, "it names no architecture"))?;
        let int = |key: &str| match found.get(&format!("{architecture}.{key}")) {
            Some(Value::Int(n)) => Some(*n),
            Some(Value::Ints(per_layer)) => per_layer.iter().max().copied(),
            _ => None,
        };
        let heads = int("attention.head_count");
        let kv_heads = int("attention.head_count_kv").or(heads);
        let head_size = int("attention.key_length").or_else(|| {
            let heads = heads.filter(|n| *n > 0)?;
            Some(int("embedding_length")? / heads)
        });
        // Keys and values, two bytes each.
        let sizes = [int("block_count"), kv_heads, head_size, Some(4)];
        Ok(GgufHeader {
            file_bytes,
            name: text("general.name"),
            parameters,
            context_train: int("context_length").and_then(|n| u32::try_from(n).ok()),
            kv_bytes_per_token: sizes.into_iter().try_fold(1, |all: u64, size| Some(all.saturating_mul(size?))),
            architecture,
        })
    }

    fn value(&mut self, kind: u32) -> Result<Value, LocalModelError> {
        Ok(match kind {
            0 | 7 => Value::Int(u64::from(self.bytes::<1>()?[0])),
            2 => Value::Int(u64::from(u16::from_le_bytes(self.bytes()?))),
            4 => Value::Int(u64::from(self.u32()?)),
            5 => Value::Int(u64::try_from(i32::from_le_bytes(self.bytes()?)).unwrap_or(0)),
            10 => Value::Int(self.u64()?),
            11 => Value::Int(u64::try_from(i64::from_le_bytes(self.bytes()?)).unwrap_or(0)),
            8 => Value::Text(self.text()?),
            9 => self.array()?,
            other => {
                let size = self.scalar_size(other)?;
                self.skip(size)?;
                Value::Other
            }
        })
    }

    fn array(&mut self) -> Result<Value, LocalModelError> {
        let kind = self.u32()?;
        let length = self.u64()?;
        if kind == 8 {
            for _ in 0..length {
                let size = self.u64()?;
                self.skip(size)?;
            }
            return Ok(Value::Other);
        }
        if matches!(kind, 4 | 5) && length <= MAX_KEPT_INTS {
            let mut kept = Vec::new();
            for _ in 0..length {
                kept.push(u64::from(self.u32()?));
            }
            return Ok(Value::Ints(kept));
        }
        let size = self.scalar_size(kind)?;
        self.skip(size.saturating_mul(length))?;
        Ok(Value::Other)
    }

    fn scalar_size(&self, kind: u32) -> Result<u64, LocalModelError> {
        match kind {
            0 | 1 | 7 => Ok(1),
            2 | 3 => Ok(2),
            4..=6 => Ok(4),
            10..=12 => Ok(8),
            _ => Err(bad(self.path, "its header is damaged")),
        }
    }

    fn text(&mut self) -> Result<String, LocalModelError> {
        let length = self.u64()?;
        if length > MAX_STRING {
            return Err(bad(self.path, "its header is damaged"));
        }
        let mut bytes = Vec::new();
        (&mut self.reader).take(length).read_to_end(&mut bytes).map_err(|e| unreadable(self.path, e))?;
        if bytes.len() as u64 != length {
            return Err(bad(self.path, "the file is cut off"));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn skip(&mut self, bytes: u64) -> Result<(), LocalModelError> {
        let distance = i64::try_from(bytes).map_err(|_| bad(self.path, "its header is damaged"))?;
        self.reader.seek_relative(distance).map_err(|e| unreadable(self.path, e))
    }

    fn u32(&mut self) -> Result<u32, LocalModelError> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn u64(&mut self) -> Result<u64, LocalModelError> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], LocalModelError> {
        let mut buffer = [0; N];
        self.reader.read_exact(&mut buffer).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => bad(self.path, "the file is cut off"),
            _ => unreadable(self.path, e),
        })?;
        Ok(buffer)
    }
}

fn bad(path: &Path, reason: &str) -> LocalModelError {
    LocalModelError::BadModelFile { path: path.into(), reason: reason.to_owned() }
}

fn unreadable(path: &Path, source: io::Error) -> LocalModelError {
    LocalModelError::FileUnreadable { path: path.into(), source }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn text(out: &mut Vec<u8>, s: &str) {
        out.extend((s.len() as u64).to_le_bytes());
        out.extend(s.as_bytes());
    }

    fn int(out: &mut Vec<u8>, key: &str, value: u32) {
        text(out, key);
        out.extend(4_u32.to_le_bytes());
        out.extend(value.to_le_bytes());
    }

    fn sample() -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(3_u32.to_le_bytes());
        out.extend(1_u64.to_le_bytes());
        out.extend(6_u64.to_le_bytes());
        text(&mut out, "general.architecture");
        out.extend(8_u32.to_le_bytes());
        text(&mut out, "llama");
        int(&mut out, "llama.context_length", 2048);
        int(&mut out, "llama.block_count", 30);
        int(&mut out, "llama.attention.head_count", 9);
        int(&mut out, "llama.attention.head_count_kv", 3);
        int(&mut out, "llama.embedding_length", 576);
        text(&mut out, "token_embd.weight");
        out.extend(2_u32.to_le_bytes());
        out.extend(10_u64.to_le_bytes());
        out.extend(20_u64.to_le_bytes());
        out.extend(0_u32.to_le_bytes());
        out.extend(0_u64.to_le_bytes());
        out.extend([0; 800]);
        out
    }

    fn read(bytes: &[u8]) -> Result<GgufHeader, LocalModelError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.gguf");
        std::fs::write(&path, bytes).unwrap();
        GgufHeader::read(&path)
    }

    #[test]
    fn reads_what_matters() {
        let header = read(&sample()).unwrap();
        assert_eq!(header.architecture, "llama");
        assert_eq!(header.parameters, 200);
        assert_eq!(header.context_train, Some(2048));
        assert_eq!(header.kv_bytes_per_token, Some(30 * 3 * 64 * 4));
    }

    #[test]
    fn every_cut_is_noticed() {
        let whole = sample();
        let header = whole.len() - 800;
        for cut in (0..=header).step_by(7) {
            assert!(read(&whole[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn other_files_are_refused_in_words() {
        let error = read(b"PK\x03\x04 a zip file").unwrap_err().to_string();
        assert!(error.contains("does not begin with `GGUF`"), "{error}");
        let missing = GgufHeader::read(Path::new("/nonexistent/m.gguf")).unwrap_err();
        assert!(missing.to_string().contains("make setup"), "{missing}");
    }
}
