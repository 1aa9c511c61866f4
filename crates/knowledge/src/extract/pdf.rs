use super::draft::Draft;
use super::error::Result;
pub(super) fn read(_bytes: &[u8], _draft: &mut Draft<'_>) -> Result<()> {
    Ok(())
}
