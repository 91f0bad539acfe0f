"""Pages that a user named -> the text that is judged; why two pages are the same or not."""
