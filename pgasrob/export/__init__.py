"""Programs, and the question whether they are robust, in the languages of other tools."""
