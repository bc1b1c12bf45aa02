//! Where the tables are: a folder, or a bucket.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deltalake::DeltaTableBuilder;
use deltalake::logstore::object_store::ObjectStore;
use url::Url;

use super::TableError;

/// A folder or a bucket.
#[derive(Clone, Debug)]
pub struct Location {
    url: Url,
    folder: Option<PathBuf>,
    options: HashMap<String, String>,
}

/// A text that does not name a folder or a bucket.
#[derive(Debug, thiserror::Error)]
#[error("{text} is neither a folder nor s3://BUCKET/PREFIX: {why}")]
pub struct NotALocation {
    text: String,
    why: String,
}

impl Location {
    /// A folder, which is made if it is not there, or `s3://BUCKET/PREFIX`. The options of a bucket, such as
    /// `AWS_ENDPOINT_URL`, are those of `object_store`.
    pub fn parse(text: &str, options: HashMap<String, String>) -> Result<Self, NotALocation> {
        let error = |why: String| NotALocation { text: text.to_owned(), why };
        if text.contains("://") {
            let url = Url::parse(&format!("{}/", text.trim_end_matches('/')))
                .map_err(|problem| error(problem.to_string()))?;
            if url.scheme() != "s3" {
                return Err(error(format!("{}: is not known", url.scheme())));
            }
            return Ok(Self { url, folder: None, options });
        }
        fs::create_dir_all(text).map_err(|problem| error(problem.to_string()))?;
        let folder = fs::canonicalize(text).map_err(|problem| error(problem.to_string()))?;
        let url = Url::from_directory_path(&folder).map_err(|()| error("its path is not absolute".into()))?;
        Ok(Self { url, folder: Some(folder), options })
    }

    /// The URL of a table in it.
    pub(crate) fn table(&self, name: &str) -> Url {
        self.url.join(&format!("{name}/")).expect("names of tables are parts of URLs")
    }

    /// The folder of a table, if it is on a disk.
    pub(crate) fn folder(&self, name: &str) -> Option<PathBuf> {
        self.folder.as_deref().map(|folder: &Path| folder.join(name))
    }

    /// A place for files beside the tables, in a folder of this name.
    pub(crate) fn store(&self, name: &str) -> Result<Arc<dyn ObjectStore>, TableError> {
        if let Some(folder) = self.folder(name) {
            fs::create_dir_all(folder)?;
        }
        let builder = DeltaTableBuilder::from_url(self.table(name))
            .and_then(|builder| builder.with_storage_options(self.options.clone()).build_storage())?;
        Ok(builder.object_store(None))
    }

    /// The options of the bucket.
    pub(crate) fn options(&self) -> &HashMap<String, String> {
        &self.options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_folder_or_a_bucket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/data");
        let location = Location::parse(path.to_str().unwrap(), HashMap::new()).unwrap();
        assert!(location.folder("samples").unwrap().ends_with("new/data/samples"));
        assert!(location.table("samples").as_str().ends_with("/new/data/samples/"));
        let bucket = Location::parse("s3://profiles/shop", HashMap::new()).unwrap();
        assert_eq!(bucket.table("samples").as_str(), "s3://profiles/shop/samples/");
        assert!(bucket.folder("samples").is_none());
        let error = Location::parse("ftp://a/b", HashMap::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "ftp://a/b is neither a folder nor s3://BUCKET/PREFIX: ftp: is not known"
        );
    }
}
