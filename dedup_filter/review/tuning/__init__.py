"""Records of pages, labelled pairs -> what settings do, and which to take."""
