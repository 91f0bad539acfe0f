"""Pages that a user names -> what they would be judged by, and why."""
