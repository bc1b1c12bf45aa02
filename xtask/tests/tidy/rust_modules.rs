//! No circles between the modules of a crate.
//!
//! A module is a file; modules within a file belong to it, and tests are left out. A module uses another one when a
//! path leads into it: in `use`, in code and in macros. Re-exports are followed to the module that has the item. A
//! module is a part of its parent, so what it uses of its parents is not counted.

use crate::checkout::{members, root};
use crate::graph::{Graph, circles};
use crate::none;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use syn::{Attribute, File, Item, UseTree};

#[test]
fn modules_use_each_other_in_one_direction() {
    let members = members();
    let mut problems = Vec::new();
    for package in &members {
        for target in
            package.targets.iter().filter(|target| target.is_lib() || target.is_cdylib() || target.is_bin())
        {
            let crate_root = target.src_path.as_str().to_owned();
            let read = |path: &str| fs::read_to_string(path).ok();
            let shown =
                |path: &str| path.strip_prefix(&format!("{}/", root().display())).unwrap_or(path).to_owned();
            match Crate::read(&crate_root, &read) {
                Ok(parsed) => problems.extend(circles(&parsed.graph(&shown))),
                Err(error) => problems.push(format!("{crate_root}: {error}")),
            }
        }
    }
    none(&problems);
}

/// The path of a module from the root of its crate: `["bench", "runner"]`.
type ModulePath = Vec<String>;

/// One module, in a file of its own or within one.
struct Module {
    /// The file that it is in.
    file: String,
    /// The names that `use` brings into it, with the paths as they are written.
    imports: BTreeMap<String, Vec<String>>,
    /// The paths of `use something::*`.
    globs: Vec<Vec<String>>,
    /// The items that are defined in it.
    items: BTreeSet<String>,
    /// All paths in it.
    paths: BTreeSet<Vec<String>>,
}

#[derive(Default)]
struct Crate {
    modules: BTreeMap<ModulePath, Module>,
}

impl Crate {
    fn read(crate_root: &str, read: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let mut found = Self::default();
        let folder = crate_root.rsplit_once('/').map_or("", |(folder, _)| folder);
        found.read_file(&Vec::new(), crate_root, folder, read)?;
        Ok(found)
    }

    /// Reads a file and the files of the modules that it declares, which lie in `folder`.
    fn read_file(
        &mut self,
        path: &ModulePath,
        file: &str,
        folder: &str,
        read: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), String> {
        let text = read(file).ok_or_else(|| format!("cannot read {file}"))?;
        let File { items, .. } = syn::parse_file(&text).map_err(|error| format!("{file}: {error}"))?;
        self.read_items(path, file, folder, &items, read)
    }

    fn read_items(
        &mut self,
        path: &ModulePath,
        file: &str,
        folder: &str,
        items: &[Item],
        read: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), String> {
        let mut module = Module {
            file: file.to_owned(),
            imports: BTreeMap::new(),
            globs: Vec::new(),
            items: BTreeSet::new(),
            paths: BTreeSet::new(),
        };
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            module.items.extend(name_of(item));
            match item {
                Item::Use(item) => module.import(&mut Vec::new(), &item.tree),
                Item::Mod(item) => {
                    let name = item.ident.to_string();
                    let inner = [path.as_slice(), std::slice::from_ref(&name)].concat();
                    let below = format!("{folder}/{name}");
                    if let Some((_, items)) = &item.content {
                        self.read_items(&inner, file, &below, items, read)?;
                    } else {
                        let candidates = [format!("{below}.rs"), format!("{below}/mod.rs")];
                        let declared = candidates.iter().find(|candidate| read(candidate).is_some());
                        let declared = declared.ok_or_else(|| format!("{file}: no file of `mod {name}`"))?;
                        self.read_file(&inner, declared, &below, read)?;
                    }
                }
                other => collect_paths(other.to_token_stream(), &mut module.paths),
            }
        }
        self.modules.insert(path.clone(), module);
        Ok(())
    }

    fn graph(&self, shown: &dyn Fn(&str) -> String) -> Graph {
        let mut graph = Graph::new();
        for (path, module) in &self.modules {
            let used = graph.entry(shown(&module.file)).or_default();
            let imports = module.imports.values().chain(&module.globs);
            for target in imports.chain(&module.paths).filter_map(|written| self.resolve(path, written, 0)) {
                let file = &self.modules[&target].file;
                if !path.starts_with(&target) && *file != module.file {
                    used.insert(shown(file));
                }
            }
        }
        graph
    }

    /// The module that a path in the module `from` leads into; `None` when it leads out of the crate.
    fn resolve(&self, from: &ModulePath, written: &[String], depth: usize) -> Option<ModulePath> {
        // Re-exports may lead in a circle.
        if depth > 8 {
            return None;
        }
        let mut at = from.clone();
        let mut rest = written;
        let mut is_relative = false;
        while let [first, others @ ..] = rest {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                _ => break,
            }
            is_relative = true;
            rest = others;
        }
        loop {
            let module = self.modules.get(&at)?;
            let [name, others @ ..] = rest else { return Some(at) };
            let inner = [at.as_slice(), std::slice::from_ref(name)].concat();
            if self.modules.contains_key(&inner) {
                at = inner;
                rest = others;
                is_relative = true;
                continue;
            }
            // The name of another crate, of the prelude or of something local.
            if !is_relative {
                return None;
            }
            if module.items.contains(name) {
                return Some(at);
            }
            if let Some(import) = module.imports.get(name) {
                return self.resolve(&at, import, depth + 1);
            }
            let of_glob = module.globs.iter().find_map(|glob| {
                let found = self.resolve(&at, glob, depth + 1)?;
                self.modules[&found].items.contains(name).then_some(found)
            });
            return of_glob.or(Some(at));
        }
    }
}

impl Module {
    fn import(&mut self, before: &mut Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(before, &path.tree);
                before.pop();
            }
            UseTree::Name(name) => self.import_as(before, &name.ident.to_string(), None),
            UseTree::Rename(rename) => {
                self.import_as(before, &rename.ident.to_string(), Some(rename.rename.to_string()));
            }
            UseTree::Glob(_) => self.globs.push(before.clone()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(before, tree)),
        }
    }

    fn import_as(&mut self, before: &[String], name: &str, renamed: Option<String>) {
        // `use a::b::{self}` imports `a::b` as `b`.
        let path = match name {
            "self" => before.to_vec(),
            _ => [before, &[name.to_owned()]].concat(),
        };
        let own = path.last().cloned().unwrap_or_default();
        match renamed.unwrap_or(own) {
            // `use Trait as _` imports no name, but it uses the module.
            name if name == "_" => drop(self.paths.insert(path)),
            name => drop(self.imports.insert(name, path)),
        }
    }
}

/// The paths in code: `crate::a::b`, `child::c`. Of `super::a::{b, c}` it is `super::a`.
fn collect_paths(tokens: TokenStream, paths: &mut BTreeSet<Vec<String>>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut path: Vec<String> = Vec::new();
    // How many of `::` have been seen since the last name.
    let mut colons = 0;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) => {
                if colons != 2 {
                    finish(&mut path, paths);
                }
                // `::name` begins in another crate.
                path.push(name.to_string());
                colons = 0;
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => colons += 1,
            TokenTree::Group(group) => {
                finish(&mut path, paths);
                colons = 0;
                // Attributes name no modules, and `#[cfg(test)]` may stand before a statement or a field.
                let is_attribute = group.delimiter() == Delimiter::Bracket
                    && matches!(tokens.get(index.wrapping_sub(1)), Some(TokenTree::Punct(before)) if before.as_char() == '#');
                if !is_attribute {
                    collect_paths(group.stream(), paths);
                }
            }
            _ => {
                finish(&mut path, paths);
                colons = 0;
            }
        }
    }
    finish(&mut path, paths);
}

fn finish(path: &mut Vec<String>, paths: &mut BTreeSet<Vec<String>>) {
    if path.len() > 1 {
        paths.insert(std::mem::take(path));
    }
    path.clear();
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string().replace(' ', "");
        text.starts_with("#[cfg(test")
            || text.starts_with("#[cfg(all(test")
            || text.starts_with("#[cfg(any(test")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

#[test]
fn uses_of_modules_are_found() {
    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[(&str, &[&str])]) {
        let read =
            |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        let parsed = match Crate::read(files[0].0, &read) {
            Ok(parsed) => parsed,
            Err(error) => panic!("{error}"),
        };
        let graph = parsed.graph(&|path| path.trim_start_matches("src/").to_owned());
        let found: Vec<(&str, Vec<&str>)> = graph
            .iter()
            .filter(|(_, used)| !used.is_empty())
            .map(|(file, used)| (file.as_str(), used.iter().map(String::as_str).collect()))
            .collect();
        let expected: Vec<(&str, Vec<&str>)> =
            expected.iter().map(|(file, used)| (*file, used.to_vec())).collect();
        assert_eq!(found, expected, "{files:?}");
    }
    // A declaration alone uses nothing.
    check(&[("src/lib.rs", "mod a; mod b;"), ("src/a.rs", ""), ("src/b.rs", "")], &[]);
    // Imports, renamed and in groups; paths in code and in macros.
    check(
        &[
            ("src/lib.rs", "mod a; mod b; mod c; mod d;"),
            ("src/a.rs", "use crate::{b::{self, X as Y}, c::Z as _};"),
            ("src/b.rs", "fn f() { use super::c::{Z}; }"),
            ("src/c.rs", "fn f() { println!(\"{}\", crate::d::Q); let x = std::mem::size_of::<u8>(); }"),
            ("src/d.rs", "#[cfg(test)] mod tests { use crate::a::A; }"),
        ],
        &[("a.rs", &["b.rs", "c.rs"]), ("b.rs", &["c.rs"]), ("c.rs", &["d.rs"])],
    );
    // A re-export leads to where the item is; what a module uses of its parents does not count.
    check(
        &[
            ("src/lib.rs", "mod a; pub struct Own; pub use a::one::One; pub use a::*;"),
            ("src/a.rs", "pub mod one; pub mod two; pub struct Glob; fn f(x: one::One) {}"),
            ("src/a/one.rs", "use crate::Own; pub struct One;"),
            ("src/a/two.rs", "use crate::One; fn f(_: crate::Glob) {}"),
        ],
        &[("a.rs", &["a/one.rs"]), ("a/two.rs", &["a/one.rs"]), ("lib.rs", &["a.rs", "a/one.rs"])],
    );
    // Modules within a file belong to it.
    check(
        &[
            (
                "src/main.rs",
                "mod a; mod inner { use super::f; pub fn g() { crate::a::h() } } fn f() { inner::g() }",
            ),
            ("src/a.rs", "pub fn h() {}"),
        ],
        &[("main.rs", &["a.rs"])],
    );
}
