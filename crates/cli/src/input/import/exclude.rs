//! Columns that the user wants left out.

/// Names of columns, and of objects all of whose columns are meant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exclude(Vec<String>);

impl Exclude {
    /// Each of the arguments is a name, or several separated by commas.
    pub(crate) fn new(arguments: &[String]) -> Exclude {
        Exclude(arguments.to_vec())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|argument| {
            // A name may hold a comma.
            covers(argument, name) || argument.split(',').any(|part| covers(part, name))
        })
    }

    /// The first that names nothing, where `any` tells whether there is a column of this kind.
    pub(super) fn unknown(&self, any: impl Fn(&mut dyn FnMut(&str) -> bool) -> bool) -> Option<&str> {
        let is_known = |argument: &str| any(&mut |name| covers(argument, name));
        let unknown = |argument: &&String| !is_known(argument);
        self.0.iter().filter(unknown).flat_map(|argument| argument.split(',')).find(|part| !is_known(part))
    }
}

/// Whether a column is that of the name, or of an object of the name.
fn covers(argument: &str, name: &str) -> bool {
    name.strip_prefix(argument).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_separated_by_commas_or_hold_them() {
        let exclude = Exclude::new(&["a,b".to_owned(), "last, first".to_owned(), "person".to_owned()]);
        for name in ["a", "b", "a,b", "last, first", "person", "person.name"] {
            assert!(exclude.has(name), "{name}");
        }
        for name in ["c", "personal", "last,"] {
            assert!(!exclude.has(name), "{name}");
        }
        let columns = ["a", "b", "last, first"];
        assert_eq!(exclude.unknown(|name| columns.iter().any(|column| name(column))), Some("person"));
        let columns = ["a", "b", "last, first", "person.name"];
        assert_eq!(exclude.unknown(|name| columns.iter().any(|column| name(column))), None);
    }
}
