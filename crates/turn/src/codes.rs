//! Enums whose variants have names that others read, in one table.

/// An enum of codes, each with its name: `name` gives it, `named` finds the code.
#[macro_export]
macro_rules! codes {
    (
        $(#[$about:meta])*
        $seen:vis enum $type:ident { $($(#[$what:meta])* $code:ident = $name:literal,)+ }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $seen enum $type { $($(#[$what])* $code,)+ }

        impl $type {
            /// Its name.
            $seen const fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)+ }
            }

            /// The code of a name, if there is one.
            $seen fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$code),)+ _ => None }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    crate::codes! {
        enum Code {
            First = "first",
            Second = "second_one",
        }
    }

    #[test]
    fn code_is_found_by_its_name_and_by_no_other() {
        for code in [Code::First, Code::Second] {
            assert_eq!(Code::named(code.name()), Some(code));
        }
        assert_eq!(Code::Second.name(), "second_one");
        assert_eq!(Code::named("no_such_code"), None);
    }
}
