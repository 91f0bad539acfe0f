"""Records of pages, labelled pairs -> the effects of settings, and a suggested setting."""
