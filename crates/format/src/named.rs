//! Enums of which each variant has a name: declared once, with its name beside it.

/// Declares an enum, and gives it `ALL` of its variants, in order, and their names.
macro_rules! named {
    (
        $(#[$about:meta])*
        pub enum $type:ident {
            $( $(#[$about_variant:meta])* $variant:ident $(= $tag:literal)? => $name:literal, )+
        }
    ) => {
        $(#[$about])*
        pub enum $type {
            $( $(#[$about_variant])* $variant $(= $tag)?, )+
        }

        impl $type {
            /// All of them, in the order of their tags.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$variant),+];

            /// The name, as errors and `dv info` show it.
            pub const fn name(self) -> &'static str {
                match self {
                    $( $type::$variant => $name, )+
                }
            }
        }
    };
}

pub(crate) use named;
