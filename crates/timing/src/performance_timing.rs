//! `PerformanceTiming`: the milestones of a page's load, which can be the start and the end of measures.

/// The times of a page's load, in milliseconds since the Unix epoch; 0 for events that have not happened.
///
/// Source: <https://www.w3.org/TR/navigation-timing/#sec-navigation-timing-interface>.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerformanceTiming([f64; TimingAttribute::ALL.len()]);

impl PerformanceTiming {
    /// The values must be in the order of [`TimingAttribute::ALL`].
    #[must_use]
    pub fn new(values: [f64; TimingAttribute::ALL.len()]) -> Self {
        Self(values)
    }

    /// The value of an attribute.
    #[must_use]
    pub fn get(&self, attribute: TimingAttribute) -> f64 {
        self.0[attribute as usize]
    }
}

macro_rules! attributes {
    ($($(#[$doc:meta])* $variant:ident $name:literal)*) => {
        /// A read-only attribute of `PerformanceTiming`, by its position in the interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum TimingAttribute {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl TimingAttribute {
            /// All attributes, in the order of the interface.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Its name, which a page may not give to a mark.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

attributes! {
    NavigationStart "navigationStart"
    UnloadEventStart "unloadEventStart"
    UnloadEventEnd "unloadEventEnd"
    RedirectStart "redirectStart"
    RedirectEnd "redirectEnd"
    FetchStart "fetchStart"
    DomainLookupStart "domainLookupStart"
    DomainLookupEnd "domainLookupEnd"
    ConnectStart "connectStart"
    ConnectEnd "connectEnd"
    SecureConnectionStart "secureConnectionStart"
    RequestStart "requestStart"
    ResponseStart "responseStart"
    ResponseEnd "responseEnd"
    DomLoading "domLoading"
    DomInteractive "domInteractive"
    DomContentLoadedEventStart "domContentLoadedEventStart"
    DomContentLoadedEventEnd "domContentLoadedEventEnd"
    DomComplete "domComplete"
    LoadEventStart "loadEventStart"
    LoadEventEnd "loadEventEnd"
}

impl TimingAttribute {
    /// The attribute with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|attribute| attribute.name() == name)
    }

    /// The attribute at this position in the interface, counted from 0.
    #[must_use]
    pub fn from_index(index: usize) -> Option<Self> {
        Self::ALL.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_by_name_and_by_place() {
        assert_eq!(TimingAttribute::ALL.len(), 21);
        for (index, attribute) in TimingAttribute::ALL.into_iter().enumerate() {
            assert_eq!(attribute as usize, index);
            assert_eq!(TimingAttribute::from_index(index), Some(attribute));
            assert_eq!(TimingAttribute::from_name(attribute.name()), Some(attribute));
        }
        assert_eq!(TimingAttribute::from_index(21), None);
        assert_eq!(TimingAttribute::from_name("toJSON"), None);
        assert_eq!(TimingAttribute::from_name("LoadEventEnd"), None);
    }
}
