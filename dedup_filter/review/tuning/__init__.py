"""The kept pages of an index, settings, labelled pairs -> what each setting would drop."""
