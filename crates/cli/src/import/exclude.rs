//! `--exclude`: columns to leave out.

/// Names of columns, and of objects or structs, which stand for all of their columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exclude(Vec<String>);

impl Exclude {
    /// Each argument is a name, or several names separated by commas.
    pub(crate) fn new(arguments: &[String]) -> Exclude {
        Exclude(arguments.to_vec())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|argument| {
            // A name may contain a comma.
            covers(argument, name) || argument.split(',').any(|part| covers(part, name))
        })
    }

    /// The first name without a column; `any` returns whether a column satisfies a predicate.
    pub(super) fn unknown(&self, any: impl Fn(&mut dyn FnMut(&str) -> bool) -> bool) -> Option<&str> {
        let is_known = |argument: &str| any(&mut |name| covers(argument, name));
        let unknown = |argument: &&String| !is_known(argument);
        self.0.iter().filter(unknown).flat_map(|argument| argument.split(',')).find(|part| !is_known(part))
    }
}

/// Whether `argument` is the name of the column or of an object that contains it.
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
