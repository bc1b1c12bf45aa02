//! Options that select samples by their labels.

use clap::Args;

/// Which samples count.
#[derive(Clone, Debug, Default, Args)]
pub struct LabelArguments {
    /// Only samples with this label, such as `http.route=/cart`; the others count as idle. Several values of one name
    /// add up
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
}

fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or_default();
    if name.is_empty() {
        return Err("a label has a name and a value: `http.route=/cart`".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}
