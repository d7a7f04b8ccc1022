// No directive: four library steps.
