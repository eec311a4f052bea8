"""The texts of a published folder, and estimates from it: all that its reader uses."""
