//! What a package.json says about programs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

/// Larger files are not read.
const MAX_BYTES: u64 = 4 << 20;

/// A package.json.
#[derive(Debug)]
pub struct PackageJson {
    content: Value,
}

impl PackageJson {
    /// That of an installed package, resolved from a folder as Node.js does.
    pub fn installed(package: &str, folder: &Path) -> Option<Self> {
        let is_name = package.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
        let modules = folder.ancestors().map(|folder| folder.join("node_modules"));
        modules.filter(|_| is_name).find_map(|modules| Self::of_folder(&modules.join(package)))
    }

    fn of_folder(folder: &Path) -> Option<Self> {
        let path = folder.join("package.json");
        if !path.metadata().ok()?.is_file() {
            return None;
        }
        let mut text = Vec::new();
        File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut text).ok()?;
        Some(Self { content: serde_json::from_slice(&text).ok()? })
    }

    /// The program that `npx` starts for this package: the one with its name, or else the only one.
    pub fn program(&self) -> Option<String> {
        let own = self.content.get("name")?.as_str()?.rsplit('/').next()?;
        match self.content.get("bin")? {
            Value::Object(programs) if !programs.contains_key(own) => {
                programs.keys().next().filter(|_| programs.len() == 1).cloned()
            }
            _ => Some(own.to_owned()),
        }
    }
}
