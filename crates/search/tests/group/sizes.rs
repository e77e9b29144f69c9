//! More documents than a part has, more groups than there is room for, and what cannot be grouped.
