//! The version of the tables, and their settings.

use std::collections::HashMap;

use deltalake::DeltaTable;

use super::TableError;

/// The version of the tables that this collector writes. It has to grow when an older collector would read or write
/// them wrongly.
pub const VERSION: u32 = 1;

/// Where a table says its version: in the settings that its log has.
const KEY: &str = "selfprof.version";

/// The settings of a table: its version, and how long its log names what was removed, for those who delete it.
pub fn settings() -> HashMap<String, String> {
    let settings = [
        (KEY, VERSION.to_string()),
        ("delta.deletedFileRetentionDuration", "interval 6 hours".to_owned()),
        ("delta.logRetentionDuration", "interval 6 hours".to_owned()),
    ];
    settings.map(|(key, value)| (key.to_owned(), value)).into()
}

/// Refuses the tables of a newer collector, and gives tables their settings that have none or older ones.
pub async fn check(table: &'static str, mut delta: DeltaTable) -> Result<DeltaTable, TableError> {
    if is_current(table, &delta)? {
        return Ok(delta);
    }
    let changed =
        delta.clone().set_tbl_properties().with_properties(settings()).with_raise_if_not_exists(false).await;
    delta.update_state().await?;
    match changed {
        _ if is_current(table, &delta)? => Ok(delta),
        Ok(changed) => Ok(changed),
        Err(error) => Err(error.into()),
    }
}

/// Whether a table has the version of this collector. It is an error if its version is newer.
fn is_current(table: &'static str, delta: &DeltaTable) -> Result<bool, TableError> {
    let snapshot = delta.snapshot()?;
    let Some(text) = snapshot.metadata().configuration().get(KEY) else { return Ok(false) };
    match text.parse::<u32>() {
        Ok(version) if version <= VERSION => Ok(version == VERSION),
        _ => Err(TableError::Newer { table, version: text.clone() }),
    }
}
