"""Layer "frames": pages of a host -> which of their blocks are only its frame."""
