//! Tables of older and newer collectors.

use std::collections::HashMap;

use deltalake::DeltaTableBuilder;
use selfprof_store::query::Reader;
use url::Url;

use crate::store::{DAY, collector, location, noon, profile, selection};

#[tokio::test]
async fn tables_of_a_newer_collector_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = collector(folder.path(), "one").await;
    store.add(&[profile("a", "1.4", 1, noon())]).await.unwrap();
    let table = Url::from_directory_path(folder.path().join("tables/spans")).unwrap();
    let set = async |properties: &[(&str, &str)]| {
        let properties: HashMap<String, String> =
            properties.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let table = DeltaTableBuilder::from_url(table.clone()).unwrap().load().await.unwrap();
        let set = table.set_tbl_properties().with_properties(properties).with_raise_if_not_exists(false);
        set.await.unwrap();
    };
    // Tables from before there were versions, with a collector that writes to them.
    set(&[("selfprof.version", "0")]).await;
    let reader = Reader::open(&location(folder.path())).await.unwrap();
    store.add(&[profile("b", "1.4", 1, noon())]).await.unwrap();
    store.close().await;
    let all = selection(noon() - DAY, noon() + DAY, "");
    assert_eq!(reader.stacks(&all).await.unwrap().profiles, 2);
    let load = async || DeltaTableBuilder::from_url(table.clone()).unwrap().load().await.unwrap();
    let version = |table: &deltalake::DeltaTable| {
        table.snapshot().unwrap().metadata().configuration()["selfprof.version"].clone()
    };
    assert_eq!(version(&load().await), "1");
    set(&[("selfprof.version", "2")]).await;
    let error = Reader::open(&location(folder.path())).await.err().unwrap().to_string();
    assert_eq!(
        error,
        "the table spans has version 2, and this collector knows versions up to 1: use the newer collector that wrote it"
    );
}
