// No directive: library steps.
