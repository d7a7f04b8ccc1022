// No directive: two library steps.
