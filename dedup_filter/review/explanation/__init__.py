"""Pages that a user names -> the texts by which they would be judged, and why."""
