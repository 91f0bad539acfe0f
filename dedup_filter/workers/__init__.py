"""Reading and measuring pages, in the caller's process (`measured`, by default) or in workers."""
